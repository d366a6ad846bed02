// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/parallel/warp_scan.hpp"

namespace quadrat::detail {

/// The sum of the values of all earlier threads of the block. `warp_sums` has room for one word per warp. All threads
/// of the block must call it. The block is one-dimensional and consists of whole warps.
__device__ inline std::uint32_t block_exclusive_sum(std::uint32_t value, std::uint32_t* warp_sums) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const std::uint32_t inclusive = warp_inclusive_sum(value, lane);
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  std::uint32_t before = inclusive - value;
  for (unsigned other = 0; other < warp; ++other) before += warp_sums[other];
  return before;
}

/// Calls write(i, sum of counts[0, i)) for each of `size` counts, which it may overwrite. Each thread takes `share`
/// consecutive counts; together the threads must cover all. For counts in shared memory, an odd share avoids bank
/// conflicts.
template <typename Write>
__device__ void block_scan_counts(std::uint32_t size, std::uint32_t share, const std::uint32_t* counts,
                                  std::uint32_t* warp_sums, const Write& write) {
  const std::uint32_t begin = min(threadIdx.x * share, size);
  const std::uint32_t end = min(begin + share, size);
  std::uint32_t sum = 0;
  for (std::uint32_t i = begin; i < end; ++i) sum += counts[i];
  std::uint32_t before = block_exclusive_sum(sum, warp_sums);
  for (std::uint32_t i = begin; i < end; ++i) {
    const std::uint32_t own = counts[i];
    write(i, before);
    before += own;
  }
}

}  // namespace quadrat::detail
