// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// As many as octaves between the smallest and the largest body can matter: more would each hold few bodies.
inline constexpr int most_levels = 8;

/// What grid::unwrapped_index tells apart along an axis. Who asks for more gets so many.
inline constexpr double most_cells_along_axis = 1e9;

/// Grids of several sizes over one domain, finest first; cells of all levels are numbered together, those of a level
/// one after the other, x fastest. A body stands in one cell, that of its center, on the first level that is wide
/// enough for it; so bodies of level k are found within (own half extent + widest[k]) of a place.
template <typename T>
struct level_grids {
  int count;
  grid<T, 3> space[most_levels];
  T widest[most_levels];                ///< largest half extent on a level; increasing
  cell_id first_cell[most_levels + 1];  ///< of level k; first_cell[count] is the number of cells

  /// Bodies that are wider than all levels (a fault of whoever planned) get the last.
  [[nodiscard]] QUADRAT_HD int level_of(T half_extent) const {
    int level = 0;
    while (level + 1 < count && half_extent > widest[level]) ++level;
    return level;
  }
  /// Cell of a body. Also outside of the domain, and where the center is not finite.
  [[nodiscard]] QUADRAT_HD cell_id cell_of(const vec<T, 3>& center, T half_extent) const {
    const int level = level_of(half_extent);
    const vec<int, 3> cell = space[level].cell_of(center);
    return first_cell[level] + row(level, cell[1], cell[2]) + static_cast<cell_id>(cell[0]);
  }
  /// First cell of a row of a level, counted from that level's first.
  [[nodiscard]] QUADRAT_HD cell_id row(int level, int y, int z) const {
    const vec<int, 3>& cells = space[level].cells;
    return (static_cast<cell_id>(z) * static_cast<cell_id>(cells[1]) + static_cast<cell_id>(y)) *
           static_cast<cell_id>(cells[0]);
  }
};

}  // namespace quadrat::detail
