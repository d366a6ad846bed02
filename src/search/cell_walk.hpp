// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "quadrat/search/lattice/cuboid_grid.hpp"

/// Chooses the cells for sums over neighbors within a cutoff, such as sums over charges or over spheres in a fluid.
/// Host only.
namespace quadrat::detail {

/// The cost of a walk for this many cells along a cutoff.
struct cell_walk {
  int along;
  double rows;          ///< rows of cells that a point visits
  double per_neighbor;  ///< 20: candidates

  [[nodiscard]] double candidates(double neighbors) const { return per_neighbor * neighbors; }
  [[nodiscard]] double row_candidates(double neighbors) const { return candidates(neighbors) / rows; }
};

/// Smaller cells leave fewer candidates for each neighbor, in more rows of cells. On CPUs a row costs as much as 25
/// candidates, tested by vector instructions; on GPUs, as much as 7, tested by several threads.
[[nodiscard]] inline cell_walk best_walk(double neighbors, bool cuda) {
  static constexpr cell_walk walks[] = {{1, 8.2, 3.47}, {2, 21.5, 2.03}, {3, 41.3, 1.65}, {4, 67.3, 1.47}};
  const auto cost = [&](const cell_walk& walk) { return (cuda ? 7 : 25) * walk.rows + walk.candidates(neighbors); };
  const cell_walk* const end = cuda ? std::end(walks) : walks + 2;
  return *std::min_element(walks, end, [&](const auto& a, const auto& b) { return cost(a) < cost(b); });
}

/// The grids, for one lattice or several, in which walks are cheapest for points with this many neighbors.
template <typename T>
[[nodiscard]] std::vector<cuboid_grid<T, 3>> make_walked_grids(std::span<const lattice<T, 3>> shapes, T cutoff,
                                                               double neighbors, std::size_t most_cells, bool cuda) {
  const auto cut = [&](int along) {
    return make_cuboid_grids<T, 3>(shapes, {cutoff / static_cast<T>(along), cutoff, most_cells, false});
  };
  int along = best_walk(neighbors, cuda).along;
  auto grids = cut(along);
  // Folded cells (used when a grid would have too many cells) take several times as long to visit.
  while (along > 1 && std::ranges::any_of(grids, &cuboid_grid<T, 3>::folded)) grids = cut(--along);
  return grids;
}

/// GPU threads per point: enough that few points still occupy the device, if rows have enough candidates. Four threads
/// find some in any row.
[[nodiscard]] inline unsigned walking_threads(double points, double row_candidates, double wanted) {
  unsigned threads = 1;
  while (threads < 32 && (threads < 4 || 2 * threads <= row_candidates) && points * threads < wanted) threads *= 2;
  return threads;
}

}  // namespace quadrat::detail
