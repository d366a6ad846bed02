// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"
#include "contacts/bodies/size_histogram.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// The most levels: more would hold few bodies each.
inline constexpr int most_levels = 8;

/// The most cells along an axis, limited by grid::unwrapped_index; larger numbers are clamped.
inline constexpr double most_cells_along_axis = 1e9;

/// A coordinate, in cells, along a folded axis of n stored cells, brought to [0, n]. Exact, except where rounding of
/// the coordinate spans all stored cells.
template <typename T>
[[nodiscard]] QUADRAT_HD T folded_coordinate(T coordinate, int n) {
  const T cells = static_cast<T>(n);
  T rest = std::fma(-std::floor(coordinate / cells), cells, coordinate);
  if (rest < T(0)) rest += cells;  // the quotient was rounded up
  return rest >= T(0) && rest <= cells ? rest : T(0);
}
/// A bound on the rounding of such a coordinate and of another one near it.
template <typename T>
[[nodiscard]] QUADRAT_HD T far_slack(T coordinate) {
  return 4 * rounding_unit<T> * std::fabs(coordinate);
}

/// Grids of several sizes over one domain, finest first. Cells of all levels are numbered consecutively, level by
/// level, x fastest. A body is in one cell, that of its center, on the first level wide enough for it; the partners of
/// a body on level k are therefore within (own half extent + widest[k]).
template <typename T>
struct level_grids {
  int count;
  grid<T, 3> space[most_levels];
  /// Axes along which the cells of a level repeat, because a domain much larger than its bodies would need too many:
  /// two bodies far apart may then share a cell. The grid's cells are those that are stored, its inverse edge is
  /// theirs, and along an open axis, where the repeats have no end, its domain begins at 0.
  vec<bool, 3> folded[most_levels];
  T widest[most_levels];                ///< largest half extent on a level; increasing
  cell_id first_cell[most_levels + 1];  ///< of level k; first_cell[count] is the number of cells

  /// Bodies wider than planned get the last.
  [[nodiscard]] QUADRAT_HD int level_of(T half_extent) const {
    int level = 0;
    while (level + 1 < count && half_extent > widest[level]) ++level;
    return level;
  }
  /// The largest half extent on a level. `largest`: bits of that of all bodies, if some are wider than planned.
  [[nodiscard]] QUADRAT_HD T widest_of(int level, std::uint64_t largest) const {
    if (level + 1 < count) return widest[level];
    return std::fmax(widest[level], size_of_bits<T>(largest));
  }
  /// The cell of a body, even if the center is outside the domain or not finite.
  [[nodiscard]] QUADRAT_HD cell_id cell_of(const vec<T, 3>& center, T half_extent) const {
    const int level = level_of(half_extent);
    vec<int, 3> cell{};
    for (int axis = 0; axis < 3; ++axis) {
      cell[axis] = folded[level][axis] ? folded_cell(level, center[axis], axis)
                                       : space[level].wrapped(space[level].unwrapped_index(center[axis], axis), axis);
    }
    return first_cell[level] + row(level, cell[1], cell[2]) + static_cast<cell_id>(cell[0]);
  }
  /// Whether a body is so far along a folded axis of its level that rounding spans cells.
  [[nodiscard]] QUADRAT_HD bool is_far(const vec<T, 3>& center, T half_extent) const {
    const int level = level_of(half_extent);
    bool far = false;
    for (int axis = 0; axis < 3; ++axis) {
      const T coordinate = (center[axis] - space[level].domain.lower[axis]) * space[level].inverse_edge[axis];
      far = far || (folded[level][axis] && !(far_slack(coordinate) <= T(1)));
    }
    return far;
  }
  /// The cells along an axis of bodies closer than `distance` to x, each once, as grid::reach_along gives them: indices
  /// below 0 and from the number of cells on are brought into the grid by grid::home.
  [[nodiscard]] QUADRAT_HD index_range reach_along(int level, T x, T distance, int axis) const {
    const grid<T, 3>& grid = space[level];
    if (!folded[level][axis]) return grid.reach_along(x, distance, axis);
    const T coordinate = (x - grid.domain.lower[axis]) * grid.inverse_edge[axis];
    const T margin = widened(distance + grid.slack[axis]) * grid.inverse_edge[axis] + far_slack(coordinate);
    const int n = grid.cells[axis];
    if (!(2 * margin + T(2) <= static_cast<T>(n))) return {0, n - 1};
    const T at = folded_coordinate(coordinate, n);
    return {static_cast<int>(std::floor(at - margin)), static_cast<int>(std::floor(at + margin))};
  }
  /// Whether the cells of a level repeat along an axis, because it is periodic or folded.
  [[nodiscard]] QUADRAT_HD bool repeats(int level, int axis) const {
    return space[level].domain.periodic[axis] || folded[level][axis];
  }
  /// The edge of the cells of a level.
  [[nodiscard]] QUADRAT_HD T edge(int level, int axis) const {
    return folded[level][axis] ? T(1) / space[level].inverse_edge[axis] : space[level].edge(axis);
  }
  /// The first cell of a row of a level, counted from the level's first cell.
  [[nodiscard]] QUADRAT_HD cell_id row(int level, int y, int z) const {
    const vec<int, 3>& cells = space[level].cells;
    return (static_cast<cell_id>(z) * static_cast<cell_id>(cells[1]) + static_cast<cell_id>(y)) *
           static_cast<cell_id>(cells[0]);
  }

 private:
  [[nodiscard]] QUADRAT_HD int folded_cell(int level, T x, int axis) const {
    const grid<T, 3>& grid = space[level];
    const int n = grid.cells[axis];
    const auto cell = static_cast<int>(folded_coordinate((x - grid.domain.lower[axis]) * grid.inverse_edge[axis], n));
    return cell < n ? cell : n - 1;
  }
};

}  // namespace quadrat::detail
