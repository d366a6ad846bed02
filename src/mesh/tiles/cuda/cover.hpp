// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/tiles/cuda/grid.hpp"
#include "quadrat/core/macros.hpp"

/// The patches that hold a share of a mesh point's sum, in a fixed order: the inverse of tile_home.
namespace quadrat::detail {

/// The patches along one axis: of tiles, or, along the first axis, of segments.
struct tile_cover {
  int extent;
  int origin;  ///< first mesh point of the first patch
  int edge;    ///< distance from one patch to the next
  int reach;   ///< mesh points of a patch
  int patches;
  bool periodic;
  std::uint32_t inverse;  ///< 2^31 / edge, rounded up

  [[nodiscard]] QUADRAT_HD int divide(int offset) const {
    return static_cast<int>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(offset)) * inverse >> 31);
  }

  /// Calls f(patch, position) for the patches that hold any of the mesh points index, ..., index + span - 1, which may
  /// be outside the mesh, or their images; `position`, above -span, is that of `index` in the patch.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_patch(int index, int span, const F& f) const {
    const int end = (patches - 1) * edge + reach;
    int offset = index - origin;
    do {
      const int past = offset - reach;
      const int last = divide(offset + span - 1);
      for (int w = past < 0 ? 0 : divide(past) + 1; w <= last && w < patches; ++w) f(w, offset - w * edge);
      offset += extent;
    } while (periodic && offset < end);
  }
};

struct tile_covers {
  tile_cover axis[3];
};

/// By segments along the first axis, and by tiles.
[[nodiscard]] inline tile_covers make_tile_covers(const tile_grid& grid) {
  tile_covers covers{};
  for (int a = 0; a < 3; ++a) {
    tile_cover& cover = covers.axis[a];
    cover.extent = grid.shape.extent[a];
    cover.origin = grid.origin[a];
    cover.edge = a == 0 ? grid.segment * grid.edge[0] : grid.edge[a];
    cover.reach = a == 0 ? grid.segment_reach() : grid.reach(a);
    cover.patches = a == 0 ? grid.segments : grid.tiles[a];
    cover.periodic = grid.shape.periodic[a];
    cover.inverse = (std::uint32_t{1} << 31) / static_cast<std::uint32_t>(cover.edge) + 1;
  }
  return covers;
}

/// The sums of each unit over the planes of its segment. They are added in a fixed order afterwards.
template <typename T>
struct tile_shares {
  /// [unit][plane of the segment][channel][8 rows along the second axis][8 layers along the last one], of planar tiles
  /// [unit][channel][16][16]
  T* sums;
  const std::uint32_t* unit_firsts;  ///< by segment, and the end
};

/// Consecutive mesh points along the first axis that one thread adds up, so that it locates shares only once.
inline constexpr int tile_column = 4;

/// The units [unit, end) of one segment; `own` points into the first plane of unit 0.
template <std::ptrdiff_t Size, typename T, int Channels>
QUADRAT_HD void add_unit_shares(std::uint32_t unit, std::uint32_t end, int plane, int planes, const T* own,
                                T (&sum)[tile_column][Channels]) {
  own += (static_cast<std::ptrdiff_t>(unit) * planes + plane) * (Channels * Size);
  for (; unit < end; ++unit) {
    // All loads are in flight before the first is needed.
    T share[tile_column][Channels];
    QUADRAT_UNROLL
    for (int p = 0; p < tile_column; ++p) {
      const bool inside = plane + p >= 0 && plane + p < planes;
      QUADRAT_UNROLL
      for (int c = 0; c < Channels; ++c) share[p][c] = inside ? own[(p * Channels + c) * Size] : T(0);
    }
    QUADRAT_UNROLL
    for (int p = 0; p < tile_column; ++p) {
      QUADRAT_UNROLL
      for (int c = 0; c < Channels; ++c) sum[p][c] += share[p][c];
    }
    own += static_cast<std::ptrdiff_t>(planes) * (Channels * Size);
  }
}

/// Adds to sum[p] the shares of all units in mesh point (i + p, j, k), in the order of the units. Rows, Length: mesh
/// points of a share along the last two axes.
template <typename T, int Channels, int Rows, int Length>
QUADRAT_HD void add_tile_shares(const tile_covers& covers, const tile_shares<T>& shares, int i, int j, int k,
                                T (&sum)[tile_column][Channels]) {
  constexpr std::ptrdiff_t size = std::ptrdiff_t{Rows} * Length;  // of one channel of a plane
  const int planes = covers.axis[0].reach;
  covers.axis[0].for_each_patch(i, tile_column, [&](int segment, int plane) {
    covers.axis[1].for_each_patch(j, 1, [&](int second, int g) {
      covers.axis[2].for_each_patch(k, 1, [&](int last, int position) {
        // Segments are numbered in 32 bits, because tiles are.
        const auto row = static_cast<std::uint32_t>(second * covers.axis[2].patches + last);
        const auto patches = static_cast<std::uint32_t>(covers.axis[0].patches);
        const std::uint32_t* units = shares.unit_firsts + (row * patches + static_cast<std::uint32_t>(segment));
        const T* own = shares.sums + (g * Length + position);
        add_unit_shares<size>(units[0], units[1], plane, planes, own, sum);
      });
    });
  });
}

}  // namespace quadrat::detail
