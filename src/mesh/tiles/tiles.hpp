// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include "mesh/cost.hpp"
#include "mesh/tiles/cpu/cost.hpp"
#include "mesh/tiles/cpu/engine.hpp"
#include "mesh/tiles/cuda/engine.hpp"
#include "mesh/tiles/cuda/grid.hpp"
#include "mesh/tiles/cuda/plan.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

struct tiles_method {
  static constexpr std::string_view name = "tiles";
  static constexpr std::string_view summary = "points sorted by tile, footprints added up in a tile before the mesh";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::run_to_run;
  static bool sets_points_async(const spread_request& /*request*/) { return true; }
  static method_cost cost(const spread_request& request) {
    return request.cuda ? cuda_cost(request) : cpu_tiles_cost(request);
  }
  template <typename Context, typename T>
  using engine = std::conditional_t<std::is_same_v<Context, cpu_context>, cpu_tiles_engine<T>, cuda_tiles_engine<T>>;

 private:
  /// A GPU adds up points by matrix products over cubes of the mesh; for few points, each mesh point collects the
  /// points near it; otherwise a group of threads takes the points of a tile, in order if sums must be repeatable.
  static method_cost cuda_cost(const spread_request& request) {
    const double density = request.points / request.nodes;
    const bool flat = request.dimension < 3, ordered = request.level != determinism::none;
    const double products =
        flat || ordered ? std::numeric_limits<double>::infinity() : least_cube_products(request.width, density);
    const bool cubes = std::isfinite(products);
    const bool few =
        is_sparse(density) || request.width > tile_patch || (!flat && is_long_footprint(request.width, density));
    const bool collects = !cubes && few, adds = !cubes && !few;
    const auto where = [](bool here, double amount) { return here ? amount : 0; };
    // Other warps take further points.
    constexpr double most_collected = 1e-6 * least_crowd_share;
    const double nodes = 1e-6 * request.nodes, points = request.megapoints(), sums = request.contributions();
    method_cost cost;
    cost.once("start", cost_unit::launch, 1);
    cost.once("ordered", cost_unit::launch, where(ordered, 1));
    cost.once("points", cost_unit::step, points);
    cost.once("ordered_points", cost_unit::step, where(ordered, points));
    cost.once("mesh", cost_unit::step, nodes);
    cost.once("flat", cost_unit::step, where(collects && flat, nodes * request.width));
    cost.once("occupancy", cost_unit::step, request.occupancy());
    // The mesh is zeroed before, unless its points collect.
    const bool patches_collect = collects && !flat;
    cost.each("start", cost_unit::launch, where(!patches_collect, 1));
    cost.each("mesh", cost_unit::byte, where(!patches_collect, 1e-6 * request.bytes));
    cost.each("points", cost_unit::step, points);
    cost.each("cubes", cost_unit::step, where(cubes, points * products));
    cost.each("collect_start", cost_unit::launch, where(patches_collect, 1));
    cost.each("collect", cost_unit::step, where(patches_collect, nodes));
    // Pairs of points and the patches they reach. Each costs the products of a whole patch.
    const double patches = std::pow((request.width + tile_patch - 1.0) / tile_patch, 3);
    cost.each("pairs", cost_unit::step, where(patches_collect, points * patches));
    cost.each("shares", cost_unit::step, where(patches_collect, std::min(request.occupancy(), most_collected)));
    cost.each("flat", cost_unit::step, where(collects && flat, nodes * request.width));
    cost.each("flat_points", cost_unit::step, where(collects && flat, points));
    cost.each("work", cost_unit::step, where(adds && !flat && !ordered, sums));
    cost.each("flat_work", cost_unit::step, where(adds && flat && !ordered, sums));
    cost.each("ordered", cost_unit::step, where(adds && !flat && ordered, sums));
    cost.each("flat_ordered", cost_unit::step, where(adds && flat && ordered, sums));
    cost.each("occupancy", cost_unit::step, where(adds && !flat && !ordered, request.occupancy()));
    cost.each("tile_contributions", cost_unit::step, where(adds && !flat && !ordered, request.tile_contributions()));
    // A thread adds up the sums of all units of a tile.
    const double units = 1e3 * request.fullest_tile() / (2 * unit_points_of(request.points));
    cost.each("units", cost_unit::step, where(adds && !flat && ordered, units));
    return cost.holds(tiled_point_bytes(request));
  }
};

}  // namespace quadrat::detail
