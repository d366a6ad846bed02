// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/tile_grid.hpp"
#include "mesh/tile_windows.hpp"

namespace quadrat::detail {

/// How values are interpolated: by themselves from the mesh, from windows of it, or tile by tile with tensor cores.
enum class tile_reading { points, windows, tiles };

/// How so many points are put into tiles, and shared among warps.
struct tile_plan {
  tile_grid grid;
  std::uint32_t unit_points;  ///< most points of a unit
  std::size_t most_units;
  bool collects;  ///< tiles hold so few points that windows of the mesh collect them
  tile_reading reading;
  tile_windows windows;  ///< where `reading` is by points or windows, and the shape allows it: see make_windows

  /// Whether any work takes units.
  [[nodiscard]] bool needs_units() const { return !(collects && reading == tile_reading::points); }
  /// Blocks that crowded windows may need beyond one a window.
  [[nodiscard]] std::size_t most_extras(std::size_t count) const { return windows.any() ? count / windows.share : 0; }

  /// Numbers that `tile_shares` takes, for two channels.
  [[nodiscard]] std::size_t share_size() const {
    return most_units * static_cast<std::size_t>(grid.segment_reach() * tile_window * tile_window * grid.layers * 2);
  }
};

/// Windows that a block can bring into shared memory (tiles_window.cuh). Only in three dimensions, for footprints of at
/// most window_most_width mesh points along an axis and an even extent along the last, so that they are rows of four
/// pairs; none otherwise.
[[nodiscard]] tile_windows make_windows(const tile_grid& grid, std::size_t count);
/// Windows for points that read the mesh itself (tiles_direct.cuh), under the same conditions.
[[nodiscard]] tile_windows make_direct_windows(const tile_grid& grid, double density);

[[nodiscard]] tile_plan plan_tiles(const mesh_shape& shape, bool clip, std::size_t count);

}  // namespace quadrat::detail
