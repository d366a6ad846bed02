// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/problem.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// One thread per patch. The extra shares of a crowded patch are written by the whole warp; the order of patches is
/// that of atomic operations.
__global__ void __launch_bounds__(cuda_launch::block)
    find_extras_kernel(const __grid_constant__ tile_grid grid, const __grid_constant__ tile_patches patches,
                       const std::uint32_t* offsets, tile_extra* extras, std::uint32_t* extra_count) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t number = blockIdx.x * cuda_launch::block + threadIdx.x;
  std::uint32_t own = 0, first = 0;
  if (number < patches.total()) {
    int at[3];
    patches.locate(number, at);
    std::uint32_t points = 0;
    for (int k = 0; k < patches.runs(); ++k) points += run_of_patch(grid, patches, offsets, at, k).length;
    own = patches.shares(points);
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

}  // namespace

void find_tile_extras(const cuda_context& context, const tile_grid& grid, const tile_patches& patches,
                      const std::uint32_t* offsets, tile_extra* extras, std::uint32_t* extra_count) {
  const cuda_launch launch(context, "mesh.tiles.extras");
  find_extras_kernel<<<cuda_launch::blocks(patches.total()), cuda_launch::block, 0, context.stream()>>>(
      grid, patches, offsets, extras, extra_count);
  launch.check();
}

}  // namespace quadrat::detail
