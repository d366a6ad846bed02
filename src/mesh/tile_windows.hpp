// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/tile_grid.hpp"
#include "quadrat/core/macros.hpp"

/// Windows of tiles, for interpolation: a block of threads takes the points of a few neighboring tiles along each axis,
/// which stand in a few runs of slots.
namespace quadrat::detail {

/// The widest footprint that fits four pairs of mesh points, the first of which begins at an even one.
inline constexpr int window_most_width = 7;
/// Pairs of mesh points that a row of a window in shared memory has room for: 4 modulo 8, see tiles_window.cuh.
inline constexpr int window_pitch = 12;
/// First mesh points of such a window along the last axis, at most, wherever it begins.
inline constexpr int window_most_last = 2 * (window_pitch - 4) + 1;

/// Tiles of such a window along the first and the second axis: 7 to 12 first mesh points.
[[nodiscard]] QUADRAT_HD constexpr int window_tiles(int width) { return width < 3 ? 1 : width < 6 ? 2 : width - 3; }

/// Runs that a window may have.
inline constexpr int most_window_runs = 32;

struct tile_windows {
  int tiles[3];         ///< of a window, along each axis; zeros where there are no windows
  int count[3];         ///< windows along each axis
  int pieces;           ///< segments that tiles side by side of a window may lie in
  std::uint32_t share;  ///< most points that a block takes of a window; crowded ones are shared evenly

  [[nodiscard]] QUADRAT_HD bool any() const { return tiles[0] > 0; }
  [[nodiscard]] QUADRAT_HD int runs() const { return tiles[1] * tiles[2] * pieces; }
  [[nodiscard]] QUADRAT_HD std::size_t total() const {
    return static_cast<std::size_t>(count[0]) * static_cast<std::size_t>(count[1]) * static_cast<std::size_t>(count[2]);
  }
  /// Which one along each axis a window is.
  QUADRAT_HD void locate(std::uint32_t number, int (&at)[3]) const {
    const std::uint32_t last = static_cast<std::uint32_t>(count[2]), second = static_cast<std::uint32_t>(count[1]);
    at[2] = static_cast<int>(number % last);
    at[1] = static_cast<int>(number / last % second);
    at[0] = static_cast<int>(number / last / second);
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t shares(std::uint32_t points) const { return (points + share - 1) / share; }
};

/// Points of neighboring tiles of a segment: `length` slots from `first`. Offsets of their records and `offset` give a
/// first mesh point, from the window's.
struct tile_window_run {
  std::uint32_t first;
  std::uint32_t length;
  int offset[3];
};

/// The first mesh point that tiles of a window may hold.
[[nodiscard]] QUADRAT_HD inline int window_origin(const tile_grid& grid, const tile_windows& windows, int at,
                                                  int axis) {
  return grid.origin[axis] + at * windows.tiles[axis] * grid.edge[axis];
}

/// Run k, below windows.runs(), of a window; some are empty.
[[nodiscard]] QUADRAT_HD inline tile_window_run run_of_window(const tile_grid& grid, const tile_windows& windows,
                                                              const std::uint32_t* offsets, const int (&at)[3], int k) {
  const int row = k / windows.pieces, piece = k - row * windows.pieces;
  const int along_second = row / windows.tiles[2], along_last = row - along_second * windows.tiles[2];
  const int second = at[1] * windows.tiles[1] + along_second, last = at[2] * windows.tiles[2] + along_last;
  const int begin = at[0] * windows.tiles[0], segment = begin / grid.segment + piece;
  const int start = segment * grid.segment;
  const int from = begin > start ? begin : start;
  int until = begin + windows.tiles[0];
  if (until > start + grid.segment) until = start + grid.segment;
  if (until > grid.tiles[0]) until = grid.tiles[0];
  tile_window_run run{0, 0, {(start - begin) * grid.edge[0], along_second * grid.edge[1], along_last * grid.edge[2]}};
  if (second >= grid.tiles[1] || last >= grid.tiles[2] || from >= until) return run;
  const std::uint32_t number = static_cast<std::uint32_t>(second * grid.tiles[2] + last) *
                                   static_cast<std::uint32_t>(grid.segments * grid.segment) +
                               static_cast<std::uint32_t>(from);
  run.first = offsets[number];
  run.length = offsets[number + static_cast<std::uint32_t>(until - from)] - run.first;
  return run;
}

/// What blocks beyond one a window take: share number `share`, from 1, of a crowded window.
struct tile_extra {
  std::uint32_t window;
  std::uint32_t share;
};

}  // namespace quadrat::detail
