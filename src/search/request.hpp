// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "quadrat/search/neighbor_list.hpp"
#include "search/levels/sizes.hpp"
#include "tune/cost.hpp"
#include "tune/point_sample.hpp"

/// The request that the descriptors of methods read.
namespace quadrat::detail {

/// A slot shares a 32-bit word with 5 bits for the image.
inline constexpr std::size_t trimmed_rows_most_points = std::size_t{1} << 27;

/// Cells along a cutoff on the first axis, for the methods with trimmed rows.
inline constexpr int trimmed_cells_along_first_axis = 4;

/// The properties of a search that determine which methods serve it, and which is expected to be fastest.
struct neighbor_request {
  bool cuda;
  std::size_t points;
  bool one_cutoff;        ///< the uniform rule, without queries and excluded pairs
  bool radii = false;     ///< a rule with radii, without queries
  bool excluded = false;  ///< excluded pairs are given
  bool half = false;      ///< each pair once
  int threads = 1;        ///< of the CPU
  int dimension = 3;
  int number_bytes = 4;
  double box_cells = 1;   ///< cubes with the reach as edge that fill the boxes
  point_sample sample{};  ///< by such cubes
  double found = 0;       ///< pairs counted by an earlier list; 0: not known

  /// Whether a choice made for `other` still holds. Samples may differ.
  [[nodiscard]] bool asks_the_same(const neighbor_request& other) const {
    return cuda == other.cuda && points == other.points && one_cutoff == other.one_cutoff && radii == other.radii &&
           excluded == other.excluded && half == other.half && box_cells == other.box_cells;
  }
  /// Whether times measured for `other` predict this one: similar numbers of points in similar boxes.
  [[nodiscard]] bool resembles(const neighbor_request& other) const {
    neighbor_request as_many = *this;
    as_many.points = other.points;
    as_many.box_cells = other.box_cells;
    return as_many.asks_the_same(other) && is_of_size(other) &&
           (points <= trimmed_rows_most_points) == (other.points <= trimmed_rows_most_points);
  }
  /// Takes the sample of `other` if it has a similar number of points in similar boxes. Returns whether it does.
  [[nodiscard]] bool take_sample_of(const neighbor_request& other) {
    if (other.sample.seen == 0 || !is_of_size(other)) return false;
    sample = other.sample.of_as_many(static_cast<double>(points) / static_cast<double>(other.points));
    return true;
  }
  [[nodiscard]] bool is_of_size(const neighbor_request& other) const {
    return is_about_one(static_cast<double>(points) / static_cast<double>(other.points)) &&
           is_about_one(box_cells / other.box_cells);
  }
  /// The amount per thread. A GPU counts as one.
  [[nodiscard]] double share(double amount) const { return cuda ? amount : amount / threads; }
  /// The request for CPU loops that start threads for this many points or more.
  [[nodiscard]] neighbor_request with_team_from(std::size_t least) const {
    neighbor_request alone = *this;
    if (!cuda && points < least) alone.threads = 1;
    return alone;
  }
  [[nodiscard]] double megapoints() const { return 1e-6 * static_cast<double>(points); }
  /// The mean number of points in the cube of a point, itself included.
  [[nodiscard]] double per_cell() const {
    // On a CPU only small sets are not sampled, and they are seldom even.
    constexpr double unseen_occupancy = 2;
    const double even = static_cast<double>(points) / box_cells;
    const double occupancy = 1 + (sample.seen > 0 ? sample.occupancy : (cuda ? 1 : unseen_occupancy) * even);
    // In a crowd smaller than a cube, the neighbors of a point are at most the points of its cube.
    constexpr double doubtful = 1.5;
    return cuda && found > 0 ? std::min(std::max(1.0, 1 + found_neighbors() / ball()), doubtful * occupancy)
                             : occupancy;
  }
  /// Neighbors of a point: the points in a ball, at the density of per_cell() points per cube.
  [[nodiscard]] double neighbors() const { return std::min(ball() * per_cell(), static_cast<double>(points)); }
  /// The volume of a sphere or circle with the reach as radius, in cubes.
  [[nodiscard]] double ball() const { return dimension == 3 ? 4.2 : 3.1; }
  [[nodiscard]] double found_neighbors() const { return found * (half ? 2 : 1) / static_cast<double>(points); }
  /// Millions of pairs of the list.
  [[nodiscard]] double megapairs() const {
    return found > 0 ? 1e-6 * found : megapoints() * neighbors() * (half ? 0.5 : 1.0);
  }
  /// The number of mispredicted branches, in millions, among this many tests: at most the neighbors, or the
  /// others.
  [[nodiscard]] double surprises(double tests) const {
    const double near = megapairs() * (half ? 2.0 : 1.0);
    return std::max(0.0, std::min(near, tests - near));
  }
};

/// Whether every box is orthorhombic, with periodic axes at least `cutoffs` times the reach long.
template <typename T, int D>
[[nodiscard]] bool boxes_hold(const neighbor_options<T>& options, std::span<const lattice<T, D>> boxes, T cutoffs) {
  const T least = cutoffs * (options.cutoff + options.skin);
  for (const lattice<T, D>& shape : boxes) {
    if (!shape.orthorhombic) return false;
    for (int axis = 0; axis < D; ++axis) {
      if (shape.periodic[axis] && least > shape.vectors[axis][axis]) return false;
    }
  }
  return true;
}
/// In boxes this many reaches long, a point has at most one image within reach of another, across either face.
inline constexpr double boxes_of_one_image = 1.1;
/// In boxes this many reaches long, that image is the nearest one.
inline constexpr double boxes_of_nearest_image = 2.001;

/// See unseen_fullest: on CPUs.
inline constexpr double unseen_clustering_of_lists = 8;
/// Assumed crowding of points that were not sampled, relative to even points, where a GPU waits for the longest row.
/// With a larger value, `warps` would be chosen for more than 40,000 even points, where `masks` takes half as long.
inline constexpr double unseen_crowding_of_lists = 1.5;

/// The terms of a search over cells that tests `candidates` cells full of points for each point: starts, points put
/// into cells, candidates, pairs found, the longest row. `lanes`: threads of a GPU that search for one point.
[[nodiscard]] inline method_cost search_cost(const neighbor_request& request, double candidates, double lanes = 1) {
  const double points = request.megapoints();
  const double tests = points * std::min(candidates * request.per_cell(), 1e6 * points);
  const double fullest =
      request.sample.seen > 0
          ? std::max(request.sample.fullest, request.per_cell())
          : unseen_fullest(request.per_cell(), static_cast<double>(request.points), unseen_clustering_of_lists);
  method_cost cost;
  cost.each("start", cost_unit::launch, 1);
  cost.each("points", cost_unit::step, request.share(points));
  cost.each("order", cost_unit::byte, request.share(points * std::min(1.0, request.sample.distance)));
  cost.each("tests", cost_unit::step, request.share(tests));
  cost.each("wide", cost_unit::step, request.number_bytes == 8 ? request.share(tests) : 0);
  cost.each("pairs", cost_unit::byte, request.share(request.megapairs()));
  if (request.cuda) {
    // One thread or warp takes all candidates of a point. If there are more threads than points, the others wait for
    // it. Points not sampled may be crowded.
    constexpr double threads_at_once = 150000;
    const double waiting = std::max(0.0, 1 - lanes * static_cast<double>(request.points) / threads_at_once);
    const double crowded = request.sample.seen > 0 ? 1 : unseen_crowding_of_lists;
    return cost.each("longest", cost_unit::step,
                     waiting * std::min(1e-6 * candidates * crowded * request.per_cell(), points));
  }
  cost.each("fullest", cost_unit::step, 1e-6 * fullest * candidates);
  // Starting threads takes as long as thousands of tests.
  return cost.each("team", cost_unit::launch, request.threads > 1 ? 1 : 0)
      .each("surprises", cost_unit::step, request.share(request.surprises(tests)));
}
/// The points from which cheap loops over points start threads on a CPU (for_each), and from which sweeps do.
inline constexpr std::size_t loops_team_points = 2048, sweeps_team_points = 256;

/// The number of cells within reach of a cell.
[[nodiscard]] inline double cells_around(const neighbor_request& request) { return request.dimension == 3 ? 27 : 9; }

/// Cubes with the reach as edge that fill the boxes.
template <typename T, int D>
[[nodiscard]] double cubes_of_boxes(const neighbor_options<T>& options, std::span<const lattice<T, D>> boxes) {
  double sum = 0;
  for (const lattice<T, D>& shape : boxes) {
    double cubes = 1;
    for (int axis = 0; axis < D; ++axis) {
      const double length = norm(shape.vectors[axis]);
      cubes *= std::max(1.0, length / static_cast<double>(options.cutoff + options.skin));
    }
    sum += cubes;
  }
  return std::max(sum, 1.0);
}

/// `cubes`: those of the input's boxes.
template <typename T, int D>
[[nodiscard]] neighbor_request make_request(bool cuda, const neighbor_options<T>& options,
                                            const neighbor_input<T, D>& input, double cubes) {
  const bool excluded = input.excluded_offsets != nullptr;
  neighbor_request request{cuda, input.points.count,
                           options.rule == cutoff_rule::uniform && !input.queries.has_value() && !excluded,
                           has_radii(options.rule) && !input.queries.has_value(), excluded};
  request.half = options.pairs == neighbor_pairs::half;
  request.dimension = D;
  request.number_bytes = sizeof(T);
  request.box_cells = cubes;
  return request;
}

/// Shared by the methods with trimmed rows.
struct trimmed_rows_method {
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr std::string_view served =
      "the uniform rule, without queries or excluded pairs, and at most 134217728 points";
  [[nodiscard]] static bool serves(const neighbor_request& request) {
    return request.one_cutoff && request.points <= trimmed_rows_most_points;
  }
};

}  // namespace quadrat::detail
