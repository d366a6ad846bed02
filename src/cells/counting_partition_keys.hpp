// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cells/counting_partition.hpp"

#if defined(__CUDACC__)
#include "parallel/range_partition.cuh"
#include "quadrat/parallel/cuda_launch.hpp"
#endif

namespace quadrat::detail {

#if defined(__CUDACC__)

/// Elements per thread, for loads in flight.
inline constexpr unsigned partition_items = 8;
inline constexpr unsigned partition_tile = partition_ranges * partition_items;

/// One block, a thread per range with this many elements. Plans the number of parts of each range, so that on average
/// counts and elements of a part fit into the `words` of a block.
__device__ inline void plan_parts(counting_control& control, std::uint32_t elements, unsigned shift,
                                  std::uint32_t words, std::uint32_t* warp_sums) {
  const auto fits = [&](unsigned log) { return elements >> log <= words - ((1u << shift) >> log); };
  if (__syncthreads_or(fits(0) ? 0 : 1) == 0) {
    if (threadIdx.x == 0) control.units = partition_ranges;
    return;
  }
  unsigned log = 0;
  while (log < most_parts_log && log < shift && !fits(log)) ++log;
  const std::uint32_t before = block_exclusive_sum(1u << log, warp_sums), end = before + (1u << log);
  control.first_unit[threadIdx.x] = before;
  if (threadIdx.x == partition_ranges - 1) control.units = control.first_unit[partition_ranges] = end;
}

/// Tile: 4096 elements; one thread per range. Writes keys and counts the elements of each range; the last block to
/// finish turns the counts into first elements, and plans the parts of the ranges.
template <typename KeyOf>
__global__ void __launch_bounds__(partition_ranges)
    partition_keys_kernel(std::uint32_t count, unsigned shift, std::uint32_t words, KeyOf key_of, std::uint32_t* keys,
                          counting_control* control) {
  __shared__ std::uint32_t counts[partition_ranges];
  __shared__ std::uint32_t warp_sums[partition_ranges / 32];
  __shared__ bool last;
  counts[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t first = blockIdx.x * partition_tile + threadIdx.x;
  // All loads are issued before the first use: the compiler cannot move loads before a fault, which writes to
  // memory.
  decltype(key_of.read(0)) elements[partition_items];
#pragma unroll
  for (unsigned item = 0; item < partition_items; ++item) {
    elements[item] = key_of.read(min(first + item * partition_ranges, count - 1));
  }
#pragma unroll
  for (unsigned item = 0; item < partition_items; ++item) {
    const std::uint32_t i = first + item * partition_ranges;
    if (i < count) {
      const std::uint32_t key = key_of.at(i, elements[item]);
      keys[i] = key;
      atomicAdd(counts + (key >> shift), 1u);
    }
  }
  __syncthreads();
  if (!add_to_totals(control->ranges, counts, last)) return;
  const std::uint32_t of_range = plan_ranges(control->ranges, warp_sums);
  plan_parts(*control, of_range, shift, words, warp_sums);
}

/// Buckets of elements [0, count) as ranges: all three kernels. Asynchronous.
template <typename KeyOf>
void partition(const cuda_context& context, const partition_buffers& buffers, const KeyOf& key_of) {
  {
    const cuda_launch launch(context, "cells.counting.partition_keys");
    partition_keys_kernel<<<cuda_launch::blocks(buffers.count, partition_tile), partition_ranges, 0,
                            context.stream()>>>(buffers.count, buffers.shift, buffers.words(), key_of, buffers.keys,
                                                buffers.control);
    launch.check();
  }
  place_partitioned(context, buffers);
}

#else

/// Without nvcc, no CUDA context can be constructed.
template <typename KeyOf>
void partition(const cuda_context& context, const partition_buffers&, const KeyOf&) {
  context.activate();
}

#endif

}  // namespace quadrat::detail
