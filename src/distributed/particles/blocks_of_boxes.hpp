// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "distributed/particles/bisection.hpp"

/// Makes a decomposition from its blocks alone, as a partitioner gives them.
namespace quadrat::detail {

/// A cut with each of some blocks on one side of it.
struct dividing_cut {
  int axis;
  int cell;
  std::vector<std::size_t> below, above;
};

/// Blocks without cells go to either side. If no cut divides the blocks, one block has all cells, and the others none.
template <int D>
[[nodiscard]] dividing_cut find_dividing_cut(const std::vector<cell_block<D>>& blocks,
                                             const std::vector<std::size_t>& some, const cell_block<D>& whole) {
  for (int axis = 0; axis < D; ++axis) {
    for (const std::size_t candidate : some) {
      dividing_cut cut{axis, blocks[candidate].end[axis], {}, {}};
      if (cut.cell <= whole.first[axis] || cut.cell >= whole.end[axis]) continue;
      bool divides = true;
      for (const std::size_t one : some) {
        const bool is_above = blocks[one].first[axis] >= cut.cell;
        divides = divides && (is_above || blocks[one].end[axis] <= cut.cell || blocks[one].empty());
        (is_above ? cut.above : cut.below).push_back(one);
      }
      if (divides && !cut.above.empty() && !cut.below.empty()) return cut;
    }
  }
  // All cells go to the side of the block that has them.
  dividing_cut cut{0, whole.end[0], some, {}};
  std::ranges::stable_partition(cut.below, [&](std::size_t one) { return !blocks[one].empty(); });
  const auto half = cut.below.begin() + static_cast<std::ptrdiff_t>((some.size() + 1) / 2);
  cut.above.assign(half, cut.below.end());
  cut.below.erase(half, cut.below.end());
  return cut;
}

/// `blocks`: made by recursive bisection, in any order. They are renumbered in the order of the tree.
template <int D>
[[nodiscard]] decomposition<D> decomposition_of_blocks(const vec<int, D>& cells, const vec<bool, D>& periodic,
                                                       const std::vector<cell_block<D>>& blocks) {
  bisection<D> work(cells, periodic, static_cast<int>(blocks.size()));
  std::vector<std::size_t> all(blocks.size());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
  std::vector<std::vector<std::size_t>> groups{all};  // the blocks of each part that is still to be divided
  while (!work.parts().empty()) {
    std::vector<int> axes, places, ranks_below;
    std::vector<std::vector<std::size_t>> next;
    for (std::size_t p = 0; p < work.parts().size(); ++p) {
      dividing_cut cut = find_dividing_cut(blocks, groups[p], work.parts()[p].block);
      axes.push_back(cut.axis);
      places.push_back(cut.cell);
      ranks_below.push_back(static_cast<int>(cut.below.size()));
      for (auto* const side : {&cut.below, &cut.above}) {
        if (side->size() > 1) next.push_back(std::move(*side));
      }
    }
    work.cut(axes, places, ranks_below);
    groups = std::move(next);
  }
  return work.finished();
}

}  // namespace quadrat::detail
