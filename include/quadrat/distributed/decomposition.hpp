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

/// Which rank owns which cells of a grid. Each rank owns a block of whole cells, so that faces between ranks are faces
/// of cells. Blocks come from recursive bisection (Berger and Bokhari 1987): a cut across one axis divides the ranks
/// into two parts, and each part is cut again. Source: parallel-binning-collision, last pages (each GPU handles a
/// subvolume).
namespace quadrat {

/// The cells [first, end) along each axis. Empty if end <= first along any.
template <int D>
struct cell_block {
  vec<int, D> first;
  vec<int, D> end;

  [[nodiscard]] bool operator==(const cell_block& other) const = default;
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

/// A cut: cells with an index below `cell` along `axis` belong to `below`, the others to `above`. A child >= 0 is the
/// index of another cut; a child -1 - r is rank r.
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

  /// The owner of a cell, whose index is as grid::unfolded_cell_of gives it.
  [[nodiscard]] QUADRAT_HD int owner(const vec<int, D>& cell) const {
    int at = ranks > 1 ? 0 : -1;
    while (at >= 0) at = cell[cuts[at].axis] < cuts[at].cell ? cuts[at].below : cuts[at].above;
    return -1 - at;
  }

  /// Whether a range of cells, as grid::reach gives it, meets the block of a rank, also across periodic faces.
  [[nodiscard]] QUADRAT_HD bool meets(const cell_range<D>& range, int rank) const {
    const cell_block<D>& block = blocks[rank];
    for (int axis = 0; axis < D; ++axis) {
      if (!meets_along(range.first[axis], range.last[axis], block.first[axis], block.end[axis], axis)) return false;
    }
    return true;
  }

  /// Calls f(rank) once for each rank whose block meets the range, in ascending order.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_rank(const cell_range<D>& range, F&& f) const {
    // Each cut halves the ranks, so this suffices for 2^31 of them.
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
  /// Whether [first, last] meets [begin, end). The first range is unwrapped along a periodic axis, and not longer than
  /// it.
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
  /// A view of this object's host memory; valid as long as the object.
  [[nodiscard]] decomposition_view<D> view() const { return {cuts.data(), blocks.data(), cells, periodic, ranks()}; }
};

/// Blocks of nearly equal volume, always cut across the longest axis. The same on every rank, without communication.
/// Throws argument_error for no ranks, and for a folded grid.
template <typename T, int D>
[[nodiscard]] decomposition<D> even_decomposition(const grid<T, D>& space, int ranks);

/// Blocks of nearly equal weight. Recursive bisection cuts each part across its longest occupied axis, by the number of
/// points, or the sum of their weights, in layers of cells (in groups of layers if there are more than 2,048). Each
/// rank gives any points of its own; `weights`, one per point, may be nullptr. Points outside, or not finite, count in
/// the cell of grid::unfolded_cell_of. Ranks may get empty blocks if there are few layers. Waits. Allocates.
/// Collective. Throws argument_error as even_decomposition.
///
/// Determinism: sums are exact: the result does not depend on which rank holds which points.
template <typename Context, typename T, int D>
[[nodiscard]] decomposition<D> balanced_decomposition(const Context& context, communicator& ranks,
                                                      const grid<T, D>& space, const points_view<T, D>& points,
                                                      const std::uint32_t* weights = nullptr);

/// A decomposition in the memory of a context.
template <typename Context, int D>
class device_decomposition {
 public:
  device_decomposition() = default;
  /// Copies the decomposition. Waits.
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

/// owners[i] = the rank that owns the cell of point i. Does not wait. Allocates nothing. Points that are not finite, or
/// outside an open axis, are no error: some rank owns them.
template <typename Context, typename T, int D>
void find_owners(const Context& context, const decomposition_view<D>& shares, const grid<T, D>& space,
                 const points_view<T, D>& points, std::uint32_t* owners);

}  // namespace quadrat
