// SPDX-License-Identifier: BSD-3-Clause
#include "cells/counting_partition.hpp"

#include <algorithm>

#include "cells/counting_partition_keys.hpp"
#include "core/cuda_check.hpp"
#include "parallel/block_scan.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// Tile: 4096 elements; one thread per range. Sorts the tile's elements by range in shared memory, reserves room for
/// each run in its range of the result, and writes the runs.
__global__ void __launch_bounds__(partition_ranges)
    group_kernel(std::uint32_t count, unsigned shift, const std::uint32_t* keys, std::uint32_t* next_free,
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
#pragma unroll
  for (unsigned item = 0; item < partition_items; ++item) {
    const std::uint32_t at = threadIdx.x + item * partition_ranges;
    if (at < inside) rank[item] = atomicAdd(counts + (key[item] >> shift), 1u);
  }
  __syncthreads();
  const std::uint32_t run = counts[threadIdx.x];
  const std::uint32_t room = run == 0 ? 0 : atomicAdd(next_free + threadIdx.x, run);
  const std::uint32_t start = block_exclusive_sum(run, warp_sums);
  starts[threadIdx.x] = start;
  counts[threadIdx.x] = room - start;
  __syncthreads();
#pragma unroll
  for (unsigned item = 0; item < partition_items; ++item) {
    const std::uint32_t at = threadIdx.x + item * partition_ranges;
    if (at < inside) {
      const std::uint32_t to = starts[key[item] >> shift] + rank[item];
      staged_keys[to] = key[item];
      staged[to] = tile + at;
    }
  }
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
__global__ void __launch_bounds__(Threads)
    place_kernel(partition_buffers buffers, const std::uint32_t* firsts, std::uint32_t room) {
  extern __shared__ std::uint32_t shared[];  // one word per bucket, then room for elements
  __shared__ std::uint32_t warp_sums[Threads / 32];
  const std::uint32_t buckets = 1u << buffers.shift;
  std::uint32_t* counts = shared;
  particle_id* staged = shared + buckets;
  const std::uint32_t first = firsts[blockIdx.x];
  const std::uint32_t last = firsts[blockIdx.x + 1];
  for (std::uint32_t bucket = threadIdx.x; bucket < buckets; bucket += Threads) counts[bucket] = 0;
  __syncthreads();
#pragma unroll 4
  for (std::uint32_t at = first + threadIdx.x; at < last; at += Threads) atomicAdd(counts + buffers.low_keys[at], 1u);
  __syncthreads();

  // Each thread takes consecutive buckets, so that its sums are followed by the next thread's.
  const std::uint32_t share = (buckets + Threads - 1) / Threads;
  const std::uint32_t begin = min(threadIdx.x * share, buckets);
  const std::uint32_t end = min(begin + share, buckets);
  std::uint32_t sum = 0;
  for (std::uint32_t bucket = begin; bucket < end; ++bucket) sum += counts[bucket];
  std::uint32_t before = block_exclusive_sum(sum, warp_sums);
  for (std::uint32_t bucket = begin; bucket < end; ++bucket) {
    const std::uint32_t own = counts[bucket];
    counts[bucket] = before;
    const std::uint32_t number = (blockIdx.x << buffers.shift) + bucket;
    if (number <= buffers.bucket_count) buffers.offsets[number] = first + before;
    before += own;
  }
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
  place_kernel<Threads>
      <<<partition_ranges, Threads, bytes, context.stream()>>>(buffers, buffers.control + partition_ranges, room);
}

}  // namespace

void place_partitioned(const cuda_context& context, const partition_buffers& buffers) {
  const cuda_launch launch(context, "cells.counting.partition");
  std::uint32_t* next_free = buffers.control + 2 * partition_ranges + 1;
  group_kernel<<<cuda_launch::blocks(buffers.count, partition_tile), partition_ranges, 0, context.stream()>>>(
      buffers.count, buffers.shift, buffers.keys, next_free, buffers.low_keys, buffers.grouped);
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
