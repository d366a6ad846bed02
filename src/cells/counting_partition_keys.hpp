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

/// Tile: 4096 elements; one thread per range. Writes keys and counts the elements of each range; the last block to
/// finish turns the counts into first elements.
template <typename KeyOf>
__global__ void __launch_bounds__(partition_ranges)
    partition_keys_kernel(std::uint32_t count, unsigned shift, KeyOf key_of, std::uint32_t* keys,
                          partition_control* control) {
  __shared__ std::uint32_t counts[partition_ranges];
  __shared__ std::uint32_t warp_sums[partition_ranges / 32];
  __shared__ bool last;
  counts[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t first = blockIdx.x * partition_tile + threadIdx.x;
  // All loads are issued before the first use: for the compiler, raising a fault may write anywhere, and loads cannot
  // be moved before it.
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
  if (add_to_totals(*control, counts, last)) plan_ranges(*control, warp_sums);
}

/// Buckets of elements [0, count) as ranges: all three kernels. Asynchronous.
template <typename KeyOf>
void partition(const cuda_context& context, const partition_buffers& buffers, const KeyOf& key_of) {
  {
    const cuda_launch launch(context, "cells.counting.partition_keys");
    partition_keys_kernel<<<cuda_launch::blocks(buffers.count, partition_tile), partition_ranges, 0,
                            context.stream()>>>(buffers.count, buffers.shift, key_of, buffers.keys, buffers.control);
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
