// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cpu/cost.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/tiles/cpu/tiling.hpp"

namespace quadrat::detail {

namespace {

[[nodiscard]] mesh_tiles tiles_of(const spread_request& request) {
  const int extent = static_cast<int>(std::lround(std::pow(request.nodes, 1.0 / request.dimension)));
  mesh_shape shape{{1, 1, 1}, {1, 1, 1}, {true, true, true}, 3 - request.dimension};
  for (int axis = shape.first_axis; axis < 3; ++axis) {
    shape.extent[axis] = std::max(extent, 1);
    shape.width[axis] = std::max(static_cast<int>(request.row), 1);
  }
  return make_cpu_tiles(shape, request.wide(8) > 0 ? 8 : 4);
}

/// The mean number of tiles per color. This many threads can work at a time.
[[nodiscard]] double tiles_of_a_color(const mesh_tiles& tiles) {
  double result = 1;
  for (const tile_axis& axis : tiles.axis) {
    if (axis.tiles > 1) result *= static_cast<double>(axis.tiles) / (2 + axis.tiles % 2);
  }
  return std::max(result, 1.0);
}

/// The number of `parts` that have points. Each part is as large as `sampled_tiles` tiles of the sample.
[[nodiscard]] double used_parts(double parts, double sampled_tiles, const spread_request& request) {
  const double all = std::max(1.0, request.nodes / request.tile_points());
  const double empty =
      request.sample.seen > 0 ? 1 - std::min(request.sample.occupied, 1.0) : std::exp(-request.points / all);
  return std::min(request.points, parts * (1 - std::pow(empty, std::max(1.0, sampled_tiles))));
}

/// Mesh points of the planes of tiles that footprints reach, which are added to the mesh one by one. In two dimensions,
/// all mesh points of a tile.
[[nodiscard]] double reached_mesh_points(const mesh_tiles& tiles, const spread_request& request) {
  const auto length = [&](int axis) { return static_cast<double>(tiles.axis[axis].span) / tiles.axis[axis].tiles; };
  const auto reach = [&](int axis) { return length(axis) + tiles.axis[axis].width - 1; };
  const auto count = static_cast<double>(tiles.count());
  const double used = used_parts(count, request.nodes / request.tile_points() / count, request);
  if (request.dimension < 3) return used * reach(0) * reach(1) * reach(2);
  const double edge = tile_edges[3], width = tiles.axis[0].width;
  const double slabs =
      used_parts(count * std::max(1.0, length(0) / edge), length(1) * length(2) / (edge * edge), request);
  const double planes = std::min(slabs * std::min(edge, length(0)) + used * (width - 1), request.points * width);
  return planes * reach(1) * reach(2);
}

}  // namespace

method_cost cpu_tiles_cost(const spread_request& request) {
  const mesh_tiles tiles = tiles_of(request);
  const auto all = request.share(1e-6 * request.bytes);
  // Colors overlap in time: tiles wait for neighbors only.
  constexpr double overlap = 1.5;
  const double workers = std::clamp(overlap * tiles_of_a_color(tiles), 1.0, static_cast<double>(request.threads));
  constexpr double points_worth_a_team = 128;
  method_cost cost;
  cost.once("start", cost_unit::launch, 1);
  cost.once("team", cost_unit::launch, request.teams(request.points >= points_worth_a_team ? 1 : 0));
  cost.once("points", cost_unit::step, request.share(request.megapoints()));
  cost.once("mesh", cost_unit::step, request.share(1e-6 * request.nodes));
  cost.once("order", cost_unit::byte, request.share(request.megapoints() * request.disorder()));
  cost.once("fullest", cost_unit::step, request.fullest_tile());
  cost.each("start", cost_unit::launch, 1);
  cost.each("team", cost_unit::launch, request.teams(1));
  cost.each("mesh", cost_unit::byte, all);
  // The cost of finding which tiles wait for which.
  cost.each("walk", cost_unit::step, request.share(1e-3 * static_cast<double>(tiles.count())));
  cost.each("flat", cost_unit::byte, request.dimension < 3 ? request.share(1e-6 * request.nodes) : 0);
  cost.each("tiles", cost_unit::step, 1e-6 * reached_mesh_points(tiles, request) / workers);
  cost.each("points", cost_unit::step, request.megapoints() / workers);
  cost.each("work", cost_unit::step, request.contributions() / workers);
  cost.each("wide", cost_unit::step, request.wide(request.contributions()) / workers);
  cost.each("rows", cost_unit::step, request.contributions() / request.row / workers);
  cost.each("fullest", cost_unit::step, request.fullest());
  return cost.holds(tiled_point_bytes(request));
}

}  // namespace quadrat::detail
