// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

/// Clusters of points. Two points are linked if the squared length of points[j] + S . vectors - points[i] is strictly
/// less than the square of the cutoff, for some integer vector S that is zero along open axes.
///
/// A core point has at least `min_points` points within the cutoff, itself included. Core points that are
/// linked belong to one cluster. A point that is not a core point but is linked to one is a border point. It belongs to
/// the cluster with the smallest label among the core points that it is linked to. All others are noise.
///
/// - min_points = 1: friends-of-friends. Every point is a core point and belongs to a cluster, if only its own.
/// - min_points > 1: DBSCAN (M. Ester et al., *A Density-Based Algorithm for Discovering Clusters*, 1996), with the
///   labels of scikit-learn's DBSCAN(eps, min_samples), which links points at exactly `eps` as well.
namespace quadrat {

template <typename T>
struct cluster_options {
  T cutoff = T(0);               ///< points nearer than this are linked; astronomers call it the linking length
  std::uint32_t min_points = 1;  ///< points within the cutoff of a core point, itself included
  /// Accepts points outside the box along open axes, anywhere.
  bool accept_outside = false;
};

/// The label of points that belong to no cluster.
inline constexpr std::int32_t noise_label = -1;

/// Clusters in the memory of the finder's context. Labels count from 0, in the order of the smallest index of a core
/// point in each cluster. Valid until the next call of `find`.
struct cluster_view {
  std::size_t points;
  const std::int32_t* labels;  ///< by point: the label of its cluster, or noise_label
  std::size_t clusters;
  const std::uint32_t* sizes;  ///< by label: the points of the cluster, border points included
};

/// The points of each cluster in the memory of the finder's context: those with label k are points[offsets[k]] up to
/// points[offsets[k + 1]], by increasing index, border points included. Noise is in no row. Valid until the next call
/// of `find`.
struct cluster_members {
  std::size_t clusters;
  const std::uint32_t* offsets;  ///< clusters + 1 of them, from 0 to the number of points in clusters
  const particle_id* points;
};

/// What a catalog says of a cluster.
template <typename T, int D>
struct cluster_group {
  std::int32_t label;
  std::uint32_t size;   ///< points, border points included
  particle_id central;  ///< a point of the cluster, see cluster_catalog_options
  vec<T, D> center;     ///< as cluster_finder::centers gives it
  vec<T, D> velocity;   ///< the mean; 0 if no velocities are given
  /// The tensor of inertia about the center for points of mass 1: the sum over the points of r^2 delta_ab - r_a r_b,
  /// for the vectors r from the center to the images that make up the center.
  vec<vec<T, D>, D> inertia;
};

/// Arrays by point are in the order of the points and in the memory of the finder's context. They are read during the
/// call. Those that are left out are not needed.
template <typename T, int D>
struct cluster_catalog_options {
  std::uint32_t least_size = 1;    ///< smaller clusters are left out
  bool by_size = false;            ///< the largest first, equal ones by label; otherwise by label
  points_view<T, D> velocities{};  ///< one for each point
  /// By point. The central point of a cluster is that of the least potential, the most bound one. NaN counts as larger
  /// than all numbers, and of equal ones the least index is taken.
  const T* potentials = nullptr;
  /// Instead of potentials: the central point is that of the largest density. Without both it is the one nearest to the
  /// center.
  const T* densities = nullptr;
};

/// A catalog in the memory of the finder's context. Valid until the next call of `find` or `catalog`.
template <typename T, int D>
struct cluster_catalog {
  std::size_t count;
  const cluster_group<T, D>* groups;
  std::size_t points;
  const std::int32_t* rows;  ///< by point: the place of its cluster among the groups; noise_label if it is in none
};

/// Finds clusters, as often as points move. Move-only. T: float or double; D: 2 or 3; Context: cpu_context or
/// cuda_context. A call with as many points as an earlier one allocates nothing, unless it finds more clusters or
/// denser points.
///
/// Points are sorted by parts of cells whose points are all linked. A forest over these parts is united by atomic
/// hooking with pointer jumping (J. Jaiganesh, M. Burtscher, *A High-Performance Connected Components Implementation
/// for GPUs*, 2018; A. Prokopenko, D. Lebrun-Grandie, D. Arndt, *Fast Tree-Based Algorithms for DBSCAN on GPUs*, 2023).
/// It makes no list of neighbors, so memory is proportional to the points (65 to 85 bytes for each in float and 3D). If
/// many points share a cell, a tree of bounding boxes skips points that are too far away to be linked. Cells of large
/// boxes share buckets by hashing, so that time follows the number of points, wherever they are.
///
/// Determinism: labels and sizes are the same in every run and with any number of threads. CPU and GPU may disagree
/// about points whose distance rounds to the cutoff.
template <typename Context, typename T, int D>
class cluster_finder {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Throws argument_error for a cutoff whose square is not positive and finite, or that exceeds half the
  /// height of the box along a periodic axis, and if min_points is 0.
  cluster_finder(const Context& context, const lattice<T, D>& box, const cluster_options<T>& options);
  /// For points of several systems, with one box per system.
  cluster_finder(const Context& context, const std::vector<lattice<T, D>>& boxes, const cluster_options<T>& options);

