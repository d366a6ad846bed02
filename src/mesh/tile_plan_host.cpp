// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tile_plan.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::detail {

namespace {

/// The grid of tiles, all in one segment along the first axis.
[[nodiscard]] tile_grid make_tiles(const mesh_shape& shape, bool clip, int layers) {
  tile_grid grid{};
  grid.shape = shape;
  grid.layers = layers;
  for (int axis = 0; axis < 3; ++axis) {
    grid.origin[axis] = clip && !shape.periodic[axis] ? -shape.width[axis] : 0;
    const int starts = grid.starts(axis);
    const int window = axis == 2 ? tile_window * layers : tile_window;
    grid.edge[axis] = std::min(window - shape.width[axis] + 1, starts);
    grid.tiles[axis] = (starts + grid.edge[axis] - 1) / grid.edge[axis];
  }
  grid.inverse_edge = (1 << 16) / grid.edge[0] + 1;
  return grid;
}

/// Whether windows that collect points can tell the images of a point apart, and the segments of a run of tiles.
[[nodiscard]] bool can_collect(const tile_grid& grid) {
  for (int axis = grid.shape.first_axis; axis < 3; ++axis) {
    if (grid.shape.periodic[axis] && grid.shape.extent[axis] < tile_window + grid.shape.width[axis]) return false;
  }
  return grid.segments == 1 || grid.segment * grid.edge[0] >= 2 * tile_window + grid.shape.width[0];
}

void cut_segments(tile_grid& grid, int tiles) {
  grid.segment = std::clamp(std::min(grid.tiles[0], (most_tile_offset + 1) / grid.edge[0]), 1, std::max(tiles, 1));
  grid.segments = (grid.tiles[0] + grid.segment - 1) / grid.segment;
}

}  // namespace

tile_plan plan_tiles(const mesh_shape& shape, bool clip, std::size_t count) {
  // Windows of two layers leave fewer mesh points behind, but half of their products are zeros: they pay below one or
  // two points a mesh point.
  const double density = static_cast<double>(count) / static_cast<double>(shape.size());
  tile_plan plan{};
  plan.grid = make_tiles(shape, clip, density < 1.5 ? 2 : 1);
  // Enough units for every scheduler of a large device to have eight, and enough points for a unit to be worth it.
  const double unit = std::clamp(static_cast<double>(count) / 6000, 64.0, 512.0);
  const double tiles = static_cast<double>(plan.grid.tiles[0]) * plan.grid.tiles[1] * plan.grid.tiles[2];
  const double in_tile = std::max(static_cast<double>(count) / tiles, 1e-6);
  cut_segments(plan.grid, static_cast<int>(std::ceil(std::min(unit / in_tile, 64.0))));
  plan.unit_points = static_cast<std::uint32_t>(2 * unit);
  if (density < 0.1) {
    tile_grid whole = plan.grid;
    // Windows look at whole tiles: shorter ones hold fewer points that are not theirs.
    whole.edge[2] = std::min(whole.edge[2], tile_window);
    whole.tiles[2] = (whole.starts(2) + whole.edge[2] - 1) / whole.edge[2];
    cut_segments(whole, most_tile_offset);
    plan.collects = can_collect(whole);
    if (plan.collects) {
      plan.grid = whole;
      plan.unit_points = 48;  // of long segments; units are for interpolation only then, and lose nothing by a cut
    }
  }
  plan.sparse = density < 0.02;
  plan.most_units = std::min(plan.grid.segment_count() + count / plan.unit_points, count);
  return plan;
}

}  // namespace quadrat::detail
