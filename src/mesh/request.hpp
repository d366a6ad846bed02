// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mesh/engine.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "tune/point_sample.hpp"

/// What the descriptors of methods are asked, and how a request is made.
namespace quadrat::detail {

/// Mesh points along each edge of a tile of the sample, by dimension: some hundreds in all.
inline constexpr std::array<int, 4> tile_edges{1, 1024, 32, 8};

/// A plan as the choice sees it. The descriptor of a method computes the expected cost from it.
struct spread_request {
  bool cuda;
  determinism level;
  double points;
  double nodes;
  double bytes;       ///< of the mesh
  double work;        ///< contributions, in units of those of a point of order 6 in three dimensions
  double uses;        ///< calls of spread per set of points
  int width;          ///< of the window, in mesh points
  int threads = 1;    ///< of the CPU
  int dimension = 3;  ///< of the mesh, axes with one mesh point left out
  double row = 6;     ///< mesh points of a footprint along the last axis
  double footprint = 216;
  double free_bytes = 1e300;
  point_sample sample{};      ///< by tiles
  bool asynchronous = false;  ///< points must be set asynchronously
  bool periodic = true;       ///< along all axes
  double reached = 0;         ///< the most points that reach one mesh point; 0: not sampled

  /// Takes the sample of `other` if it has a similar number of points. Returns whether it does.
  [[nodiscard]] bool take_sample_of(const spread_request& other) {
    const double ratio = points / other.points;
    if (other.sample.seen == 0 || !is_about_one(ratio)) return false;
    sample = other.sample.of_as_many(ratio);
    reached = other.reached * ratio;
    return true;
  }
  /// The amount per thread. A GPU counts as one.
  [[nodiscard]] double share(double amount) const { return cuda ? amount : amount / threads; }
  /// The request for CPU loops that start threads for this many points or more.
  [[nodiscard]] spread_request with_team_from(double least) const {
    spread_request alone = *this;
    if (!cuda && points < least) alone.threads = 1;
    return alone;
  }
  /// Starts of threads on a CPU. Each takes as long as thousands of contributions.
  [[nodiscard]] double teams(double loops) const { return !cuda && threads > 1 ? loops : 0; }
  /// `amount` in double precision, else 0: the additional cost of double.
  [[nodiscard]] double wide(double amount) const { return bytes > 6 * nodes ? amount : 0; }
  /// Contributions of all points, in millions.
  [[nodiscard]] double contributions() const { return 1e-6 * points * footprint; }
  [[nodiscard]] double megapoints() const { return 1e-6 * points; }
  /// The fraction of footprints that cross an end of a mesh with equal extents, for evenly distributed points.
  [[nodiscard]] double wrapped() const {
    const double extent = std::pow(nodes, 1.0 / dimension);
    return 1 - std::pow(std::max(0.0, 1 - row / extent), dimension);
  }
  /// Millions of bytes of the mesh, if it does not stay in a CPU's cache.
  [[nodiscard]] double mesh_beyond_cache() const {
    constexpr double cache = 2;
    return 1e-6 * bytes > cache ? 1e-6 * bytes : 0;
  }
  /// The disorder of points in memory: 0 if neighbors are adjacent, 1 as in random order.
  [[nodiscard]] double disorder() const { return sample.distance < 1 ? sample.distance : 1; }
  /// Mesh points of a tile of the sample, and its number of points if they are even.
  [[nodiscard]] double tile_points() const {
    return std::min(nodes, std::pow(tile_edges[static_cast<std::size_t>(dimension)], dimension));
  }
  [[nodiscard]] double evenly_in_tile() const { return points * tile_points() / nodes; }
  /// Millions of points that reach the mesh point that most points reach. Without a sample: the geometric mean of even
  /// points and all points in one place.
  [[nodiscard]] double most_at_a_point() const {
    if (sample.seen > 0 && reached > 0) return 1e-6 * reached;
    return fullest_tile() * std::sqrt(std::min(1.0, footprint / tile_points()));
  }
  /// Millions of points in the fullest tile, which one block or thread adds up. Points not sampled count as somewhat
  /// clustered, so that methods sensitive to clusters are chosen only for sampled points.
  [[nodiscard]] double fullest_tile() const {
    const double unseen = unseen_fullest(evenly_in_tile(), points);
    const double seen = sample.fullest < 1 + sample.occupancy ? sample.occupancy : sample.fullest;
    return 1e-6 * (sample.seen > 0 ? seen : unseen);
  }
  /// Millions of other points in the tile of a point, in excess of even points; points not sampled as above.
  [[nodiscard]] double crowd() const {
    return sample.seen > 0 ? 1e-6 * std::max(0.0, sample.occupancy - evenly_in_tile()) : fullest_tile();
  }
  /// Contributions of the points in the fullest tile.
  [[nodiscard]] double fullest() const { return fullest_tile() * footprint; }
  /// Millions of other points in the tile of a point, and their contributions.
  [[nodiscard]] double occupancy() const { return 1e-6 * (sample.seen > 0 ? sample.occupancy : evenly_in_tile()); }
  [[nodiscard]] double tile_contributions() const { return occupancy() * footprint; }
};

/// Whether a method sets points asynchronously: its set_points depends on the number of points, not on their positions.
/// Its descriptor then has static bool sets_points_async(const spread_request&), which may use what a plan knows: the
/// backend, the level of determinism, the mesh and the window.
template <typename Method>
[[nodiscard]] bool does_set_points_async(const spread_request& request) {
  if constexpr (requires { Method::sets_points_async(request); }) {
    return Method::sets_points_async(request);
  } else {
    return false;
  }
}

/// Cells of a mesh, for a sample, each with `edge` mesh points along an axis; the last ones may have fewer.
template <typename T, int D>
[[nodiscard]] sampled_cells mesh_cells_for_sample(const box<T, D>& domain, const vec<int, D>& mesh, int edge) {
  sampled_cells cells;
  for (int axis = 0; axis < D; ++axis) {
    const auto d = static_cast<std::size_t>(axis);
    cells.extent[d] = static_cast<std::uint32_t>((mesh[axis] + edge - 1) / edge);
    cells.lower[d] = static_cast<double>(domain.lower[axis]);
    cells.scale[d] = mesh[axis] / static_cast<double>(domain.length[axis]) / edge;
    cells.periodic[d] = domain.periodic[axis];
  }
  return cells;
}

/// sample_for costs as much as this many samples, so it pays only for that much more work.
inline constexpr double samples_of_points = 1.9;

/// Samples points by tiles, and by cells as long as a footprint: all points of such a cell reach the mesh point in its
/// middle. Synchronizes.
template <typename Context, typename T, int D>
void sample_for(spread_request& request, const Context& context, const points_view<T, D>& points,
                const box<T, D>& domain, const vec<int, D>& mesh, workspace<Context>& scratch) {
  const std::array<sampled_cells, 2> grids{mesh_cells_for_sample(domain, mesh, tile_edges[D]),
                                           mesh_cells_for_sample(domain, mesh, request.width)};
  const std::vector<point_sample> samples = sample_points(context, points, grids, scratch);
  request.sample = samples[0];
  request.reached = samples[1].fullest;
}

template <typename T>
[[nodiscard]] spread_request request_of(bool cuda, determinism level, const spread_setup<T>& setup, std::size_t count,
                                        int threads = 1) {
  const mesh_shape& shape = setup.shape;
  const auto points = static_cast<double>(count), nodes = static_cast<double>(shape.size());
  const double footprint = shape.footprint_size();
  return {cuda,
          level,
          points,
          nodes,
          nodes * sizeof(T),
          points * footprint / 216,
          setup.options.uses,
          setup.window.width,
          threads,
          3 - shape.first_axis,
          static_cast<double>(shape.width[2]),
          footprint,
          1e300,
          {},
          setup.options.asynchronous,
          all_periodic(shape)};
}

}  // namespace quadrat::detail
