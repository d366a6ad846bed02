// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "core/paper_methods.hpp"
#include "mesh/engine.hpp"
#include "mesh/request.hpp"
#include "mesh/wide.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// The particle based approach with loads and stores instead of atomic operations (particle-mesh-spreading, section 4.2
/// and figure 6), to measure the cost of the atomic operations. Simultaneous updates of one mesh point are lost: for
/// timing only, and only on GPUs.
template <typename Context, typename T>
class particle_racing_engine : public placed_points_engine<Context, T> {
 public:
  using placed_points_engine<Context, T>::placed_points_engine;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
};

struct particle_racing_method : paper_method {
  static constexpr std::string_view name = "particle_racing";
  static constexpr std::string_view summary = "particle without atomic operations: wrong, for timing only";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool wrong_results = true;
  static bool sets_points_async(const spread_request& /*request*/) { return true; }
  static bool serves(const spread_request& request) { return !is_wide(request.width); }
  template <typename Context, typename T>
  using engine = particle_racing_engine<Context, T>;
};

}  // namespace quadrat::detail
