// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "ewald/choice/choice.hpp"
#include "quadrat/core/vec.hpp"
#include "search/cell_walk.hpp"
#include "tune/cost.hpp"

/// The cost of an Ewald sum. Constants: "ewald.sums.*" in a device profile, the same for all methods.
namespace quadrat::detail {

inline constexpr std::string_view ewald_module = "ewald", ewald_cost_name = "sums";

/// The work of one sum, all systems together. Pairs are those within the cutoff, of each charge.
struct ewald_work {
  bool cuda = false;
  bool single_precision = true;
  int threads = 1;  ///< of a CPU
  double points = 0;
  double pairs = 0;
  double mesh_points = 0;  ///< 0: modes are summed directly
  int order = 0;
  double modes = 0;   ///< of one system, if summed directly
  double images = 1;  ///< images of the cell within a charge's cutoff
};

/// With few charges, a GPU does not hide the latency of a walk.
[[nodiscard]] inline double alone(double points, double few) { return 1e-3 * few / (points + few); }

/// GPU threads visit rows of cells and their charges, in one image of the cell after
/// another.
inline void add_walks(method_cost& cost, const ewald_work& work) {
  constexpr double threads = 270000;  // threads resident on a large device
  const double neighbors = work.pairs / work.points, wide = work.single_precision ? 0 : 1;
  const cell_walk walk = best_walk(neighbors, true);
  const double candidates = walk.candidates(neighbors), few = alone(work.points, 30000);
  const double each = few * candidates / walking_threads(work.points, walk.row_candidates(neighbors), threads);
  cost.each("tests", cost_unit::step, 1e-6 * work.points * candidates)
      .each("tests_wide", cost_unit::step, wide * 1e-6 * work.points * candidates)
      .each("rows", cost_unit::step, 1e-6 * work.points * walk.rows)
      .each("walk", cost_unit::step, each)
      .each("walk_wide", cost_unit::step, wide * each)
      .each("walk_rows", cost_unit::step, few * walk.rows)
      .each("walk_rows_wide", cost_unit::step, wide * few * walk.rows)
      .each("images", cost_unit::step, few * work.images)
      .each("images_wide", cost_unit::step, wide * few * work.images);
}

[[nodiscard]] inline method_cost cost_of(const ewald_work& work) {
  const double share = 1e-6 / (work.cuda ? 1 : work.threads), wide = work.single_precision ? 0 : share;
  method_cost cost;
  cost.each("start", cost_unit::launch, 1)
      .each("charges", cost_unit::step, share * work.points)
      .each("charges_wide", cost_unit::step, wide * work.points);
  if (!work.cuda) {
    cost.each("pairs", cost_unit::step, share * work.pairs).each("pairs_wide", cost_unit::step, wide * work.pairs);
  } else if (work.points > 0) {
    add_walks(cost, work);
  }
  if (work.mesh_points == 0) {
    return cost.each("modes", cost_unit::step, share * work.points * work.modes)
        .each("modes_wide", cost_unit::step, wide * work.points * work.modes);
  }
  // The weights of a window cost about as much as 60 more mesh points.
  const double covered = work.points * (work.order * work.order * work.order + 60);
  const double transformed = work.mesh_points * std::log2(work.mesh_points + 2);
  if (work.cuda) {
    const double footprint = std::pow(work.order, 3) * alone(work.points, 20000);
    cost.each("footprint", cost_unit::step, footprint)
        .each("footprint_wide", cost_unit::step, work.single_precision ? 0 : footprint)
        .each("steps", cost_unit::launch, 0.1 * std::log2(work.mesh_points + 2));
  }
  // On a CPU the starts of threads dominate.
  return cost.each("transforms", cost_unit::launch, work.cuda || work.threads > 1 ? 1 : 0)
      .each("binned", cost_unit::step, share * work.points)
      .each("binned_wide", cost_unit::step, wide * work.points)
      .each("weights", cost_unit::step, share * covered)
      .each("weights_wide", cost_unit::step, wide * covered)
      .each("mesh", cost_unit::byte, share * transformed)
      .each("mesh_wide", cost_unit::byte, wide * transformed);
}

/// Images of a cell within a cutoff: along each axis those reached from half of it plus the cutoff.
[[nodiscard]] inline double images_within(const vec<vec<double, 3>, 3>& vectors, double cutoff) {
  double images = 1;
  for (int axis = 0; axis < 3; ++axis) images *= 1 + 2 * cutoff / norm(vectors[axis]);
  return images;
}

/// Expected neighbors of a point over all images, limited by the number of points of a cluster.
[[nodiscard]] inline double expected_neighbors(const charged_system& system, double cutoff) {
  const double mean = 4 * std::numbers::pi / 3 * cutoff * cutoff * cutoff * system.points / system.volume();
  return std::min(mean * system.crowding_within(cutoff), mean + system.points);
}

/// The mean over all points.
[[nodiscard]] inline double mean_neighbors(const std::vector<charged_system>& systems, double cutoff) {
  double pairs = 0, points = 0;
  for (const charged_system& system : systems) {
    pairs += system.points * expected_neighbors(system, cutoff);
    points += system.points;
  }
  return points > 0 ? pairs / points : 0;
}

/// The input of the cost for all systems together.
struct ewald_load {
  choice_place place{};
  bool single_precision = true;
  double points = 0;
  double systems = 0;
  std::vector<charged_system> kinds{};  ///< at most 16 of them
  double weight = 1;                    ///< the number of systems that each represents

  /// `mesh_points`: of one system; direct: modes.
  [[nodiscard]] ewald_work work(bool direct, double cutoff, double mesh_points, int order) const {
    double pairs = 0, images = 0;
    for (const charged_system& kind : kinds) {
      pairs += weight * kind.points * expected_neighbors(kind, cutoff);
      images += images_within(kind.vectors, cutoff) / static_cast<double>(kinds.size());
    }
    return {place.profile->device.cuda,
            single_precision,
            place.threads,
            points,
            pairs,
            direct ? 0 : mesh_points * systems,
            order,
            direct ? mesh_points : 0,
            images};
  }
  /// The expected milliseconds.
  [[nodiscard]] double expected(const ewald_work& work) const {
    return expected_ms(*place.profile, ewald_module, ewald_cost_name, cost_of(work), 1);
  }
};

}  // namespace quadrat::detail
