// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/tiles/cuda/grid.hpp"
#include "quadrat/core/macros.hpp"

/// Patches of tiles, for interpolation: a block of threads takes the points of a few neighboring tiles along each axis,
/// which are in a few runs of slots.
namespace quadrat::detail {

/// The widest footprint that fits in four pairs of mesh points, the first of which begins at an even mesh point.
inline constexpr int patch_most_width = 7;
/// First mesh points of a patch for footprints of 8 mesh points, with the tiles of cubes.
inline constexpr int cube_patch_edge = 9, cube_patch_last = 16;
/// Room for pairs of mesh points in a row of a patch in shared memory: 4 modulo 8, see interpolate/patches.cuh.
inline constexpr int patch_pitch = 12;
/// The most first mesh points of such a patch along the last axis, wherever it begins.
inline constexpr int patch_most_last = 2 * (patch_pitch - 4) + 1;

/// Tiles of such a patch along the first and the second axis: 7 to 12 first mesh points.
[[nodiscard]] QUADRAT_HD constexpr int patch_tiles(int width) { return width < 3 ? 1 : width < 6 ? 2 : width - 3; }

/// The most runs that a patch may have.
inline constexpr int most_patch_runs = 32;

struct tile_patches {
  int tiles[3];         ///< of a patch, along each axis; zeros if there are no patches
  int count[3];         ///< patches along each axis
  int pieces;           ///< the most segments that a row of a patch's tiles may lie in
  std::uint32_t share;  ///< most points of a patch per block; crowded patches are divided evenly

  [[nodiscard]] QUADRAT_HD bool any() const { return tiles[0] > 0; }
  [[nodiscard]] QUADRAT_HD int runs() const { return tiles[1] * tiles[2] * pieces; }
  [[nodiscard]] QUADRAT_HD std::size_t total() const {
    return static_cast<std::size_t>(count[0]) * static_cast<std::size_t>(count[1]) * static_cast<std::size_t>(count[2]);
  }
  /// The index of a patch along each axis.
  QUADRAT_HD void locate(std::uint32_t number, int (&at)[3]) const {
    const std::uint32_t last = static_cast<std::uint32_t>(count[2]), second = static_cast<std::uint32_t>(count[1]);
    at[2] = static_cast<int>(number % last);
    at[1] = static_cast<int>(number / last % second);
    at[0] = static_cast<int>(number / last / second);
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t shares(std::uint32_t points) const { return (points + share - 1) / share; }
};

/// Points of neighboring tiles of a segment: `length` slots from `first`. Offsets of their records plus `offset` give a
/// first mesh point relative to the patch's.
struct tile_patch_run {
  std::uint32_t first;
  std::uint32_t length;
  int offset[3];
};

/// The smallest first mesh point in the tiles of a patch.
[[nodiscard]] QUADRAT_HD inline int patch_origin(const tile_grid& grid, const tile_patches& patches, int at, int axis) {
  return grid.origin[axis] + at * patches.tiles[axis] * grid.edge[axis];
}

/// Run k, below patches.runs(), of a patch; some are empty.
[[nodiscard]] QUADRAT_HD inline tile_patch_run run_of_patch(const tile_grid& grid, const tile_patches& patches,
                                                            const std::uint32_t* offsets, const int (&at)[3], int k) {
  const int row = k / patches.pieces, piece = k - row * patches.pieces;
  const int along_second = row / patches.tiles[2], along_last = row - along_second * patches.tiles[2];
  const int second = at[1] * patches.tiles[1] + along_second, last = at[2] * patches.tiles[2] + along_last;
  const int begin = at[0] * patches.tiles[0], segment = begin / grid.segment + piece;
  const int start = segment * grid.segment;
  const int from = begin > start ? begin : start;
  int until = begin + patches.tiles[0];
  if (until > start + grid.segment) until = start + grid.segment;
  if (until > grid.tiles[0]) until = grid.tiles[0];
  tile_patch_run run{0, 0, {(start - begin) * grid.edge[0], along_second * grid.edge[1], along_last * grid.edge[2]}};
  if (second >= grid.tiles[1] || last >= grid.tiles[2] || from >= until) return run;
  const std::uint32_t number = static_cast<std::uint32_t>(second * grid.tiles[2] + last) *
                                   static_cast<std::uint32_t>(grid.segments * grid.segment) +
                               static_cast<std::uint32_t>(from);
  run.first = offsets[number];
  run.length = offsets[number + static_cast<std::uint32_t>(until - from)] - run.first;
  return run;
}

/// The work of an extra block: share number `share`, from 1, of a crowded patch.
struct tile_extra {
  std::uint32_t patch;
  std::uint32_t share;
};

}  // namespace quadrat::detail
