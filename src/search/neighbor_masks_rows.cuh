// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "search/neighbor_search.hpp"

namespace quadrat::detail {

/// What one thread walks: every Lanes-th of the rows of cells around a point.
template <typename T, int D, int Lanes, bool Periodic>
struct row_walk {
  const search_system<T, D>& system;
  const std::uint32_t* offsets;
  vec<T, D> point;
  T squared_reach;

  /// Calls f(first slot, one past the last, S) for each range that is not empty.
  template <typename F>
  __device__ void for_each(unsigned lane, T reach, F&& f) const {
    const cell_range<D> range = system.reach(point, reach);
    unsigned turn = 0;
    if constexpr (D == 2) {
      for (int y = range.first[1]; y <= range.last[1]; ++y) {
        if (turn++ % Lanes == lane) row(vec<int, D>{{0, y}}, squared_reach - squared_gap(y, 1), f);
      }
    } else {
      for (int z = range.first[2]; z <= range.last[2]; ++z) {
        const T rest = squared_reach - squared_gap(z, 2);
        for (int y = range.first[1]; y <= range.last[1]; ++y) {
          if (turn++ % Lanes == lane) row(vec<int, D>{{0, y, z}}, rest - squared_gap(y, 1), f);
        }
      }
    }
  }

 private:
  /// At most the squared distance along an axis from the point to a layer of cells.
  [[nodiscard]] __device__ T squared_gap(int index, int axis) const {
    const T edge = system.shape.vectors[axis][axis] / static_cast<T>(system.cells[axis]);
    const T lower = system.shape.origin[axis] + static_cast<T>(index) * edge;
    const T margin = 4 * system.slack[axis] * system.shape.vectors[axis][axis];
    const T below = lower - point[axis] - margin;
    const T above = point[axis] - (lower + edge) - margin;
    const T gap = below > above ? below : above;
    return gap > T(0) ? gap * gap : T(0);
  }

  template <typename F>
  __device__ void row(vec<int, D> cell, T rest, F&& f) const {
    if (!(rest > T(0))) return;
    const int n = system.cells[0];
    const T fraction = system.shape.fraction(point, 0);
    const T margin = sqrt(rest) * system.fraction_per_length[0] + 2 * system.slack[0];
    const int first = system.unwrapped_index(fraction - margin, 0);
    const int last = system.unwrapped_index(fraction + margin, 0);
    vec<int, D> shift{};
    cell_id begin = 0;
    for (int axis = D - 1; axis >= 1; --axis) {
      if (Periodic && system.shape.periodic[axis]) {
        shift[axis] = cell[axis] < 0 ? -1 : (cell[axis] >= system.cells[axis] ? 1 : 0);
      }
      begin = begin * static_cast<cell_id>(system.cells[axis]) +
              static_cast<cell_id>(cell[axis] - shift[axis] * system.cells[axis]);
    }
    begin *= static_cast<cell_id>(n);
    const auto run = [&](int from, int to) {
      const std::uint32_t first_slot = offsets[begin + static_cast<cell_id>(from)];
      const std::uint32_t last_slot = offsets[begin + static_cast<cell_id>(to) + 1];
      if (first_slot < last_slot) f(first_slot, last_slot, shift);
    };
    // Across a seam the row has a part in each image.
    const int images = Periodic && system.shape.periodic[0] ? 1 : 0;
    for (shift[0] = -images; shift[0] <= images; ++shift[0]) {
      const int from = max(first - shift[0] * n, 0);
      const int to = min(last - shift[0] * n, n - 1);
      if (from <= to) run(from, to);
    }
  }
};

}  // namespace quadrat::detail