  /// Finds the clusters of these points, which are in the memory of the context, as is the system of each, in any
  /// order; nullptr: there is one. Points of different systems are not linked, and a system may be empty; labels are
  /// those of all systems together. Waits. May allocate. Throws argument_error for invalid input visible to the host,
  /// data_error naming the first point that is not finite, is outside the box along an open axis (along a periodic
  /// axis, more than 2^20 boxes away) or belongs to a system that does not exist. There is no result after an
  /// exception.
  void find(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr);

  /// The same. Does not wait. Allocates nothing. Can be captured in a CUDA graph, which reads the points' array at each
  /// launch, and that of their systems. Throws argument_error for another number of points than the last `find` and
  /// `reserve` have made room for. Systems are searched in the cells that the last `find` cut for as many points of
  /// each; other numbers of points in a system cost time only.
  /// `check` reports other errors; with `cpu_context` this call itself throws. Labels and sizes are written to the
  /// arrays of the last view, for kernels in the stream; the host knows their number after `check`.
  void find_async(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr);

  /// Makes room for find_async with as many points as the last call of `find`, and for this many clusters. Waits after
  /// find_async. May allocate. If there was less room for clusters, there is no result until the next call of find.
  /// Throws argument_error before `find`.
  void reserve(std::size_t clusters);

  /// Waits after find_async. Allocates nothing. Throws the error of the last call of find or find_async, or of the last
  /// replay of a graph with one, at every call until the next one: also overflow_error if there are more clusters than
  /// there is room for, with their number.
  void check();

  /// Throws argument_error if there is no result: nothing has been found yet, the last call failed, or `check` has not
  /// been called since find_async.
  [[nodiscard]] cluster_view view() const;

  /// The points of each cluster. Waits. The first call after `find` sorts them, and allocates if they are more than
  /// before. Deterministic. Throws argument_error where `view` does.
  [[nodiscard]] cluster_members members();

  /// The mean position of the points of each cluster, by label, in the box, in the memory of the context; valid until
  /// the next call of `find`. The first call after `find` computes them in double precision, with `members`; it
  /// waits and may allocate. The same bits in every run and with any number of threads. Throws argument_error
  /// where `view` does.
  ///
  /// Along a periodic axis, each point is taken in the image nearest to the mean on the axis as a circle (L. Bai, D.
  /// Breen, *Calculating Center of Mass in an Unbounded 2D Environment*, 2008). So this is the center of the unwrapped
  /// cluster if that extends less than half a box from the mean, as every cluster shorter than half a box does. A
  /// cluster that spans the periodic box has no definite center.
  [[nodiscard]] const vec<T, D>* centers();

  /// A record for each cluster: its size, center, mean velocity, central point and tensor of inertia, summed in double
  /// precision. Computes members and centers where they have not been yet. Waits. May allocate. The same bits in every
  /// run and with any number of threads. Throws argument_error where `view` does, for another number of velocities than
  /// points, and for both potentials and densities.
  [[nodiscard]] cluster_catalog<T, D> catalog(const cluster_catalog_options<T, D>& options = {});

  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const cluster_options<T>& options() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
