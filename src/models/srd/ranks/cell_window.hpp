// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/distributed/decomposition.hpp"

/// The collision cells of one rank.
namespace quadrat::detail {

/// The cells in which the particles of a rank may be: its block, and some layers around it. Cells are numbered x
/// fastest. If the window would cover all of a periodic axis, it is that axis, with each cell of the grid once.
template <int D>
struct cell_window {
  vec<int, D> first;   ///< its first cell, in the grid
  vec<int, D> extent;  ///< 0: no cells
  vec<int, D> cells;   ///< of the grid

  /// The layer of the window that holds a cell of the grid; the extent or more if the cell is outside.
  [[nodiscard]] QUADRAT_HD int layer(int axis, int cell) const {
    const int along = cell - first[axis];
    // Windows do not wrap around open axes: there the sum is also outside.
    return along < 0 ? along + cells[axis] : along;
  }
  /// The number of a cell, or -1 if it is not in the window.
  [[nodiscard]] QUADRAT_HD int index(const vec<int, D>& cell) const {
    int number = 0;
    bool inside = true;
    for (int axis = D - 1; axis >= 0; --axis) {
      const int along = layer(axis, cell[axis]);
      inside = inside && along < extent[axis];
      number = number * extent[axis] + along;
    }
    return inside ? number : -1;
  }
  /// The cell of the grid with this number in the window.
  [[nodiscard]] QUADRAT_HD vec<int, D> cell(std::uint32_t index) const {
    vec<int, D> result{};
    for (int axis = 0; axis < D; ++axis) {
      std::uint32_t layer = index;
      if (axis < D - 1) {
        index /= static_cast<std::uint32_t>(extent[axis]);
        layer -= index * static_cast<std::uint32_t>(extent[axis]);
      }
      const int along = first[axis] + static_cast<int>(layer);
      result[axis] = along < cells[axis] ? along : along - cells[axis];
    }
    return result;
  }
  /// Whether the window is the whole grid, with the same numbers.
  [[nodiscard]] QUADRAT_HD bool whole() const { return extent == cells; }
  [[nodiscard]] std::size_t size() const {
    std::size_t product = 1;
    for (int axis = 0; axis < D; ++axis) product *= static_cast<std::size_t>(extent[axis]);
    return product;
  }
};

/// The window of a rank's block, with `below` layers below it and `above` layers above.
template <int D>
[[nodiscard]] cell_window<D> window_of(const decomposition<D>& shares, int rank, int below, int above) {
  const cell_block<D>& block = shares.blocks[static_cast<std::size_t>(rank)];
  cell_window<D> window{vec<int, D>{}, vec<int, D>{}, shares.cells};
  if (block.empty()) return window;
  for (int axis = 0; axis < D; ++axis) {
    const int n = shares.cells[axis];
    int first = block.first[axis] - below, end = block.end[axis] + above;
    if (!shares.periodic[axis] || end - first >= n) {
      first = shares.periodic[axis] ? 0 : std::max(first, 0);
      end = shares.periodic[axis] ? n : std::min(end, n);
    }
    window.first[axis] = first < 0 ? first + n : first;
    window.extent[axis] = end - first;
  }
  return window;
}

/// The cells that two windows have in common, x fastest. Both ranks list them in the same order.
template <int D>
[[nodiscard]] std::vector<vec<int, D>> common_cells(const cell_window<D>& one, const cell_window<D>& other) {
  std::vector<int> along[D];
  std::size_t count = 1;
  for (int axis = 0; axis < D; ++axis) {
    for (int cell = 0; cell < one.cells[axis]; ++cell) {
      if (one.layer(axis, cell) < one.extent[axis] && other.layer(axis, cell) < other.extent[axis]) {
        along[axis].push_back(cell);
      }
    }
    count *= along[axis].size();
  }
  std::vector<vec<int, D>> cells(count);
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t rest = k;
    for (int axis = 0; axis < D; ++axis) {
      cells[k][axis] = along[axis][rest % along[axis].size()];
      rest /= along[axis].size();
    }
  }
  return cells;
}

}  // namespace quadrat::detail
