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
#include "quadrat/search/cluster_finder.hpp"

namespace quadrat {

/// Clusters of the points of all ranks, as one rank sees them. Labels are in the memory of the finder's context. Valid
/// until the next call of `find`.
struct distributed_cluster_view {
  std::size_t points;          ///< of this rank
  const std::int64_t* labels;  ///< by point: the label of its cluster, or noise_label
  std::uint64_t clusters;      ///< of all ranks
};

/// Friends-of-friends and DBSCAN over the points of all ranks. Labels are those that cluster_finder gives the points of
/// all ranks, in order of rank and then of their memory, as 64-bit numbers.
///
/// Each rank gets copies (ghosts) of the points of others within the cutoff, and finds the clusters of what it has.
/// These fragments are united over ranks: each chooses a neighbor and joins it, so that their number at least halves,
/// and trees of choices are flattened by pointer jumping. What ranks send grows with the points near their faces and
/// the fragments there, not with the size of clusters. The number of rounds grows with the logarithm of the number of
/// fragments, also for a chain through all ranks.
///
/// All calls are collective. Determinism: labels are the same in every run, and for every decomposition that leaves the
/// points in the same order, on one kind of device. Move-only. T: float or double; D: 2 or 3.
template <typename Context, typename T, int D>
class distributed_cluster_finder {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// `space`: the grid of the decomposition; its box is that of the points. Several systems are for one rank. The
  /// communicator must outlive this. Throws what cluster_finder throws, on all ranks.
  distributed_cluster_finder(const Context& context, communicator& ranks, const grid<T, D>& space,
                             const cluster_options<T>& options);
  /// In a box of any shape, for `find` without a decomposition.
  distributed_cluster_finder(const Context& context, communicator& ranks, const lattice<T, D>& box,
                             const cluster_options<T>& options);

  /// Finds the clusters. `points`: those of this rank, in the memory of the context, each in a cell of its block.
  /// Waits. May allocate. Throws on all ranks what cluster_finder::find throws, argument_error for a decomposition of
  /// another grid or other ranks, and data_error for a point in a cell of another rank. There is no result after an
  /// exception.
  void find(const decomposition<D>& shares, const points_view<T, D>& points);
  /// The same, where ranks may have any points, or none. Ghosts are the points near the bounding box of a rank's
  /// points, along the vectors of the box: let each have the points of a block of space. Waits. May allocate. Throws on
  /// all ranks what cluster_finder::find throws.
  void find(const points_view<T, D>& points);

  /// Throws argument_error if there is no result: nothing has been found yet, or the last call failed.
  [[nodiscard]] distributed_cluster_view view() const;

  /// Of the last call of `find`: the number of ghosts, of fragments of this rank with links to those of others, and of
  /// rounds in which ranks asked each other.
  [[nodiscard]] std::size_t ghosts() const;
  [[nodiscard]] std::size_t linked_fragments() const;
  [[nodiscard]] int rounds() const;
  [[nodiscard]] const cluster_options<T>& options() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
