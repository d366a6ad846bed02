// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/tiles/cuda/grid.hpp"
#include "mesh/tiles/cuda/patches.hpp"
#include "mesh/tiles/cuda/spread/candidates.hpp"

namespace quadrat::detail {

/// The method of interpolation: point by point from the mesh, from patches of it, or tile by tile with tensor cores; in
/// three dimensions tiles of long footprints read cubes of the mesh.
enum class tile_reading { points, patches, tiles, cubes };

/// The plan of sorting a number of points into tiles, and of dividing them among warps.
struct tile_plan {
  tile_grid grid;
  std::uint32_t unit_points;  ///< most points of a unit
  std::size_t most_units;
  std::size_t most_sliced_units;  ///< 0 where there is one slice
  bool collects;                  ///< tiles hold so few points that patches of the mesh collect them
  tile_crowd_limits crowds;       ///< of patches that collect points
  tile_reading reading;
  tile_patches patches;    ///< if the shape allows it: see make_patches, make_cube_patches and make_direct_patches
  bool values_by_patches;  ///< if `reading` uses patches: also for values, not only for gradients
  int cube;  ///< edge of cubes, if `reading` uses them; then values are also spread by them, unless collected

  /// Whether any kernel uses units.
  [[nodiscard]] bool needs_units() const { return !(collects && reading == tile_reading::points); }
  /// The most extra blocks that crowded patches may need.
  [[nodiscard]] std::size_t most_extras(std::size_t count) const { return patches.any() ? count / patches.share : 0; }

  /// Values in `tile_shares`, for two channels.
  [[nodiscard]] std::size_t share_size() const {
    const int plane = grid.planar ? planar_size : tile_patch * tile_patch * grid.layers;
    return most_units * static_cast<std::size_t>(grid.segment_reach() * plane * 2);
  }
  /// Values in `tile_crowd_shares`, for two channels.
  [[nodiscard]] std::size_t crowd_size() const {
    return 2 * std::size_t{crowds.most_extras} * tile_patch * tile_patch * tile_patch;
  }
};

/// Patches that a block can copy to shared memory (interpolate/patches.cuh). Only in three dimensions, for footprints
/// of at most patch_most_width mesh points along an axis and an even extent along the last, so that rows are four
/// pairs; none otherwise.
[[nodiscard]] tile_patches make_patches(const tile_grid& grid, std::size_t count);
/// The same for tiles of long footprints of 8 mesh points; floats are read from patches instead of cubes.
[[nodiscard]] tile_patches make_cube_patches(const tile_grid& grid, std::size_t count);
/// Patches for points that read the mesh directly (interpolate/direct.cuh), under the same conditions.
[[nodiscard]] tile_patches make_direct_patches(const tile_grid& grid, double density);

/// The mean number of points of a unit: enough units for eight per scheduler of a large device, and enough points for a
/// unit to pay. No unit has more than twice as many.
[[nodiscard]] constexpr double unit_points_of(double count) {
  constexpr double units = 6000, least = 64, most = 512;
  return count < least * units ? least : count > most * units ? most : count / units;
}

/// The least candidates of a warp in a divided crowded patch: enough for writing its sums to pay.
inline constexpr std::size_t least_crowd_share = 128;
/// The division of patches that collect this many points.
[[nodiscard]] tile_crowd_limits limit_crowds(const tile_grid& grid, std::size_t count);

/// Most points of a unit that reads cubes of 24 mesh points.
inline constexpr std::uint32_t most_cube_slab_points = 512;

/// The products per point in cubes of this edge, including the equivalent cost of reading or writing a tile's cube.
/// `tile_points`: points of a tile.
[[nodiscard]] double cube_products(int edge, double tile_points);

/// Whether footprints are longer than a patch; or as long, with tiles so sparse that most hold at most one point,
/// because each tile then has one first mesh point.
[[nodiscard]] constexpr bool is_long_footprint(int width, double density) {
  return width > tile_patch || (width == tile_patch && density < 0.4);
}

/// Whether patches collect the points at this low density.
[[nodiscard]] constexpr bool is_sparse(double density) { return density < 0.1; }

/// The products per point of the best cubes for footprints of this width in three dimensions; infinite if they are not
/// long, or edge_of_cubes is 0.
[[nodiscard]] double least_cube_products(int width, double density);

/// The best edge of cubes of mesh points for reading footprints of this width and density in three dimensions; 0 if
/// tiles hold too few points.
[[nodiscard]] int edge_of_cubes(int width, double density);

/// `ordered`: sums must not depend on timing.
[[nodiscard]] tile_plan plan_tiles(const mesh_shape& shape, bool clip, std::size_t count, bool ordered);

}  // namespace quadrat::detail
