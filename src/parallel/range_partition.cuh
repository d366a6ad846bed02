// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "parallel/block_scan.cuh"
#include "parallel/range_partition.hpp"

/// Device functions for all threads of a block of partition_ranges threads. A thread holds the elements threadIdx.x + i
/// partition_ranges of its block. The caller must place barriers between the calls.
namespace quadrat::detail {

/// Adds a block's counts of all ranges to the totals. Returns true in the last block, which then sees complete totals.
/// `last`: in shared memory.
[[nodiscard]] __device__ inline bool add_to_totals(partition_control& control, const std::uint32_t* counts,
                                                   bool& last) {
  if (counts[threadIdx.x] != 0) atomicAdd(control.totals + threadIdx.x, counts[threadIdx.x]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&control.done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return false;
  __threadfence();
  return true;
}

/// For one block: computes where the ranges begin, and clears the totals. Returns the number of elements of the
/// thread's range.
__device__ inline std::uint32_t plan_ranges(partition_control& control, std::uint32_t* warp_sums) {
  const std::uint32_t total = atomicExch(control.totals + threadIdx.x, 0u);
  const std::uint32_t before = block_exclusive_sum(total, warp_sums);
  control.first[threadIdx.x] = before;
  control.next_free[threadIdx.x] = before;
  if (threadIdx.x == partition_ranges - 1) control.first[partition_ranges] = before + total;
  if (threadIdx.x == 0) control.done = 0;
  return total;
}

/// Ranks a thread's elements among those of the block with the same key, in the order of atomic operations. Also counts
/// the elements of each key. Keys are `keys` without the low bits.
template <unsigned Items>
__device__ void take_ranks(const std::uint32_t (&keys)[Items], unsigned low_bits, std::uint32_t size,
                           std::uint32_t* counts, std::uint32_t (&rank)[Items]) {
#pragma unroll
  for (unsigned item = 0; item < Items; ++item) {
    if (threadIdx.x + item * partition_ranges < size) rank[item] = atomicAdd(counts + (keys[item] >> low_bits), 1u);
  }
}

/// A block's run: its elements of one range.
struct range_run {
  std::uint32_t start;  ///< among the elements of the block, in the order of ranges
  std::uint32_t room;   ///< its first place among the grouped elements
};

/// Reserves room for the block's run of the thread's range, which has `count` elements.
[[nodiscard]] __device__ inline range_run reserve_run(partition_control& control, std::uint32_t count,
                                                      std::uint32_t* warp_sums) {
  const std::uint32_t room = count == 0 ? 0 : atomicAdd(control.next_free + threadIdx.x, count);
  return {block_exclusive_sum(count, warp_sums), room};
}

/// Calls put(slot, element of the block, its whole key): slots are in the order of keys.
template <unsigned Items, typename Start, typename Put>
__device__ void put_in_order(const std::uint32_t (&keys)[Items], unsigned low_bits, std::uint32_t size,
                             const Start* starts, const std::uint32_t (&rank)[Items], const Put& put) {
#pragma unroll
  for (unsigned item = 0; item < Items; ++item) {
    const std::uint32_t at = threadIdx.x + item * partition_ranges;
    if (at < size) put(starts[keys[item] >> low_bits] + rank[item], at, keys[item]);
  }
}

}  // namespace quadrat::detail
