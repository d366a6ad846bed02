// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/problem.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// The points of patches for interpolation, and the number of their shares.
struct patch_counter {
  tile_grid grid;
  tile_patches patches;
  const std::uint32_t* offsets;

  [[nodiscard]] __device__ std::uint32_t shares(std::uint32_t patch) const {
    int at[3];
    patches.locate(patch, at);
    std::uint32_t points = 0;
    for (int k = 0; k < patches.runs(); ++k) points += run_of_patch(grid, patches, offsets, at, k).length;
    return patches.shares(points);
  }
};

/// The first blocks find the extra shares of patches that collect points, the others those for interpolation.
struct share_search {
  tile_grid grid;
  const std::uint32_t* offsets;
  tile_crowd_limits limits;
  tile_patches patches;
  tile_extra *crowd_extras, *extras;
  tile_crowd* crowds;
  tile_share_counts* counts;
  unsigned crowd_blocks;

  /// One warp per patch, whose lanes count the points of many runs.
  __device__ void find_crowds(unsigned block) const {
    const int lane = threadIdx.x % 32;
    const std::uint32_t patch = (block * cuda_launch::block + threadIdx.x) / 32;
    const tile_mesh_patches all(grid.shape);
    if (patch >= all.total()) return;
    int begin[3];
    all.locate(patch, begin);
    const tile_candidates candidates(grid, offsets, begin);
    unsigned long long points = 0;
    for (int run = lane; run < candidates.runs(); run += 32) points += candidates.run(run).length;
    for (int far = 16; far > 0; far /= 2) points += __shfl_xor_sync(~0u, points, far);
    const std::uint32_t shares = limits.shares(points);
    if (shares <= 1) return;
    std::uint32_t first = 0;
    if (lane == 0) {
      first = atomicAdd(&counts->crowds.extras, shares - 1);
      crowds[atomicAdd(&counts->crowds.crowds, 1u)] = {patch, first, shares - 1};
    }
    first = __shfl_sync(~0u, first, 0);
    for (std::uint32_t share = 1 + lane; share < shares; share += 32) crowd_extras[first + share - 1] = {patch, share};
  }

  /// One thread per patch. The extra shares of a crowded patch are written by the whole warp; the order of patches is
  /// that of atomic operations.
  __device__ void find_extras(unsigned block) const {
    const int lane = threadIdx.x % 32;
    const std::uint32_t number = block * cuda_launch::block + threadIdx.x;
    std::uint32_t own = 0, first = 0;
    if (number < patches.total()) {
      own = patch_counter{grid, patches, offsets}.shares(number);
      if (own > 1) first = atomicAdd(&counts->extras, own - 1);
    }
    unsigned crowded = __ballot_sync(~0u, own > 1);
    while (crowded != 0) {
      const int of = __ffs(static_cast<int>(crowded)) - 1;
      crowded &= crowded - 1;
      const std::uint32_t shares = __shfl_sync(~0u, own, of), to = __shfl_sync(~0u, first, of),
                          patch = __shfl_sync(~0u, number, of);
      for (std::uint32_t share = 1 + lane; share < shares; share += 32) extras[to + share - 1] = {patch, share};
    }
  }
};

__global__ void __launch_bounds__(cuda_launch::block) find_shares_kernel(const __grid_constant__ share_search search) {
  if (blockIdx.x < search.crowd_blocks) {
    search.find_crowds(blockIdx.x);
  } else {
    search.find_extras(blockIdx.x - search.crowd_blocks);
  }
}

}  // namespace

void find_tile_shares(const cuda_context& context, const tile_grid& grid, const std::uint32_t* offsets,
                      const tile_crowd_limits& limits, tile_extra* crowd_extras, tile_crowd* crowds,
                      const tile_patches& patches, tile_extra* extras, tile_share_counts* counts) {
  fill_bytes(context, counts, 0, sizeof(tile_share_counts));
  const std::size_t collecting = limits.most_extras > 0 ? tile_mesh_patches(grid.shape).total() : 0;
  const unsigned crowd_blocks = cuda_launch::blocks(32 * collecting);
  const unsigned blocks = crowd_blocks + cuda_launch::blocks(patches.total());
  const cuda_launch launch(context, "mesh.tiles.shares");
  find_shares_kernel<<<blocks, cuda_launch::block, 0, context.stream()>>>(
      {grid, offsets, limits, patches, crowd_extras, extras, crowds, counts, crowd_blocks});
  launch.check();
}

}  // namespace quadrat::detail
