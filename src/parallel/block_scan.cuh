// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace quadrat::detail {

/// Sum of the values of all earlier threads of the block. `warp_sums` has room for one word per warp. All threads take
/// part; the block is one-dimensional, of whole warps.
__device__ inline std::uint32_t block_exclusive_sum(std::uint32_t value, std::uint32_t* warp_sums) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  std::uint32_t inclusive = value;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t below = __shfl_up_sync(~0u, inclusive, distance);
    if (lane >= distance) inclusive += below;
  }
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  std::uint32_t before = inclusive - value;
  for (unsigned other = 0; other < warp; ++other) before += warp_sums[other];
  return before;
}

}  // namespace quadrat::detail
