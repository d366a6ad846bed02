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

/// How many tiles there are for each color: as many threads can work at a time.
[[nodiscard]] double tiles_of_a_color(const mesh_tiles& tiles) {
  double result = 1;
  for (const tile_axis& axis : tiles.axis) result *= axis.tiles == 1 ? 1 : axis.tiles / (2 + axis.tiles % 2);
  return std::max(result, 1.0);
}

/// Mesh points that a tile's footprints reach.
[[nodiscard]] double reach_of(const mesh_tiles& tiles) {
  double result = 1;
  for (const tile_axis& axis : tiles.axis) result *= static_cast<double>(axis.span) / axis.tiles + axis.width - 1;
  return result;
}

/// The number of tiles with points. The sample has smaller ones.
[[nodiscard]] double used_tiles(const mesh_tiles& tiles, const spread_request& request) {
  const auto count = static_cast<double>(tiles.count());
  const double sampled = std::max(
      1.0, request.nodes / std::pow(tile_edges[static_cast<std::size_t>(request.dimension)], request.dimension));
  const double empty =
      request.sample.seen > 0 ? 1 - std::min(request.sample.occupied, 1.0) : std::exp(-request.points / sampled);
  return std::min(request.points, count * (1 - std::pow(empty, std::max(1.0, sampled / count))));
}

}  // namespace

method_cost cpu_tiles_cost(const spread_request& request) {
  const mesh_tiles tiles = tiles_of(request);
  const auto all = request.share(1e-6 * request.bytes);
  spread_request working = request;
  working.threads = static_cast<int>(std::clamp(tiles_of_a_color(tiles), 1.0, static_cast<double>(request.threads)));
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
  // To find out which tiles wait for which.
  cost.each("walk", cost_unit::step, request.share(1e-3 * static_cast<double>(tiles.count())));
  cost.each("flat", cost_unit::byte, request.dimension < 3 ? request.share(1e-6 * request.nodes) : 0);
  cost.each("tiles", cost_unit::step, working.share(1e-6 * used_tiles(tiles, request) * reach_of(tiles)));
  cost.each("points", cost_unit::step, working.share(request.megapoints()));
  cost.each("work", cost_unit::step, working.share(request.contributions()));
  cost.each("wide", cost_unit::step, working.share(request.wide(request.contributions())));
  cost.each("rows", cost_unit::step, working.share(request.contributions() / request.row));
  cost.each("fullest", cost_unit::step, request.fullest());
  return cost.holds(tiled_point_bytes(request));
}

}  // namespace quadrat::detail
