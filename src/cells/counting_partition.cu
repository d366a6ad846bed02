// SPDX-License-Identifier: BSD-3-Clause
#include "cells/counting_partition.hpp"

#include "cells/counting_partition_keys.hpp"
#include "core/cuda_check.hpp"
#include "parallel/range_partition.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// Tile: 4096 elements; one thread per range. Sorts the tile's elements by range in shared memory, reserves room for
/// each run in its range of the result, and writes the runs.
__global__ void __launch_bounds__(partition_ranges)
    group_kernel(std::uint32_t count, unsigned shift, const std::uint32_t* keys, counting_control* control,
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
  const range_run run = reserve_run(control->ranges, counts[threadIdx.x], warp_sums);
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

/// The unit that a block places: a part of the buckets of a range.
struct placed_part {
  std::uint32_t first;  ///< grouped element of the range, and one past its last
  std::uint32_t last;
  std::uint32_t low;     ///< first bucket of the part, in the range
  std::uint32_t width;   ///< buckets of the part
  std::uint32_t number;  ///< first bucket of the part, in all
  bool whole;            ///< the range has no other parts
};

/// The part with this number. Called by the whole block. `found`: shared memory.
template <unsigned Threads>
__device__ placed_part part_of_unit(const partition_buffers& buffers, std::uint32_t unit, std::uint32_t& found) {
  const std::uint32_t* const first_unit = buffers.control->first_unit;
  for (std::uint32_t k = threadIdx.x; k < partition_ranges; k += Threads) {
    if (first_unit[k] <= unit && unit < first_unit[k + 1]) found = k;
  }
  __syncthreads();
  const std::uint32_t range = found, parts = first_unit[range + 1] - first_unit[range];
  const std::uint32_t width = (1u << buffers.shift) / parts, low = (unit - first_unit[range]) * width;
  const std::uint32_t* const first = buffers.control->ranges.first + range;
  return {first[0], first[1], low, width, (range << buffers.shift) + low, parts == 1};
}

/// Calls f(number of the first element, buckets in the part) for all elements of the range, in arrays of `Keys`
/// buckets, or of one at the ends. Buckets before the part wrap around to large numbers.
template <unsigned Threads, unsigned Keys, typename F>
__device__ void for_each_of_range(const partition_buffers& buffers, const placed_part& part, const F& f) {
  struct alignas(Keys * sizeof(std::uint16_t)) some_keys {
    std::uint16_t key[Keys];
  };
  const std::uint32_t begin = min((part.first + Keys - 1) / Keys * Keys, part.last);
  const std::uint32_t end = max(part.last / Keys * Keys, begin);
  const auto single = [&](std::uint32_t at) {
    const std::uint32_t bucket[1] = {buffers.low_keys[at] - part.low};
    f(at, bucket);
  };
  if (threadIdx.x < begin - part.first) single(part.first + threadIdx.x);
  if (threadIdx.x < part.last - end) single(end + threadIdx.x);
#pragma unroll 2
  for (std::uint32_t at = begin + Keys * threadIdx.x; at < end; at += Keys * Threads) {
    const some_keys keys = *reinterpret_cast<const some_keys*>(buffers.low_keys + at);
    std::uint32_t bucket[Keys];
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) bucket[k] = keys.key[k] - part.low;
    f(at, bucket);
  }
}

/// Counts the buckets of a part. Returns how many elements of the range are before it, by thread.
template <unsigned Threads, unsigned Keys, bool Whole>
__device__ std::uint32_t count_part(const partition_buffers& buffers, const placed_part& part, std::uint32_t* counts) {
  std::uint32_t before = 0;
  for_each_of_range<Threads, Keys>(buffers, part, [&]<unsigned N>(std::uint32_t, const std::uint32_t(&bucket)[N]) {
#pragma unroll
    for (unsigned k = 0; k < N; ++k) {
      if (Whole || bucket[k] < part.width) atomicAdd(counts + bucket[k], 1u);
      if (!Whole) before += bucket[k] >> 31;
    }
  });
  return before;
}

/// Calls put(bucket, element) for the elements of a part. All are loaded before the first put, because the compiler
/// moves no load across an atomic operation.
template <unsigned Threads, unsigned Keys, bool Whole, typename Put>
__device__ void for_each_of_part(const partition_buffers& buffers, const placed_part& part, const Put& put) {
  for_each_of_range<Threads, Keys>(buffers, part, [&]<unsigned N>(std::uint32_t at, const std::uint32_t(&bucket)[N]) {
    particle_id element[N];
    if constexpr (Whole && N % 4 == 0) {
#pragma unroll
      for (unsigned k = 0; k < N; k += 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(buffers.grouped + at + k);
        element[k] = four.x;
        element[k + 1] = four.y;
        element[k + 2] = four.z;
        element[k + 3] = four.w;
      }
    } else {
#pragma unroll
      for (unsigned k = 0; k < N; ++k) {
        if (Whole || bucket[k] < part.width) element[k] = buffers.grouped[at + k];
      }
    }
#pragma unroll
    for (unsigned k = 0; k < N; ++k) {
      if (Whole || bucket[k] < part.width) put(bucket[k], element[k]);
    }
  });
}

