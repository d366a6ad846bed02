// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::detail {

namespace {

/// First mesh points of a tile along an axis if patches collect long footprints.
constexpr int long_footprint_edge = 4;

[[nodiscard]] int inverse_of_edge(int edge) { return (1 << 16) / edge + 1; }

/// The grid of tiles, all in one segment along the first axis.
[[nodiscard]] tile_grid make_tiles(const mesh_shape& shape, bool clip, int layers) {
  tile_grid grid{};
  grid.shape = shape;
  grid.layers = layers;
  grid.slices = 1;
  for (int axis = 0; axis < 3; ++axis) {
    grid.origin[axis] = clip && !shape.periodic[axis] ? -shape.width[axis] : 0;
    const int starts = grid.starts(axis);
    const int patch = axis == 2 ? tile_patch * layers : tile_patch;
    grid.edge[axis] = std::clamp(patch - shape.width[axis] + 1, 1, starts);
    grid.tiles[axis] = (starts + grid.edge[axis] - 1) / grid.edge[axis];
  }
  grid.inverse_edge = inverse_of_edge(grid.edge[0]);
  return grid;
}

[[nodiscard]] bool has_planar_tiles(const mesh_shape& shape) {
  return shape.first_axis > 0 && shape.width[2] <= tile_patch;
}

[[nodiscard]] tile_grid make_planar_tiles(const mesh_shape& shape, bool clip) {
  tile_grid grid = make_tiles(shape, clip, 2);
  grid.planar = true;
  for (int axis = 1; axis < 3; ++axis) {
    const int starts = grid.starts(axis);
    grid.edge[axis] = std::clamp(planar_patch - shape.width[axis] + 1, 1, starts);
    grid.tiles[axis] = (starts + grid.edge[axis] - 1) / grid.edge[axis];
  }
  return grid;
}

/// Whether patches that collect points can distinguish the segments of a run of tiles.
[[nodiscard]] bool can_collect(const tile_grid& grid) {
  return grid.segments == 1 || grid.segment * grid.edge[0] >= 2 * tile_patch + grid.shape.width[0];
}

void cut_segments(tile_grid& grid, int tiles) {
  grid.segment = std::clamp(std::min(grid.tiles[0], (most_tile_offset + 1) / grid.edge[0]), 1, std::max(tiles, 1));
  grid.segments = (grid.tiles[0] + grid.segment - 1) / grid.segment;
}

/// The same number of segments, of equal length, because warps of a block wait for the one with most points.
void even_segments(tile_grid& grid) {
  grid.segment = (grid.tiles[0] + grid.segments - 1) / grid.segments;
  grid.segments = (grid.tiles[0] + grid.segment - 1) / grid.segment;
}

[[nodiscard]] bool has_patches(const mesh_shape& shape) {
  return shape.first_axis == 0 && shape.width[2] <= patch_most_width && shape.extent[2] % 2 == 0;
}

/// Patches of `tiles` tiles, or fewer if the grid has fewer.
[[nodiscard]] tile_patches cut_patches(const tile_grid& grid, const int (&tiles)[3], std::uint32_t share) {
  tile_patches patches{};
  for (int axis = 0; axis < 3; ++axis) patches.tiles[axis] = std::clamp(tiles[axis], 1, grid.tiles[axis]);
  const int along = patches.tiles[0];
  patches.pieces = grid.segments == 1 || grid.segment % along == 0 ? 1 : (along + grid.segment - 2) / grid.segment + 1;
  while (patches.runs() > most_patch_runs) --patches.tiles[patches.tiles[1] > 1 ? 1 : 2];
  for (int axis = 0; axis < 3; ++axis) {
    patches.count[axis] = (grid.tiles[axis] + patches.tiles[axis] - 1) / patches.tiles[axis];
  }
  patches.share = share;
  return patches;
}

/// Most points of a block: enough blocks for five on every multiprocessor of a large device, and enough points for
/// copying a patch to pay.
[[nodiscard]] std::uint32_t patch_share(std::size_t count) {
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(count / 660, 128, 512));
}

}  // namespace

tile_patches make_patches(const tile_grid& grid, std::size_t count) {
  if (!has_patches(grid.shape)) return {};
  const int across = patch_tiles(grid.shape.width[2]);
  const int tiles[3] = {across, across, patch_most_last / grid.edge[2]};
  // Each value of a patch is read once from the mesh, and some 20 to 50 times from shared memory.
  return cut_patches(grid, tiles, patch_share(count));
}

tile_patches make_cube_patches(const tile_grid& grid, std::size_t count) {
  const mesh_shape& shape = grid.shape;
  if (shape.first_axis > 0 || shape.width[2] != tile_patch || shape.extent[2] % 2 != 0) return {};
  const int(&edge)[3] = grid.edge;
  if (edge[0] > cube_patch_edge || edge[1] > cube_patch_edge || edge[2] > cube_patch_last) return {};
  // Patches begin at even mesh points.
  if (grid.tiles[2] > 1 && edge[2] % 2 != 0) return {};
  return cut_patches(grid, {cube_patch_edge / edge[0], cube_patch_edge / edge[1], cube_patch_last / edge[2]},
                     patch_share(count));
}

