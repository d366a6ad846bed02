// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/point_checks.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat::detail {

/// A build that waits, implemented by one that does not. `State` is a build_state of the cells. Faults of earlier
/// builds are dropped.
template <typename Cells, typename State, typename T, int D, typename Build>
void build_and_check(Cells& cells, State& state, const points_view<T, D>& points, const Build& build,
                     std::uint64_t most = max_count) {
  require_points(points, "points", most);
  cells.reserve(points.size());
  state.forget_faults();
  build();
  cells.check();
}

}  // namespace quadrat::detail
