// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/cost.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/particle/threads.hpp"
#include "mesh/tiles/tiles.hpp"
#include "tune/choice.hpp"

namespace quadrat::detail {

namespace {

[[nodiscard]] double footprint_of(const transform_load& load) { return std::pow(load.width, load.dimension); }

/// Butterflies of the fast transform, in millions.
[[nodiscard]] double butterflies_of(const transform_load& load) {
  return 1e-6 * load.nodes * std::log2(load.nodes + 2) * load.components;
}

[[nodiscard]] method_cost cpu_transform_cost(const transform_load& load) {
  const double share = 1.0 / load.threads, wide = load.single ? 0 : 1, points = 1e-6 * load.points;
  const bool broad = load.width > most_narrow_window;
  // Each row of a footprint costs as much as three more contributions.
  const double covered = footprint_of(load) * (load.width + 3) / load.width * load.components;
  const double sums = share * points * covered, butterflies = share * butterflies_of(load);
  return method_cost()
      .each("start", cost_unit::launch, 1)
      .each("points", cost_unit::step, share * points * load.dimension)
      .each("sums", cost_unit::step, broad ? 0 : sums)
      .each("sums_wide", cost_unit::step, broad ? 0 : wide * sums)
      .each("broad", cost_unit::step, broad ? sums : 0)
      .each("broad_wide", cost_unit::step, broad ? wide * sums : 0)
      .each("mesh", cost_unit::byte, butterflies)
      .each("mesh_wide", cost_unit::byte, wide * butterflies);
}

/// The methods by which a GPU spreads and interpolates, and their work.
struct cuda_methods {
  bool broad, scattered, cubes, flat, deep, tiles, collects;
  double products;

  explicit cuda_methods(const transform_load& load) {
    const double density = load.points / load.nodes;
    products = load.dimension == 3 ? least_cube_products(load.width, density) : HUGE_VAL;
    broad = load.width > most_narrow_window;
    scattered = broad ? few_points_method_of(load) == few_points_method::threads : !load.tiled;
    cubes = !scattered && std::isfinite(products);
    flat = broad && !scattered && load.dimension < 3;
    deep = broad && !scattered && !flat && !cubes;
    tiles = !broad && !scattered;
    // As in plan_tiles: patches of the mesh collect points if there are few.
    collects = deep || (load.dimension == 3 && tiles && !cubes && density < 0.1);
  }
};

/// Points sorted by tile take the same time with all narrow windows, because their contributions are matrix products or
/// wait for the points. Other points are added by atomic operations, which are serialized if many points reach a mesh
/// point. With few points, the latency of one footprint is not hidden.
[[nodiscard]] method_cost cuda_transform_cost(const transform_load& load) {
  const cuda_methods methods(load);
  const auto where = [](bool here, double amount) { return here ? amount : 0; };
  const double wide = load.single ? 0 : 1, points = 1e-6 * load.points, footprint = footprint_of(load);
  const double sums = points * footprint * load.components;
  constexpr double few = 20000;
  const double walk = 1e-3 * footprint * few / (load.points + few);
  const double reached = 1e-3 * std::min(load.points, load.points / load.nodes * footprint) * load.components;
  const double collected = where(methods.collects, 1e-6 * load.nodes);
  const double patches = std::pow((load.width + tile_patch - 1.0) / tile_patch, 3);
  const double pairs = where(methods.collects, points * patches * load.components);
  const double butterflies = butterflies_of(load), complex = where(load.components == 2, butterflies);
  const double real = butterflies - complex;
  return method_cost()
      .each("start", cost_unit::launch, 1)
      .each("steps", cost_unit::launch, 0.1 * std::log2(load.nodes + 2))
      .each("tiles", cost_unit::launch, where(methods.tiles, 1))
      .each("tiles_reached", cost_unit::step, where(methods.tiles && !methods.cubes && !methods.collects, reached))
      .each("points", cost_unit::step, points * load.dimension)
      .each("points_wide", cost_unit::step, wide * points * load.dimension)
      .each("sums", cost_unit::step, where(methods.scattered, sums))
      .each("sums_wide", cost_unit::step, where(methods.scattered, wide * sums))
      .each("reached", cost_unit::step, where(methods.scattered, reached))
      .each("walk", cost_unit::step, where(methods.scattered, walk))
      .each("broad", cost_unit::step, where(methods.flat, sums))
      .each("broad_reached", cost_unit::step, where(methods.flat, reached))
      .each("deep_start", cost_unit::launch, where(methods.deep, 1))
      .each("cubes_start", cost_unit::launch, where(methods.cubes, 1))
      .each("cubes", cost_unit::step, methods.cubes ? points * methods.products * load.components : 0)
      .each("cubes_reached", cost_unit::step, where(methods.cubes, reached))
      .each("collect", cost_unit::step, collected)
      .each("collect_wide", cost_unit::step, wide * collected)
      .each("pairs", cost_unit::step, pairs)
      .each("pairs_wide", cost_unit::step, wide * pairs)
      .each("mesh", cost_unit::byte, complex)
      .each("mesh_wide", cost_unit::byte, wide * complex)
      .each("real_mesh", cost_unit::byte, real)
      .each("real_mesh_wide", cost_unit::byte, wide * real);
}

}  // namespace

few_points_method few_points_method_of(const transform_load& load) {
  constexpr double few = 1e5, few_of_flat = 2e4, few_contributions = 1e6;
  if (!load.cuda || load.width <= most_narrow_window) return few_points_method::none;
  if (load.dimension < 3) return load.points < few_of_flat ? few_points_method::threads : few_points_method::none;
  if (load.points * footprint_of(load) * load.components < few_contributions) return few_points_method::threads;
  return load.points < few ? few_points_method::tiles : few_points_method::none;
}

bool sorts_points(const transform_load& load, const device_profile& profile) {
  if (!load.cuda) return false;
  spread_request request{};
  request.cuda = true;
  request.level = determinism::none;
  request.points = load.points;
  request.nodes = load.nodes;
  request.bytes = load.nodes * (load.single ? 4 : 8);
  request.work = load.points * footprint_of(load) / 216;
  request.uses = 1;
  request.width = load.width;
  request.dimension = load.dimension;
  request.row = load.width;
  request.footprint = footprint_of(load);
  const auto ms = [&](auto method) {
    using method_type = decltype(method);
    return expected_ms(profile, "mesh", method_type::name, method_type::cost(request), request.uses);
  };
  return ms(tiles_method{}) < ms(particle_threads_method{});
}

method_cost transform_cost(const transform_load& load) {
  return load.cuda ? cuda_transform_cost(load) : cpu_transform_cost(load);
}

double expected_transform_ms(const transform_load& load, const device_profile& profile) {
  return expected_ms(profile, transform_module, transform_cost_name, transform_cost(load), 1);
}

}  // namespace quadrat::detail