tile_patches make_direct_patches(const tile_grid& grid, double density) {
  if (!has_patches(grid.shape)) return {};
  // Neighbors find mesh points in the first-level cache. Patches are larger if they would hold few points.
  const bool few = density * 21 * 18 * 16 < 24;
  const int size[3] = {few ? 63 : 21, few ? 24 : 18, few ? 32 : 16};
  int tiles[3];
  for (int axis = 0; axis < 3; ++axis) tiles[axis] = size[axis] / grid.edge[axis];
  return cut_patches(grid, tiles, 256);
}

namespace {

[[nodiscard]] bool has_long_footprints(const mesh_shape& shape, double density) {
  for (const int width : shape.width) {
    // With fewer dimensions, footprints as long as a patch have separate tiles.
    if (is_long_footprint(width, shape.first_axis == 0 ? density : 1)) return true;
  }
  return false;
}

/// The most patches that look at a tile along an axis, counting its images.
[[nodiscard]] std::size_t most_looks(const tile_grid& grid, int axis) {
  const auto parts = [](int points) { return (points + tile_patch - 1) / tile_patch; };
  const int extent = grid.shape.extent[axis], patches = parts(extent);
  // Footprints of a tile reach patches that begin in a range of this length.
  const int length = grid.edge[axis] + grid.shape.width[axis] + tile_patch - 2;
  if (!grid.shape.periodic[axis]) return static_cast<std::size_t>(std::min(patches, parts(length)));
  if (extent % tile_patch == 0) return static_cast<std::size_t>(parts(length));
  // One more where the last patch is cut by the end of the mesh.
  return static_cast<std::size_t>(length / extent * patches + std::min(patches, parts(length % extent) + 1));
}

/// First mesh points of a tile whose footprints fill a cube.
[[nodiscard]] int cube_tile_edge(int cube, int width) { return cube - width + 1; }
/// Along the last axis, where rows of cubes begin with a sector of memory.
[[nodiscard]] int even_edge(int edge) { return edge > 1 ? edge / 2 * 2 : edge; }

/// Points of a tile below which its products would be nearly empty.
constexpr double least_in_cube = 8;

[[nodiscard]] tile_plan plan_long_footprints(const mesh_shape& shape, bool clip, std::size_t count, double density,
                                             bool ordered) {
  tile_plan plan{};
  const int width = shape.width[2];
  plan.cube = shape.first_axis == 0 ? edge_of_cubes(width, density) : 0;
  if (ordered && plan.cube > 0) {
    // Uses the tiles of patches that collect points.
    plan.cube = cube_tile_edge(16, width) >= long_footprint_edge ? 16 : 24;
    if (std::pow(long_footprint_edge, 3) * density < least_in_cube) plan.cube = 0;
  }
  plan.collects = ordered || plan.cube == 0;
  plan.reading = plan.cube > 0 ? tile_reading::cubes : tile_reading::points;
  plan.grid = make_tiles(shape, clip, 1);
  for (int axis = 0; axis < 3; ++axis) {
    const int starts = plan.grid.starts(axis);
    int edge = plan.collects ? long_footprint_edge : cube_tile_edge(plan.cube, width);
    if (axis == 2) edge = even_edge(edge);
    plan.grid.edge[axis] = std::min(edge, starts);
    plan.grid.tiles[axis] = (starts + plan.grid.edge[axis] - 1) / plan.grid.edge[axis];
  }
  plan.grid.inverse_edge = inverse_of_edge(plan.grid.edge[0]);
  double tiles = most_tile_offset;
  if (plan.cube > 0) {
    // Enough units to fill a large device six times. Sums of the slabs of large cubes wait for each other in shared
    // memory.
    const std::uint32_t most = plan.cube == 16 ? 2048 : most_cube_slab_points;
    plan.unit_points = std::clamp(static_cast<std::uint32_t>(count / 1600), 128u, most);
    const double in_tile = density * plan.grid.edge[0] * plan.grid.edge[1] * plan.grid.edge[2];
    if (!plan.collects) tiles = std::ceil(plan.unit_points / in_tile);
  }
  cut_segments(plan.grid, static_cast<int>(std::min<double>(tiles, most_tile_offset)));
  if (plan.cube > 0) plan.most_units = std::min(plan.grid.segment_count() + count / plan.unit_points, count);
  if (plan.collects) plan.crowds = limit_crowds(plan.grid, count);
  if (plan.cube > 0) plan.patches = make_cube_patches(plan.grid, count);
  return plan;
}

}  // namespace

double cube_products(int edge, double tile_points) {
  constexpr double points_of_cube = 64;
  return std::pow(edge, 3) * (1 + points_of_cube / tile_points);
}

