// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// The most levels: more would hold few bodies each.
inline constexpr int most_levels = 8;

/// The most cells along an axis, limited by grid::unwrapped_index; larger numbers are clamped.
inline constexpr double most_cells_along_axis = 1e9;

/// Grids of several sizes over one domain, finest first. Cells of all levels are numbered consecutively, level by
/// level, x fastest. A body is in one cell, that of its center, on the first level wide enough for it; the partners of
/// a body on level k are therefore within (own half extent + widest[k]).
template <typename T>
struct level_grids {
  int count;
  grid<T, 3> space[most_levels];
  T widest[most_levels];                ///< largest half extent on a level; increasing
  cell_id first_cell[most_levels + 1];  ///< of level k; first_cell[count] is the number of cells

  /// Bodies wider than all levels (an error of the plan) get the last.
  [[nodiscard]] QUADRAT_HD int level_of(T half_extent) const {
    int level = 0;
    while (level + 1 < count && half_extent > widest[level]) ++level;
    return level;
  }
  /// The cell of a body, even if the center is outside the domain or not finite.
  [[nodiscard]] QUADRAT_HD cell_id cell_of(const vec<T, 3>& center, T half_extent) const {
    const int level = level_of(half_extent);
    const vec<int, 3> cell = space[level].cell_of(center);
    return first_cell[level] + row(level, cell[1], cell[2]) + static_cast<cell_id>(cell[0]);
  }
  /// The first cell of a row of a level, counted from the level's first cell.
  [[nodiscard]] QUADRAT_HD cell_id row(int level, int y, int z) const {
    const vec<int, 3>& cells = space[level].cells;
    return (static_cast<cell_id>(z) * static_cast<cell_id>(cells[1]) + static_cast<cell_id>(y)) *
           static_cast<cell_id>(cells[0]);
  }
};

}  // namespace quadrat::detail
