// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"
#include "contacts/bodies/size_histogram.hpp"
#include "contacts/levels/ring_cells.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// The most levels: more would hold few bodies each.
inline constexpr int most_levels = 8;

/// The most cells along an axis, limited by cell_index; larger numbers are clamped.
inline constexpr double most_cells_along_axis = 1e9;

/// The cells of a level within reach of a point, each stored cell once. Along an axis with repeating cells, indices are
/// from -n to 2 n - 1, for n stored cells.
struct level_range {
  index_range along[3];
  vec<int, 3> repeat;  ///< repeat that contains the point, along axes with repeating cells
  int start;           ///< where rows of this repeat begin on their ring
  bool whole;          ///< rows of several repeats are in the range, so all their cells can be within reach
};

/// Grids of several sizes over one domain, finest first. Cells of all levels are numbered consecutively, level by
/// level, x fastest. A body is in one cell, that of its center, on the first level wide enough for it; the partners of
/// a body on level k are therefore within (own half extent + widest[k]). The cells of a level repeat along axes of a
/// domain that would need too many (ring_cells): two bodies far apart may then share a cell.
template <typename T>
struct level_grids {
  int count;
  box<T, 3> domain;
  ring_cells<T> cells[most_levels];
  T widest[most_levels];                ///< largest half extent on a level; increasing
  cell_id first_cell[most_levels + 1];  ///< of level k; first_cell[count] is the number of cells

  /// The level of a body; bodies wider than planned get the last level.
  [[nodiscard]] QUADRAT_HD int level_of(T half_extent) const {
    int level = 0;
    while (level + 1 < count && half_extent > widest[level]) ++level;
    return level;
  }
  /// The largest half extent on a level. `largest`: bits of the largest of all, if some bodies are wider than planned.
  [[nodiscard]] QUADRAT_HD T widest_of(int level, std::uint64_t largest) const {
    if (level + 1 < count) return widest[level];
    return std::fmax(widest[level], size_of_bits<T>(largest));
  }
  /// The cell of a body, even if the center is outside the domain or not finite.
  [[nodiscard]] QUADRAT_HD cell_id cell_of(const vec<T, 3>& center, T half_extent) const {
    return cells[level_of(half_extent)].cell_of(center);
  }
  /// Whether a body is so far along an endless axis that rounding spans cells.
  [[nodiscard]] QUADRAT_HD bool is_far(const vec<T, 3>& center, T half_extent) const {
    const ring_cells<T>& own = cells[level_of(half_extent)];
    bool far = false;
    for (int axis = 0; axis < 3; ++axis) {
      far = far || !(own.slack_at(own.coordinate(center, axis), axis) - own.slack[axis] <= T(1));
    }
    return far;
  }
  /// Whether the cells of a level wrap around along an axis, because it is periodic or they repeat.
  [[nodiscard]] QUADRAT_HD bool goes_around(int level, int axis) const {
    return cells[level].periodic[axis] || cells[level].repeats[axis] != 1;
  }
  /// The cells of bodies closer than `distance` to a point along each axis.
  [[nodiscard]] QUADRAT_HD level_range reach(int level, const vec<T, 3>& point, const vec<T, 3>& distance) const {
    const ring_cells<T>& own = cells[level];
    level_range range{};
    for (int axis = 0; axis < 3; ++axis) {
      T at = own.coordinate(point, axis);
      const T margin = distance[axis] * own.cells_per_length[axis] + own.slack_at(at, axis);
      if (own.repeats[axis] != 1) at = own.folded(at, axis, range.repeat[axis]);
      const int n = own.cells[axis];
      index_range along{cell_index(at - margin), cell_index(at + margin)};
      if (!goes_around(level, axis)) {
        along = {clamped_index(along.first, n), clamped_index(along.last, n)};
      } else if (std::int64_t{along.last} - along.first >= n - 1) {
        along = {0, n - 1};
        range.whole = range.whole || (axis > 0 && own.repeats[axis] != 1);
      }
      range.along[axis] = along;
    }
    if (!range.whole) range.start = own.row_start(range.repeat);
    return range;
  }
  /// The first stored cell of a row of a range. Moves the range along x to its cells on the ring, with the first of
  /// them inside or left of it.
  [[nodiscard]] QUADRAT_HD cell_id stored_row(int level, const level_range& range, int y, int z, index_range& x) const {
    const ring_cells<T>& own = cells[level];
    vec<int, 3> repeat = range.repeat;
    cell_id row = static_cast<cell_id>(home(own, z, 2, repeat)) * static_cast<cell_id>(own.cells[1]);
    row += static_cast<cell_id>(home(own, y, 1, repeat));
    x = range.whole ? index_range{0, own.cells[0] - 1} : range.along[0];
    if (!range.whole && !(own.steps == vec<int, 3>{})) {
      const int start = repeat == range.repeat ? range.start : own.row_start(repeat);
      const int turn = x.first + start >= own.cells[0] ? own.cells[0] : 0;
      x = {x.first + start - turn, x.last + start - turn};
    }
    return own.first_cell + row * static_cast<cell_id>(own.cells[0]);
  }

 private:
  /// The stored index; sets the repeat to that of the index, inside the box.
  [[nodiscard]] QUADRAT_HD static int home(const ring_cells<T>& own, int index, int axis, vec<int, 3>& repeat) {
    const int n = own.cells[axis], most = own.repeats[axis];
    if (index >= 0 && index < n) return index;
    repeat[axis] += index < 0 ? -1 : 1;
    if (most > 0 && repeat[axis] < 0) repeat[axis] += most;
    if (most > 0 && repeat[axis] >= most) repeat[axis] -= most;
    return index < 0 ? index + n : index - n;
  }
};

}  // namespace quadrat::detail
