// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "quadrat/core/method_list.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

namespace ewald_methods {

struct any {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::run_to_run;
};
struct spme : any {
  static constexpr std::string_view name = "spme";
  static constexpr std::string_view summary = "smooth particle-mesh Ewald: Gaussian splitting, B-splines";
};
struct esp : any {
  static constexpr std::string_view name = "esp";
  static constexpr std::string_view summary = "prolate spheroidal splitting and windows: a coarser mesh; Coulomb's law";
};
struct direct : any {
  static constexpr std::string_view name = "direct";
  static constexpr std::string_view summary =
      "Gaussian splitting, modes summed one by one: small systems, any accuracy";
};

}  // namespace ewald_methods

/// In display order.
using electrostatics_method_list = method_list<ewald_methods::spme, ewald_methods::esp, ewald_methods::direct>;

}  // namespace quadrat::detail
