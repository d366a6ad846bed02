// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>

#include "core/point_checks.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat::detail {

/// A build that waits, implemented by one that does not, into cells that are reserved by `sizes`. `State` is a
/// build_state of the cells. Faults of earlier builds are dropped.
template <typename Cells, typename State, std::invocable Build, typename... Sizes>
void build_and_check(Cells& cells, State& state, const Build& build, Sizes... sizes) {
  cells.reserve(sizes...);
  state.forget_faults();
  build();
  cells.check();
}
/// The same for points, of which there can be `most`.
template <typename Cells, typename State, typename T, int D, typename Build>
void build_and_check(Cells& cells, State& state, const points_view<T, D>& points, const Build& build,
                     std::uint64_t most = max_count) {
  require_points(points, "points", most);
  build_and_check(cells, state, build, points.size());
}

}  // namespace quadrat::detail