/// `shared`: zeros for the counts of the part, then room for elements, which are placed there if they fit, so that
/// writes coalesce. `earlier` is 0.
template <unsigned Threads, unsigned Keys, bool Whole>
__device__ void place_part(const partition_buffers& buffers, const placed_part& part, std::uint32_t room,
                           std::uint32_t* shared, std::uint32_t* warp_sums, std::uint32_t& earlier) {
  std::uint32_t* const counts = shared;
  particle_id* const staged = shared + part.width;
  const std::uint32_t before = count_part<Threads, Keys, Whole>(buffers, part, counts);
  if (!Whole && before != 0) atomicAdd(&earlier, before);
  __syncthreads();
  const std::uint32_t start = part.first + earlier;
  const std::uint32_t share = ((part.width + Threads - 1) / Threads) | 1;
  block_scan_counts(part.width, share, counts, warp_sums,
                    [&](std::uint32_t bucket, std::uint32_t sum) { counts[bucket] = sum; });
  __syncthreads();
  for (std::uint32_t bucket = threadIdx.x; bucket < part.width; bucket += Threads) {
    if (part.number + bucket <= buffers.bucket_count) buffers.offsets[part.number + bucket] = start + counts[bucket];
  }
  __syncthreads();
  for_each_of_part<Threads, Keys, Whole>(buffers, part, [&](std::uint32_t bucket, particle_id element) {
    const std::uint32_t slot = atomicAdd(counts + bucket, 1u);
    if (slot < room) {
      staged[slot] = element;
    } else {
      buffers.elements[start + slot] = element;
    }
  });
  __syncthreads();
  const std::uint32_t size = min(counts[part.width - 1], room);
  for (std::uint32_t at = threadIdx.x; at < size; at += Threads) buffers.elements[start + at] = staged[at];
}

/// Counts the buckets of the ranges in shared memory, writes their offsets, and places the elements. `words`: of shared
/// memory.
template <unsigned Threads, unsigned Keys>
__global__ void __launch_bounds__(Threads) place_kernel(partition_buffers buffers, std::uint32_t words) {
  extern __shared__ std::uint32_t shared[];
  __shared__ std::uint32_t warp_sums[Threads / 32];
  __shared__ std::uint32_t earlier, found;
  const std::uint32_t buckets = 1u << buffers.shift, units = buffers.control->units;
  const std::uint32_t* const first = buffers.control->ranges.first + blockIdx.x;
  placed_part part{first[0], first[1], 0, buckets, blockIdx.x << buffers.shift, true};
  for (std::uint32_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    if (unit != blockIdx.x) __syncthreads();
    for (std::uint32_t bucket = threadIdx.x; bucket < buckets; bucket += Threads) shared[bucket] = 0;
    if (threadIdx.x == 0) earlier = 0;
    if (units != partition_ranges) part = part_of_unit<Threads>(buffers, unit, found);
    __syncthreads();
    const std::uint32_t room = words - part.width;
    if (part.whole) {
      place_part<Threads, Keys, true>(buffers, part, room, shared, warp_sums, earlier);
    } else {
      place_part<Threads, Keys, false>(buffers, part, room, shared, warp_sums, earlier);
    }
    // The end of the last bucket.
    if (unit == units - 1 && threadIdx.x == 0) buffers.offsets[buffers.bucket_count] = part.last;
  }
}

template <unsigned Threads, unsigned Keys>
void launch_place(const cuda_context& context, const partition_buffers& buffers) {
  const std::uint32_t words = buffers.words();
  // The same value for every launch, because other host threads may set it concurrently.
  check_cuda(cudaFuncSetAttribute(place_kernel<Threads, Keys>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(buffers.most_words * sizeof(std::uint32_t))),
             "asking for shared memory");
  place_kernel<Threads, Keys>
      <<<partition_ranges, Threads, words * sizeof(std::uint32_t), context.stream()>>>(buffers, words);
}

}  // namespace

void place_partitioned(const cuda_context& context, const partition_buffers& buffers) {
  const cuda_launch launch(context, "cells.counting.partition");
  group_kernel<<<cuda_launch::blocks(buffers.count, partition_tile), partition_ranges, 0, context.stream()>>>(
      buffers.count, buffers.shift, buffers.keys, buffers.control, buffers.low_keys, buffers.grouped);
  // Small ranges have work for all threads if each loads few keys.
  if (buffers.mean() <= 8192) {
    launch_place<512, 4>(context, buffers);
  } else {
    launch_place<1024, 8>(context, buffers);
  }
  launch.check();
}

}  // namespace quadrat::detail
