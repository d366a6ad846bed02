// SPDX-License-Identifier: BSD-3-Clause
#include "cells/counting_partition.hpp"

#include <algorithm>

#include "cells/counting_partition_keys.hpp"
#include "core/cuda_check.hpp"
#include "parallel/range_partition.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// Tile: 4096 elements; one thread per range. Sorts the tile's elements by range in shared memory, reserves room for
/// each run in its range of the result, and writes the runs.
__global__ void __launch_bounds__(partition_ranges)
    group_kernel(std::uint32_t count, unsigned shift, const std::uint32_t* keys, partition_control* control,
                 std::uint16_t* low_keys, particle_id* grouped) {
  __shared__ std::uint32_t counts[partition_ranges];  // later: the offset of a run's elements
  __shared__ std::uint32_t starts[partition_ranges];
  __shared__ std::uint32_t warp_sums[partition_ranges / 32];
  __shared__ std::uint32_t staged_keys[partition_tile];
  __shared__ particle_id staged[partition_tile];
  const std::uint32_t tile = blockIdx.x * partition_tile;
  const std::uint32_t inside = min(partition_tile, count - tile);
  counts[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t key[partition_items];
  std::uint32_t rank[partition_items];
#pragma unroll
  for (unsigned item = 0; item < partition_items; ++item) {
    const std::uint32_t at = threadIdx.x + item * partition_ranges;
    key[item] = at < inside ? keys[tile + at] : 0;
  }
  take_ranks(key, shift, inside, counts, rank);
  __syncthreads();
  const range_run run = reserve_run(*control, counts[threadIdx.x], warp_sums);
  starts[threadIdx.x] = run.start;
  counts[threadIdx.x] = run.room - run.start;
  __syncthreads();
  put_in_order(key, shift, inside, starts, rank, [&](std::uint32_t slot, std::uint32_t at, std::uint32_t whole_key) {
    staged_keys[slot] = whole_key;
    staged[slot] = tile + at;
  });
  __syncthreads();
#pragma unroll
  for (unsigned item = 0; item < partition_items; ++item) {
    const std::uint32_t at = threadIdx.x + item * partition_ranges;
    if (at < inside) {
      const std::uint32_t to = counts[staged_keys[at] >> shift] + at;
      low_keys[to] = static_cast<std::uint16_t>(staged_keys[at] & ((1u << shift) - 1));
      grouped[to] = staged[at];
    }
  }
}

/// One block per range. Counts its buckets in shared memory, writes their offsets, and places the elements: through
/// shared memory if they fit in `room` words, so that writes coalesce.
template <unsigned Threads>
__global__ void __launch_bounds__(Threads) place_kernel(partition_buffers buffers, std::uint32_t room) {
  extern __shared__ std::uint32_t shared[];  // one word per bucket, then room for elements
  __shared__ std::uint32_t warp_sums[Threads / 32];
  const std::uint32_t buckets = 1u << buffers.shift;
  std::uint32_t* counts = shared;
  particle_id* staged = shared + buckets;
  const std::uint32_t first = buffers.control->first[blockIdx.x];
  const std::uint32_t last = buffers.control->first[blockIdx.x + 1];
  for (std::uint32_t bucket = threadIdx.x; bucket < buckets; bucket += Threads) counts[bucket] = 0;
  __syncthreads();
#pragma unroll 4
  for (std::uint32_t at = first + threadIdx.x; at < last; at += Threads) atomicAdd(counts + buffers.low_keys[at], 1u);
  __syncthreads();

  const std::uint32_t share = (buckets + Threads - 1) / Threads;
  block_scan_counts(buckets, share, counts, warp_sums, [&](std::uint32_t bucket, std::uint32_t before) {
    counts[bucket] = before;
    const std::uint32_t number = (blockIdx.x << buffers.shift) + bucket;
    if (number <= buffers.bucket_count) buffers.offsets[number] = first + before;
  });
  // The end of the last bucket.
  if (blockIdx.x == partition_ranges - 1 && threadIdx.x == 0) buffers.offsets[buffers.bucket_count] = last;
  __syncthreads();

  if (last - first > room) {
#pragma unroll 4
    for (std::uint32_t at = first + threadIdx.x; at < last; at += Threads) {
      buffers.elements[first + atomicAdd(counts + buffers.low_keys[at], 1u)] = buffers.grouped[at];
    }
    return;
  }
#pragma unroll 4
  for (std::uint32_t at = first + threadIdx.x; at < last; at += Threads) {
    staged[atomicAdd(counts + buffers.low_keys[at], 1u)] = buffers.grouped[at];
  }
  __syncthreads();
  for (std::uint32_t at = first + threadIdx.x; at < last; at += Threads) buffers.elements[at] = staged[at - first];
}

/// The most words of shared memory of a block, for counts and elements.
constexpr std::uint32_t most_words = 56000;

template <unsigned Threads>
void launch_place(const cuda_context& context, const partition_buffers& buffers, std::uint32_t room) {
  const std::size_t bytes = ((std::size_t{1} << buffers.shift) + room) * sizeof(std::uint32_t);
  // The same value for every launch, because other host threads may set it concurrently.
  check_cuda(cudaFuncSetAttribute(place_kernel<Threads>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(most_words * sizeof(std::uint32_t))),
             "asking for shared memory");
  place_kernel<Threads><<<partition_ranges, Threads, bytes, context.stream()>>>(buffers, room);
}

}  // namespace

void place_partitioned(const cuda_context& context, const partition_buffers& buffers) {
  const cuda_launch launch(context, "cells.counting.partition");
  group_kernel<<<cuda_launch::blocks(buffers.count, partition_tile), partition_ranges, 0, context.stream()>>>(
      buffers.count, buffers.shift, buffers.keys, buffers.control, buffers.low_keys, buffers.grouped);
  // Room for a quarter more than the mean suffices for nearly every range of evenly spread elements; with the counts,
  // it must fit in a block.
  const std::uint32_t used_ranges = ((buffers.bucket_count - 1) >> buffers.shift) + 1;
  const std::uint32_t mean = buffers.count / used_ranges;
  const std::uint32_t room = std::min(mean + mean / 4 + 256, most_words - (1u << buffers.shift));
  if (mean <= 8192) {
    launch_place<512>(context, buffers, room);
  } else {
    launch_place<1024>(context, buffers, room);
  }
  launch.check();
}

}  // namespace quadrat::detail
