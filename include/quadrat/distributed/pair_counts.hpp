// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/search/pair_counts.hpp"

namespace quadrat {

/// Pairs in bins over the points of all ranks, as pair_counts counts them on one rank. Each rank gives its own points
/// and receives copies (ghosts) of those of others within the largest separation. It counts the pairs of its own
/// points, and those with ghosts. What is added up over ranks are integers.
///
/// All calls are collective. Determinism: results have the bits of one rank that has all points, whatever the
/// decomposition, on one kind of device. Move-only. T: float or double; D: 3.
template <typename Context, typename T, int D>
class distributed_pair_counts {
  static_assert(detail::instance<Context, T, D>::exists && D == 3);

 public:
  /// `space`: the grid of the decomposition; its box is that of the points. For theta it is any grid that is open along
  /// all axes, such as one of the cube from -1 to 1. The communicator must outlive this. Throws what pair_counts
  /// throws, on all ranks.
  distributed_pair_counts(const Context& context, communicator& ranks, const grid<T, D>& space,
                          const pair_counts_options& options);
  /// In a box of any shape, for calls without a decomposition. For theta it is open along all vectors.
  distributed_pair_counts(const Context& context, communicator& ranks, const lattice<T, D>& box,
                          const pair_counts_options& options);

  /// The pairs of the points of all ranks; the same result on every rank. `points`: those of this rank, each in a cell
  /// of its block. `weights`: one per point, on all ranks that have points or on none. `regions`: as in pair_counts.
  /// All are in the memory of the context. Waits. May allocate. Throws on all ranks what pair_counts::count throws,
  /// argument_error for a decomposition of another grid or other ranks, and data_error for a point in a cell of another
  /// rank.
  [[nodiscard]] pair_counts_result count(const decomposition<D>& shares, const points_view<T, D>& points,
                                         const T* weights = nullptr, const std::uint32_t* regions = nullptr);
  /// The pairs of each point of one set with each of another, each over all ranks. Waits. May allocate. Throws as
  /// `count`, and argument_error if only one of the sets has weights.
  [[nodiscard]] pair_counts_result count_between(const decomposition<D>& shares, const points_view<T, D>& points,
                                                 const points_view<T, D>& others, const T* weights = nullptr,
                                                 const T* other_weights = nullptr,
                                                 const std::uint32_t* regions = nullptr,
                                                 const std::uint32_t* other_regions = nullptr);

  /// The same, where ranks may have any points, or none. Ghosts are the points near the bounding box of a rank's
  /// points, along the vectors of the box: let each have the points of a block of space. Wait. May allocate. Throw on
  /// all ranks what pair_counts::count throws.
  [[nodiscard]] pair_counts_result count(const points_view<T, D>& points, const T* weights = nullptr,
                                         const std::uint32_t* regions = nullptr);
  [[nodiscard]] pair_counts_result count_between(const points_view<T, D>& points, const points_view<T, D>& others,
                                                 const T* weights = nullptr, const T* other_weights = nullptr,
                                                 const std::uint32_t* regions = nullptr,
                                                 const std::uint32_t* other_regions = nullptr);

  /// The number of ghosts in the last call.
  [[nodiscard]] std::size_t ghosts() const;
  [[nodiscard]] const pair_counts_options& options() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