int edge_of_cubes(int width, double density) {
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const int cube : {16, 24}) {
    const double points = density * std::pow(cube_tile_edge(cube, width), 3), products = cube_products(cube, points);
    if (points < least_in_cube || products >= least) continue;
    best = cube;
    least = products;
  }
  return best;
}

double least_cube_products(int width, double density) {
  const int cube = is_long_footprint(width, density) ? edge_of_cubes(width, density) : 0;
  if (cube == 0) return std::numeric_limits<double>::infinity();
  const int edge = cube_tile_edge(cube, width);
  return cube_products(cube, density * edge * edge * even_edge(edge));
}

tile_crowd_limits limit_crowds(const tile_grid& grid, std::size_t count) {
  std::size_t candidates = count;
  for (int axis = 0; axis < 3; ++axis) candidates *= most_looks(grid, axis);
  // Twice the warps of a large device. `most`: the sum over 32 lanes must fit into 32 bits.
  constexpr std::size_t most_shares = 4096, most = std::size_t{1} << 26;
  const std::size_t share = std::clamp(candidates / most_shares + 1, least_crowd_share, most);
  return {static_cast<std::uint32_t>(share), static_cast<std::uint32_t>(candidates / share)};
}

namespace {

/// Divides points so that results of a slice, taken as 8 bytes each, fit into a second-level cache beside what else is
/// read, if slices of a tile hold enough points for reading its patch to pay.
void cut_slices(tile_grid& grid, std::size_t count, double in_tile) {
  constexpr double cached_results = 3.5e6, most_slices = 16;
  const double least_points = grid.planar ? 64 : 170;
  if (grid.segment > 1) return;
  const double slices =
      std::min({std::ceil(static_cast<double>(count) / cached_results), in_tile / least_points, most_slices});
  grid.slices = std::max(static_cast<int>(slices), 1);
  grid.slice_points = static_cast<std::uint32_t>(count / static_cast<std::size_t>(grid.slices) + 1);
}

}  // namespace

tile_plan plan_tiles(const mesh_shape& shape, bool clip, std::size_t count, bool ordered) {
  const double density = static_cast<double>(count) / static_cast<double>(shape.size());
  if (has_long_footprints(shape, density)) return plan_long_footprints(shape, clip, count, density, ordered);
  // Patches of two layers write fewer mesh points, but half of their products are zeros: they pay below one or two
  // points per mesh point.
  tile_plan plan{};
  const bool sparse = is_sparse(density);
  plan.grid = has_planar_tiles(shape) && !sparse ? make_planar_tiles(shape, clip)
                                                 : make_tiles(shape, clip, density < 1.5 ? 2 : 1);
  const double unit = unit_points_of(static_cast<double>(count));
  const double tiles = static_cast<double>(plan.grid.tiles[0]) * plan.grid.tiles[1] * plan.grid.tiles[2];
  const double in_tile = std::max(static_cast<double>(count) / tiles, 1e-6);
  cut_segments(plan.grid, static_cast<int>(std::ceil(std::min(unit / in_tile, 64.0))));
  plan.unit_points = static_cast<std::uint32_t>(2 * unit);
  // On an H200, interpolation of complex gradients from patches is 1.05 to 4.4 times faster than with tensor cores at
  // 0.05 to 0.6 points per mesh point, and takes 1.3 times as long at 4.
  plan.reading = density < 0.02 ? tile_reading::points : density < 1.5 ? tile_reading::patches : tile_reading::tiles;
  if (plan.reading == tile_reading::tiles) even_segments(plan.grid);
  if (sparse) {
    tile_grid whole = plan.grid;
    // Patches read whole tiles: shorter ones hold fewer points that do not reach the patch.
    whole.edge[2] = std::min(whole.edge[2], tile_patch);
    whole.tiles[2] = (whole.starts(2) + whole.edge[2] - 1) / whole.edge[2];
    cut_segments(whole, most_tile_offset);
    plan.collects = can_collect(whole);
    if (plan.collects) {
      plan.grid = whole;
      plan.crowds = limit_crowds(whole, count);
      // For long segments: units then serve only interpolation without patches, and cutting them costs nothing.
      plan.unit_points = 48;
    }
  }
  plan.values_by_patches = density < 0.15;
  if (plan.reading == tile_reading::points) plan.patches = make_direct_patches(plan.grid, density);
  if (plan.reading == tile_reading::patches) plan.patches = make_patches(plan.grid, count);
  plan.most_units = std::min(plan.grid.segment_count() + count / plan.unit_points, count);
  if (plan.grid.planar || plan.reading == tile_reading::tiles) cut_slices(plan.grid, count, in_tile);
  if (plan.grid.slices > 1) {
    plan.most_sliced_units = std::min(plan.grid.tile_count() + count / plan.unit_points, count);
  }
  return plan;
}

}  // namespace quadrat::detail
