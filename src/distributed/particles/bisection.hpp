// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "quadrat/distributed/decomposition.hpp"

namespace quadrat::detail {

/// A decomposition under construction: blocks with several ranks are cut until each has one.
template <int D>
class bisection {
 public:
  /// A block still to be divided.
  struct part {
    cell_block<D> block;
    int first_rank;
    int ranks;
    int cut;     ///< index of the cut that made it; -1: the whole grid
    bool above;  ///< whether it is above that cut

    /// The number of ranks on the lower side of the next cut.
    [[nodiscard]] int ranks_below() const { return ranks / 2; }
  };

  bisection(const vec<int, D>& cells, const vec<bool, D>& periodic, int ranks) {
    result_.cells = cells;
    result_.periodic = periodic;
    result_.blocks.resize(static_cast<std::size_t>(ranks));
    place({{vec<int, D>{}, cells}, 0, ranks, -1, false});
  }

  /// The blocks with several ranks.
  [[nodiscard]] const std::vector<part>& parts() const { return parts_; }

  /// Cuts all of them: part p before cell cells[p] along axes[p]. ranks_below[p] of its ranks go below, by default
  /// about half.
  void cut(const std::vector<int>& axes, const std::vector<int>& cells, const std::vector<int>& ranks_below = {}) {
    const std::vector<part> before = std::move(parts_);
    parts_.clear();
    for (std::size_t p = 0; p < before.size(); ++p) {
      const part& whole = before[p];
      const int number = static_cast<int>(result_.cuts.size());
      result_.cuts.push_back({axes[p], cells[p], 0, 0});
      link(whole, number);
      part below = whole, above = whole;
      below.cut = above.cut = number;
      below.above = false;
      above.above = true;
      below.block.end[axes[p]] = above.block.first[axes[p]] = cells[p];
      below.ranks = ranks_below.empty() ? whole.ranks_below() : ranks_below[p];
      above.ranks = whole.ranks - below.ranks;
      above.first_rank += below.ranks;
      place(below);
      place(above);
    }
  }
  [[nodiscard]] decomposition<D> finished() const { return result_; }

 private:
  void place(const part& one) {
    if (one.ranks > 1) {
      parts_.push_back(one);
      return;
    }
    result_.blocks[static_cast<std::size_t>(one.first_rank)] = one.block;
    link(one, -1 - one.first_rank);
  }
  void link(const part& one, int child) {
    if (one.cut < 0) return;
    rank_cut& parent = result_.cuts[static_cast<std::size_t>(one.cut)];
    (one.above ? parent.above : parent.below) = child;
  }

  decomposition<D> result_{};
  std::vector<part> parts_;
};

/// The cut of a block without weights: across its longest axis, in proportion to the ranks. `edges`: lengths of a cell.
template <int D>
void even_cut(const typename bisection<D>::part& one, const vec<double, D>& edges, int& axis, int& cell) {
  axis = 0;
  double longest = -1;
  for (int a = 0; a < D; ++a) {
    const double length = edges[a] * (one.block.end[a] - one.block.first[a]);
    if (length > longest && one.block.end[a] - one.block.first[a] > 1) {
      longest = length;
      axis = a;
    }
  }
  const double extent = one.block.end[axis] - one.block.first[axis];
  cell = one.block.first[axis] + static_cast<int>(extent * one.ranks_below() / one.ranks + 0.5);
}

/// Throws argument_error for a grid or a number of ranks that cannot be decomposed.
template <typename T, int D>
void require_decomposable(const grid<T, D>& space, int ranks) {
  require(ranks >= 1, "the number of ranks is ", ranks, "; at least 1 is needed");
  require(!space.folded, "the grid is folded; decompose the one that it was made from");
}

template <typename T, int D>
[[nodiscard]] vec<double, D> edges_of(const grid<T, D>& space) {
  return make_vec<double, D>([&](int axis) { return static_cast<double>(space.edge(axis)); });
}

}  // namespace quadrat::detail
