// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/search/nearest_neighbors.hpp"

namespace quadrat {

/// Rows of k neighbors in the memory of the context. Row i belongs to point (or query) i of this rank. Valid until the
/// next build or search.
template <typename T, int D>
struct distributed_nearest_view {
  std::size_t rows;
  std::size_t k;
  /// rows x k: numbers from 0 of the points of all ranks, in order of rank and then of their memory. A row with fewer
  /// neighbors ends with -1 at an infinite distance, and S = 0.
  const std::int64_t* neighbors;
  const T* squared_distances;  ///< rows x k, ascending in each row
  const vec<int, D>* shifts;   ///< rows x k; nullptr if not requested
};

/// Nearest neighbors among the points of all ranks: those that nearest_neighbors finds among all points in order of
/// rank.
///
/// Each rank first finds the nearest of its own points. A point or query then travels to the ranks whose points, by
/// their bounding box, may be nearer than its last neighbor, however far away they are. These answer with their nearest
/// points. Ranks may have any points, or none. What they send grows with the points near the points of others: let
/// each have the points of a block of space (migration).
///
/// All calls are collective. Determinism: neighbors and distances have the bits of one rank on one kind of device.
/// Move-only. T: float or double; D: 2 or 3.
template <typename Context, typename T, int D>
class distributed_nearest_neighbors {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// The communicator must outlive this. Throws on all ranks what nearest_neighbors throws.
  distributed_nearest_neighbors(const Context& context, communicator& ranks, const lattice<T, D>& box,
                                const nearest_options<T>& options);
  distributed_nearest_neighbors(const Context& context, communicator& ranks, const box<T, D>& domain,
                                const nearest_options<T>& options)
      : distributed_nearest_neighbors(context, ranks, make_lattice(domain), options) {}

  /// Sets the points of this rank, which are copied. Waits. May allocate. Throws on all ranks what
  /// nearest_neighbors::build throws; then nothing is built.
  void build(const points_view<T, D>& points);

  /// Finds the neighbors of the points of this rank. Waits. May allocate. Throws argument_error on all ranks if nothing
  /// is built.
  void search();
  /// Finds the points nearest to the queries of this rank, which may be anywhere. A query is not one of the points.
  /// Waits. May allocate. Throws on all ranks what nearest_neighbors::search throws.
  void search(const points_view<T, D>& queries);

  /// The result of the last search. Throws argument_error if there has been none since the last build.
  [[nodiscard]] distributed_nearest_view<T, D> view() const;
  /// The number of points or queries that this rank sent in the last search: once for each rank that was asked.
  [[nodiscard]] std::size_t sent() const;
  [[nodiscard]] const nearest_options<T>& options() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
