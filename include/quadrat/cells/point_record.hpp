// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/cells/build_state.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat::detail {

/// The state of a cell list's builds, and the points of the last one.
template <typename Context, typename T, int D>
class point_record : public build_state<Context> {
 public:
  using build_state<Context>::build_state;

  /// Begins a build of these valid points into this many cells. Throws argument_error, and changes nothing, if there is
  /// no room.
  void begin(const points_view<T, D>& points, std::uint64_t cells) {
    build_state<Context>::begin(points.count, cells, "points");
    points_ = points;
  }
  /// Waits. Throws data_error or overflow_error, at every call until the next build. `space` and `capacity` are for the
  /// messages.
  void check(const grid<T, D>& space, std::uint64_t capacity);

 private:
  points_view<T, D> points_{};
};

}  // namespace quadrat::detail
