// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/problem.hpp"
#include "quadrat/parallel/warp_scan.hpp"

/// The points of a patch of tiles that a block takes.
namespace quadrat::detail {

/// The runs of a patch, in shared memory. Points are numbered through all of them.
struct tile_run_table {
  std::uint32_t end[most_patch_runs];  ///< number of points up to the end of a run
  int4 run[most_patch_runs];           ///< difference from a point's number to its slot; offset along each axis

  /// Called by all lanes of one warp.
  __device__ void fill(const tile_grid& grid, const tile_patches& patches, const std::uint32_t* offsets,
                       const int (&at)[3], int lane) {
    tile_patch_run own{};
    if (lane < patches.runs()) own = run_of_patch(grid, patches, offsets, at, lane);
    const std::uint32_t before_end = warp_inclusive_sum(own.length, static_cast<unsigned>(lane));
    end[lane] = before_end;
    run[lane] =
        make_int4(static_cast<int>(own.first - (before_end - own.length)), own.offset[0], own.offset[1], own.offset[2]);
  }
  [[nodiscard]] __device__ std::uint32_t total() const { return end[most_patch_runs - 1]; }
  /// The run of point q, below the total. `top`: a power of two >= runs / 2.
  [[nodiscard]] __device__ int4 run_of(std::uint32_t q, int top) const {
    int owner = 0;
    for (int step = top; step > 0; step >>= 1) {
      if (end[owner + step - 1] <= q) owner += step;
    }
    return run[owner];
  }
};

/// Points [first, last) of a patch.
struct tile_share {
  int at[3];
  std::uint32_t first, last;
  int top;  ///< for tile_run_table::run_of

  [[nodiscard]] __device__ bool empty() const { return first >= last; }
};

/// The block's share, and the runs of its patch; all threads take part.
__device__ inline tile_share find_tile_share(const tile_grid& grid, const tile_patch_shares& of,
                                             const std::uint32_t* offsets, tile_run_table& table) {
  tile_share share{};
  const auto total = static_cast<std::uint32_t>(of.patches.total());
  tile_extra own{blockIdx.x, 0};
  if (own.patch >= total) {
    const std::uint32_t extra = own.patch - total;
    if (extra >= *of.extra_count) return share;
    own = of.extras[extra];
  }
  of.patches.locate(own.patch, share.at);
  if (threadIdx.x < 32) table.fill(grid, of.patches, offsets, share.at, static_cast<int>(threadIdx.x));
  __syncthreads();
  const std::uint64_t points = table.total(), shares = of.patches.shares(table.total());
  const int runs = of.patches.runs();
  share.top = runs > 1 ? 1 << (31 - __clz(runs - 1)) : 0;
  if (shares > 1) {
    share.first = static_cast<std::uint32_t>(points * own.share / shares);
    share.last = static_cast<std::uint32_t>(points * (own.share + 1) / shares);
  } else {
    share.last = table.total();
  }
  return share;
}

}  // namespace quadrat::detail
