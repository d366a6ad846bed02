// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

/// Nearest neighbors: for each point, or each query, the k points nearest to it, images in periodic boxes included. A
/// neighbor of i is (j, S) with the vector points[j] + S . vectors - points[i], as in a neighbor list; S is zero along
/// open axes. Neighbors are in order of squared distance, then j, then S: a total order, so that results are the same
/// in every run, with every number of threads. In a strongly sheared box S is in units of its vectors, but ties are
/// ordered by S in the shortest vectors with the same images, which are searched.
namespace quadrat {

/// The largest k.
inline constexpr std::size_t most_nearest_neighbors = 64;

template <typename T>
struct nearest_options {
  std::size_t k = 1;  ///< neighbors, 1 to most_nearest_neighbors
  /// Only neighbors strictly nearer than this.
  T cutoff = std::numeric_limits<T>::infinity();
  /// Whether (i, i, 0) is a neighbor in a search without queries. Other images of i always are.
  bool include_self = false;
  bool shifts = false;  ///< S
};

/// Rows of k neighbors in the memory of the context. Row i belongs to point (or query) i; indices, from 0, are those of
/// the caller's points. A row with fewer neighbors ends with no_particle at an infinite distance, and S = 0. Valid
/// until the next search or build.
template <typename T, int D>
struct nearest_view {
  std::size_t rows;
  std::size_t k;
  const particle_id* neighbors;  ///< rows x k
  const T* squared_distances;    ///< rows x k, ascending in each row
  const vec<int, D>* shifts;     ///< rows x k; nullptr if not requested
};

/// Finds the nearest neighbors of points and of queries. Move-only. T: float or double; D: 2 or 3; Context: cpu_context
/// or cuda_context. `build` copies the points; then search as often as you like. Builds and searches of the same size
/// as earlier ones allocate nothing.
///
/// Axes are open or periodic in any mixture, the box orthorhombic or triclinic. Points and queries may lie anywhere
/// along open axes, where the size of the box does not matter, and up to 2^20 boxes outside along periodic ones. A
/// point whose squared distance overflows T is not a neighbor. The time follows the number of points, wherever they
/// are: outliers, clusters, equal points and empty space do not increase it.
///
/// Determinism: always the same bits. CPU and GPU may differ in the rounding of distances.
template <typename Context, typename T, int D>
class nearest_neighbors {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Throws argument_error for a k out of range, a cutoff that is not positive, a box in which the nearest images may
  /// be more than 500 vectors away (it is very flat, or its vectors are sheared by more than 300 others), or one with
  /// an open vector that is not perpendicular to the periodic ones.
  nearest_neighbors(const Context& context, const lattice<T, D>& box, const nearest_options<T>& options);
  /// For points of several systems, with one box per system. With a finite cutoff: the nearest entries of a neighbor
  /// list of all systems, which needs memory for all pairs nearer than that. Boxes and cutoffs are those of neighbor
  /// lists; what is equally far away is in the order of j, then of S in the given box. Without a cutoff: all small
  /// systems at once, and a search for each large one, with the results of searches of each system alone; build_async
  /// and search_async refuse this with an argument_error. Throws argument_error for a k out of range, for a cutoff that
  /// is not positive, and without one for boxes as above.
  nearest_neighbors(const Context& context, const std::vector<lattice<T, D>>& boxes, const nearest_options<T>& options);

  /// Sets the points among which neighbors are found, and the system of each, in any order; nullptr: there is one. A
  /// system may be empty. Waits. May allocate. Throws argument_error for invalid input visible to the host, and
  /// data_error naming the first point that is not finite, is too far outside a periodic box or belongs to a system
  /// that does not exist; then nothing is built.
  void build(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr);
  /// The same in the memory of earlier builds. Does not wait. Allocates nothing. Can be captured in a CUDA graph, which
  /// reads the points' array at each launch. Uses the kind of order that the last `build` chose, for crowds or not,
  /// which affects only the time of searches. Throws argument_error, and keeps the points, for more points than there
  /// is room for. `check` reports invalid points; with `cpu_context` this call itself throws.
  void build_async(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr);

  /// Finds the neighbors of the points of the last build. Waits. May allocate. Throws argument_error if nothing is
  /// built, and what `check` throws.
  void search();
  /// Finds the points nearest to these queries, each in its system. A query is not one of the points. Waits. May
  /// allocate. Throws data_error naming the first query that is not finite or too far outside a periodic box, or whose
  /// system does not exist.
  void search(const points_view<T, D>& queries, const std::uint32_t* system_of_query = nullptr);
  /// The same. Does not wait. Allocates nothing. Can be captured in a CUDA graph, which reads the queries' array at
  /// each launch. Throws argument_error if `search` has not found as many rows before; in several systems, for the last
  /// search, of points or of queries. `check` reports invalid queries, and more pairs in several systems than there is
  /// room for; with `cpu_context` this call itself throws.
  void search_async();
  void search_async(const points_view<T, D>& queries, const std::uint32_t* system_of_query = nullptr);

  /// Waits after calls that do not. Allocates nothing. Throws the error of the last build or search, or of the last
  /// replay of a graph with them, at every call until the next one.
  void check();

  /// The result of the last search; after search_async for kernels in the stream, or for the host after `check`. Throws
  /// argument_error if there has been no search since the last build.
  [[nodiscard]] nearest_view<T, D> view() const;
  /// Points of the last build.
  [[nodiscard]] std::size_t point_count() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const nearest_options<T>& options() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
