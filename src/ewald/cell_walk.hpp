// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

/// How charges walk through the cells of the short-range sum. Host only.
namespace quadrat::detail {

/// With so many cells along a cutoff.
struct cell_walk {
  int along;
  double rows;          ///< of cells, that a charge walks through
  double per_neighbor;  ///< candidates

  [[nodiscard]] double candidates(double neighbors) const { return per_neighbor * neighbors; }
  [[nodiscard]] double row_candidates(double neighbors) const { return candidates(neighbors) / rows; }
};

/// Smaller cells leave fewer candidates for each neighbor, in more rows of cells. On CPUs a row costs as much as 25
/// candidates, which share vector registers; on GPUs as much as 7, which several threads share.
[[nodiscard]] inline cell_walk best_walk(double neighbors, bool cuda) {
  static constexpr cell_walk walks[] = {{1, 8.2, 3.47}, {2, 21.5, 2.03}, {3, 41.3, 1.65}, {4, 67.3, 1.47}};
  const auto cost = [&](const cell_walk& walk) { return (cuda ? 7 : 25) * walk.rows + walk.candidates(neighbors); };
  const cell_walk* const end = cuda ? std::end(walks) : walks + 2;
  return *std::min_element(walks, end, [&](const auto& a, const auto& b) { return cost(a) < cost(b); });
}

/// Threads of a GPU that walk for a charge: so many that a few charges give it as many as are wanted, if rows have
/// candidates for them; four find some in any row.
[[nodiscard]] inline unsigned walking_threads(double charges, double row_candidates, double wanted) {
  unsigned threads = 1;
  while (threads < 32 && (threads < 4 || 2 * threads <= row_candidates) && charges * threads < wanted) threads *= 2;
  return threads;
}

}  // namespace quadrat::detail
