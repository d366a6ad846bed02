// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "quadrat/core/method_list.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

namespace hydro_methods {

struct any {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::run_to_run;
};
struct split : any {
  static constexpr std::string_view name = "split";
  static constexpr std::string_view summary =
      "positively split Ewald: noise of the wave part is drawn mode by mode, that of the near part by Lanczos";
};
struct krylov : any {
  static constexpr std::string_view name = "krylov";
  static constexpr std::string_view summary = "noise by Lanczos on the whole operator";
};
struct direct : any {
  static constexpr std::string_view name = "direct";
  static constexpr std::string_view summary = "as split, modes summed one by one: few spheres, any accuracy";
};

}  // namespace hydro_methods

/// In display order.
using mobility_method_list = method_list<hydro_methods::split, hydro_methods::krylov, hydro_methods::direct>;

}  // namespace quadrat::detail
