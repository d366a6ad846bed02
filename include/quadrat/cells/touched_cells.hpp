// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat {

/// The cells that the bounding box of a particle touches: at most two along each axis, because an edge is at least 2
/// radius.
///
/// Two particles nearer than 2 radius must share a cell also in floating point. If the edge leaves room for rounding,
/// boxes are widened slightly. If it is exactly 2 radius there is no room; but if all faces and faces +- radius are
/// representable, comparisons of coordinates with them are exact. `make_touch_rule` ensures that one of the two holds.
template <typename T, int D>
struct touch_rule {
  T radius;
  vec<T, D> edge;
  vec<T, D> reach;  ///< the widened half-width, if not exact
  vec<bool, D> exact;

  /// The touched cells along one axis. Mask bit 0 belongs to `cell[0]`, bit 1 to `cell[1]`.
  struct axis_cells {
    int cell[2];
    int count;
  };

  /// For a coordinate inside the box.
  [[nodiscard]] QUADRAT_HD axis_cells along(const grid<T, D>& space, T x, int axis) const {
    int low = 0;
    int high = 0;
    if (exact[axis]) {
      low = last_face_below(space, x, radius, axis);
      high = last_face_below(space, x, -radius, axis);
    } else {
      low = space.unwrapped_index(x - reach[axis], axis);
      high = space.unwrapped_index(x + reach[axis], axis);
    }
    // More than one apart only for faulty points.
    high = high > low + 1 ? low + 1 : high;
    low = space.wrapped(low, axis);
    high = space.wrapped(high, axis);
    if (low == high) return {{low, low}, 1};
    // On a periodic axis with two cells, each precedes the other: take index order, the same for all particles.
    if (low > high && space.cells[axis] == 2) return {{high, low}, 2};
    return {{low, high}, 2};
  }

  /// Calls f(cell id, mask) for each cell touched by a particle at a point inside the box.
  template <typename Numbering, typename F>
  QUADRAT_HD void for_each(const grid<T, D>& space, const Numbering& numbering, const vec<T, D>& point, F&& f) const {
    axis_cells touched[static_cast<std::size_t>(D)];
    for (int axis = 0; axis < D; ++axis) touched[axis] = along(space, point[axis], axis);
    for (std::uint32_t mask = 0; mask < (1u << D); ++mask) {
      vec<int, D> cell{};
      bool present = true;
      for (int axis = 0; axis < D; ++axis) {
        const int bit = static_cast<int>((mask >> axis) & 1u);
        present = present && bit < touched[axis].count;
        cell[axis] = touched[axis].cell[bit];
      }
      if (present) f(numbering.id(space.stored_cell(cell)), mask);
    }
  }

 private:
  /// The largest a with lower + a edge + shift <= x.
  [[nodiscard]] QUADRAT_HD int last_face_below(const grid<T, D>& space, T x, T shift, int axis) const {
    const int guess = space.unwrapped_index(x - shift, axis);
    const T face = space.domain.lower[axis] + (static_cast<T>(guess) * edge[axis] + shift);
    if (x < face) return guess - 1;
    return x < face + edge[axis] ? guess : guess + 1;
  }
};

/// The rule for particles of a radius on a grid; removes one cell along an axis if rounding requires it. Throws
/// argument_error if the radius is not positive and finite, or an edge is below 2 radius along an axis with more than
/// one cell.
template <typename T, int D>
[[nodiscard]] touch_rule<T, D> make_touch_rule(grid<T, D>& space, T radius);

}  // namespace quadrat
