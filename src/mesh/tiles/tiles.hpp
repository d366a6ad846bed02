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
  static method_cost cost(const spread_request& request) {
    if (!request.cuda) return cpu_tiles_cost(request);
    const double density = request.points / request.nodes;
    const double products = request.dimension == 3 && request.level == determinism::none
                                ? least_cube_products(request.width, density)
                                : std::numeric_limits<double>::infinity();
    const bool cubes = std::isfinite(products);
    // Where points are few, each mesh point collects what is near it.
    const bool collects = !cubes && (density < 0.1 || request.width > tile_patch);
    spread_request here = request;
    if (cubes) here.footprint = 0;
    const bool flat = request.dimension < 3;  // patches are then other ones
    const bool ordered = request.level != determinism::none;
    // What more points a mesh point collects, other warps take over.
    constexpr double most_collected = 512e-6;
    return tiles_cost(here)
        .each("fullest", cost_unit::step, collects ? 0 : here.fullest())
        .each("shares", cost_unit::step, collects ? std::min(request.fullest_tile(), most_collected) : 0)
        .each("ordered", cost_unit::step, ordered && !collects ? request.contributions() : 0)
        .each("collect", cost_unit::step, collects && !flat ? 1e-6 * request.nodes : 0)
        .each("collect_flat", cost_unit::step, collects && flat ? 1e-6 * request.nodes : 0)
        .each("collected", cost_unit::step, collects && !flat ? request.contributions() : 0)
        .each("collected_flat", cost_unit::step, collects && flat ? request.contributions() : 0)
        .each("cubes", cost_unit::step, cubes ? request.megapoints() * products : 0);
  }
  template <typename Context, typename T>
  using engine = std::conditional_t<std::is_same_v<Context, cpu_context>, cpu_tiles_engine<T>, cuda_tiles_engine<T>>;
};

}  // namespace quadrat::detail
