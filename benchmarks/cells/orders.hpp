// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "harness/points.hpp"
#include "quadrat/core/curves.hpp"

namespace quadrat::bench {

/// Packed points sorted by cell, x fastest; points of one cell keep their order.
[[nodiscard]] inline std::vector<float> in_order_of_cells(const std::vector<float>& points, const cube& room) {
  const auto space = room.space<float>();
  const row_major_numbering<3> numbering{space.cells};
  const std::size_t n = points.size() / 3;
  std::vector<cell_id> cells(n);
  for (std::size_t i = 0; i < n; ++i) {
    cells[i] = numbering.id(space.cell_of({{points[3 * i], points[3 * i + 1], points[3 * i + 2]}}));
  }
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return cells[i]; });
  std::vector<float> sorted;
  sorted.reserve(points.size());
  for (const std::size_t i : order) sorted.insert(sorted.end(), {points[3 * i], points[3 * i + 1], points[3 * i + 2]});
  return sorted;
}

}  // namespace quadrat::bench
