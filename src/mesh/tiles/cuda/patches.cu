// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/problem.hpp"
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

/// One thread per patch. The extra shares of a crowded patch are written by the whole warp; the order of patches is
/// that of atomic operations.
__global__ void __launch_bounds__(cuda_launch::block)
    find_extras_kernel(const __grid_constant__ patch_counter counter, std::uint32_t patches, tile_extra* extras,
                       std::uint32_t* extra_count) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t number = blockIdx.x * cuda_launch::block + threadIdx.x;
  std::uint32_t own = 0, first = 0;
  if (number < patches) {
    own = counter.shares(number);
    if (own > 1) first = atomicAdd(extra_count, own - 1);
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

/// The same for patches that collect points: one warp per patch, whose lanes count the points of many runs.
__global__ void __launch_bounds__(cuda_launch::block)
    find_crowds_kernel(const __grid_constant__ tile_grid grid, const __grid_constant__ tile_crowd_limits limits,
                       const std::uint32_t* offsets, std::uint32_t patches, tile_extra* extras, tile_crowd* crowds,
                       tile_crowd_counts* counts) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t patch = (blockIdx.x * cuda_launch::block + threadIdx.x) / 32;
  if (patch >= patches) return;
  int begin[3];
  tile_mesh_patches(grid.shape).locate(patch, begin);
  const tile_candidates candidates(grid, offsets, begin);
  unsigned long long points = 0;
  for (int run = lane; run < candidates.runs(); run += 32) points += candidates.run(run).length;
  for (int far = 16; far > 0; far /= 2) points += __shfl_xor_sync(~0u, points, far);
  const std::uint32_t shares = limits.shares(points);
  if (shares <= 1) return;
  std::uint32_t first = 0;
  if (lane == 0) {
    first = atomicAdd(&counts->extras, shares - 1);
    crowds[atomicAdd(&counts->crowds, 1u)] = {patch, first, shares - 1};
  }
  first = __shfl_sync(~0u, first, 0);
  for (std::uint32_t share = 1 + lane; share < shares; share += 32) extras[first + share - 1] = {patch, share};
}

}  // namespace

void find_tile_extras(const cuda_context& context, const tile_grid& grid, const tile_patches& patches,
                      const std::uint32_t* offsets, tile_extra* extras, std::uint32_t* extra_count) {
  const cuda_launch launch(context, "mesh.tiles.extras");
  find_extras_kernel<<<cuda_launch::blocks(patches.total()), cuda_launch::block, 0, context.stream()>>>(
      patch_counter{grid, patches, offsets}, static_cast<std::uint32_t>(patches.total()), extras, extra_count);
  launch.check();
}

void find_tile_crowds(const cuda_context& context, const tile_grid& grid, const tile_crowd_limits& limits,
                      const std::uint32_t* offsets, tile_extra* extras, tile_crowd* crowds, tile_crowd_counts* counts) {
  const cuda_launch launch(context, "mesh.tiles.crowds");
  const std::size_t patches = tile_mesh_patches(grid.shape).total();
  find_crowds_kernel<<<cuda_launch::blocks(32 * patches), cuda_launch::block, 0, context.stream()>>>(
      grid, limits, offsets, static_cast<std::uint32_t>(patches), extras, crowds, counts);
  launch.check();
}

}  // namespace quadrat::detail
