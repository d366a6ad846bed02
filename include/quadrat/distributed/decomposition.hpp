// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"

/// Which rank owns which cells of a grid: each rank a block of whole cells, so that faces between ranks are faces of
/// cells. Blocks come from recursive bisection (Berger and Bokhari 1987): a cut across one axis divides the ranks, and
/// so on in each part. Source: parallel-binning-collision, last pages (each GPU handles a subvolume).
namespace quadrat {

/// The cells [first, end) along each axis. Empty if end <= first along any.
template <int D>
struct cell_block {
  vec<int, D> first;
  vec<int, D> end;

  [[nodiscard]] QUADRAT_HD bool empty() const {
    for (int axis = 0; axis < D; ++axis) {
      if (end[axis] <= first[axis]) return true;
    }
    return false;
  }
  [[nodiscard]] QUADRAT_HD bool holds(const vec<int, D>& cell) const {
    for (int axis = 0; axis < D; ++axis) {
      if (cell[axis] < first[axis] || cell[axis] >= end[axis]) return false;
    }
    return true;
  }
};

/// A cut: cells with an index below `cell` along `axis` belong to `below`, the others to `above`; a child that is not
/// negative is another cut, -1 - r is rank r.
struct rank_cut {
  int axis;
  int cell;
  int below;
  int above;
};

/// A decomposition in memory that kernels can read.
template <int D>
struct decomposition_view {
  const rank_cut* cuts;
  const cell_block<D>* blocks;  ///< by rank
  vec<int, D> cells;
  vec<bool, D> periodic;
  int ranks;

  /// Owner of a cell, as grid::unfolded_cell_of gives it.
  [[nodiscard]] QUADRAT_HD int owner(const vec<int, D>& cell) const {
    int at = ranks > 1 ? 0 : -1;
    while (at >= 0) at = cell[cuts[at].axis] < cuts[at].cell ? cuts[at].below : cuts[at].above;
    return -1 - at;
  }

  /// Whether a range of cells, as grid::reach gives it, meets the block of a rank, across periodic faces too.
  [[nodiscard]] QUADRAT_HD bool meets(const cell_range<D>& range, int rank) const {
    const cell_block<D>& block = blocks[rank];
    for (int axis = 0; axis < D; ++axis) {
      if (!meets_along(range.first[axis], range.last[axis], block.first[axis], block.end[axis], axis)) return false;
    }
    return true;
  }

  /// Calls f(rank) for each rank whose block meets the range, once, in the order of the tree (that of ranks).
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_rank(const cell_range<D>& range, F&& f) const {
    // Each cut halves the ranks, so that 2^31 of them need no more.
    int waiting[33];
    int count = 0;
    waiting[count++] = ranks > 1 ? 0 : -1;
    while (count > 0) {
      const int at = waiting[--count];
      if (at < 0) {
        if (meets(range, -1 - at)) f(-1 - at);
        continue;
      }
      const rank_cut& cut = cuts[at];
      const int n = cells[cut.axis];
      if (meets_along(range.first[cut.axis], range.last[cut.axis], cut.cell, n, cut.axis)) waiting[count++] = cut.above;
      if (meets_along(range.first[cut.axis], range.last[cut.axis], 0, cut.cell, cut.axis)) waiting[count++] = cut.below;
    }
  }

 private:
  /// Whether [first, last], unwrapped along a periodic axis and never longer than it, meets [begin, end).
  [[nodiscard]] QUADRAT_HD bool meets_along(int first, int last, int begin, int end, int axis) const {
    if (begin >= end) return false;
    if (first < end && last >= begin) return true;
    if (!periodic[axis]) return false;
    const int n = cells[axis];
    return (first + n < end && last + n >= begin) || (first - n < end && last - n >= begin);
  }
};

/// A decomposition on the host. The same on every rank.
template <int D>
struct decomposition {
  vec<int, D> cells;
  vec<bool, D> periodic;
  std::vector<rank_cut> cuts;         ///< the first is the root; none for one rank
  std::vector<cell_block<D>> blocks;  ///< by rank; some may be empty

  [[nodiscard]] int ranks() const { return static_cast<int>(blocks.size()); }
  /// Of the host's memory; valid as long as this.
  [[nodiscard]] decomposition_view<D> view() const { return {cuts.data(), blocks.data(), cells, periodic, ranks()}; }
};

/// Blocks of nearly equal volume: always cut across the longest axis. Throws argument_error for no ranks, and for a
/// folded grid. The same on every rank, without communication.
template <typename T, int D>
[[nodiscard]] decomposition<D> even_decomposition(const grid<T, D>& space, int ranks);

/// Blocks of nearly equal weight: recursive bisection across the longest axis of what each part holds, with the number
/// of points, or the sum of their weights, in layers of cells (of several layers where there are more than 2,048).
/// Each rank gives any points of its own; `weights`, one for each of them, may be nullptr. Exact sums: the same for
/// whichever ranks hold the points. Points outside or not finite count where grid::unfolded_cell_of puts them. Ranks
/// may come out empty where layers are few. Synchronizes. Collective. Throws argument_error as even_decomposition.
template <typename Context, typename T, int D>
[[nodiscard]] decomposition<D> balanced_decomposition(const Context& context, communicator& ranks,
                                                      const grid<T, D>& space, const points_view<T, D>& points,
                                                      const std::uint32_t* weights = nullptr);

/// A decomposition in the memory of a context.
template <typename Context, int D>
class device_decomposition {
 public:
  device_decomposition() = default;
  /// Copies; synchronizes.
  device_decomposition(const Context& context, const decomposition<D>& shares)
      : cuts_(to_device(context, shares.cuts)),
        blocks_(to_device(context, shares.blocks)),
        cells_(shares.cells),
        periodic_(shares.periodic) {}

  [[nodiscard]] decomposition_view<D> view() const {
    return {cuts_.data(), blocks_.data(), cells_, periodic_, static_cast<int>(blocks_.size())};
  }

 private:
  array<rank_cut, Context> cuts_;
  array<cell_block<D>, Context> blocks_;
  vec<int, D> cells_{};
  vec<bool, D> periodic_{};
};

/// owners[i] = the rank that owns the cell of point i. Asynchronous. Throws nothing for points that are not finite or
/// outside an open axis: they belong to some rank.
template <typename Context, typename T, int D>
void find_owners(const Context& context, const decomposition_view<D>& shares, const grid<T, D>& space,
                 const points_view<T, D>& points, std::uint32_t* owners);

}  // namespace quadrat
