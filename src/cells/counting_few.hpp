// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel/range_partition.hpp"
#include "quadrat/core/macros.hpp"

#if defined(__CUDACC__)
#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/warp_scan.hpp"
#endif

/// Counting few elements in few buckets, for CUDA: the last block that counts also scans the counts, and leaves zeros
/// for the next build. So keys, counts and offsets take one launch, where filling, counting and scanning take three or
/// four; with so few elements launches are most of the time.
namespace quadrat::detail {

inline constexpr unsigned few_threads = 512, few_warps = few_threads / 32;
/// Counts that a warp reads at a time, and the most buckets that one block scans sooner than several.
inline constexpr std::uint32_t few_at_once = 128, few_most_buckets = 32768;

[[nodiscard]] constexpr bool counts_few(std::size_t count, std::size_t bucket_count) {
  return count > 0 && count < partition_least && bucket_count <= few_most_buckets;
}

/// Counts of a warp, which together cover all buckets and one more.
[[nodiscard]] QUADRAT_HD constexpr std::uint32_t few_counts_of_warp(std::uint32_t bucket_count) {
  constexpr std::uint32_t at_once = few_warps * few_at_once;
  return (bucket_count + at_once) / at_once * few_at_once;
}

/// Words before the counts: blocks that have counted, and room that aligns the counts.
inline constexpr std::size_t few_control_words = 4;
/// All words that must be zero at first. They are zero again after each launch.
[[nodiscard]] constexpr std::size_t few_words(std::uint32_t bucket_count) {
  return few_control_words + std::size_t{few_warps} * few_counts_of_warp(bucket_count);
}

struct few_counts {
  std::uint32_t* words;    ///< few_words
  std::uint32_t* keys;     ///< result: by element
  std::uint32_t* ranks;    ///< result: by element, among those of its bucket
  std::uint32_t* offsets;  ///< result: first slot of each bucket, and the end
  std::uint32_t count;
  std::uint32_t bucket_count;
};

#if defined(__CUDACC__)

/// For one block: from counts to offsets.
__device__ inline void scan_few(const few_counts& job, std::uint32_t* warp_sums) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t share = few_counts_of_warp(job.bucket_count), first = warp * share;
  auto* const counts = reinterpret_cast<uint4*>(job.words + few_control_words);
  std::uint32_t sum = 0;
#pragma unroll 4
  for (std::uint32_t at = first; at < first + share; at += few_at_once) {
    const uint4 four = __ldcg(counts + at / 4 + lane);
    sum += four.x + four.y + four.z + four.w;
  }
  sum = warp_inclusive_sum(sum, lane);
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  std::uint32_t before = 0;
  for (unsigned other = 0; other < warp; ++other) before += warp_sums[other];
#pragma unroll 4
  for (std::uint32_t at = first; at < first + share; at += few_at_once) {
    uint4* const from = counts + at / 4 + lane;
    const uint4 four = __ldcg(from);
    const std::uint32_t own = four.x + four.y + four.z + four.w, until = warp_inclusive_sum(own, lane);
    const std::uint32_t begin = before + until - own;
    const std::uint32_t offsets[4] = {begin, begin + four.x, begin + four.x + four.y, begin + four.x + four.y + four.z};
    *from = {0, 0, 0, 0};
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) {
      if (at + 4 * lane + k <= job.bucket_count) job.offsets[at + 4 * lane + k] = offsets[k];
    }
    before += __shfl_sync(~0u, until, 31);
  }
}

/// A thread per element.
template <typename KeyOf>
__global__ void __launch_bounds__(few_threads)
    count_few_kernel(const __grid_constant__ few_counts job, const __grid_constant__ KeyOf key_of) {
  __shared__ std::uint32_t warp_sums[few_warps];
  __shared__ bool last;
  const std::uint32_t i = blockIdx.x * few_threads + threadIdx.x;
  if (i < job.count) {
    const std::uint32_t key = key_of(i);
    job.keys[i] = key;
    job.ranks[i] = atomicAdd(job.words + few_control_words + key, 1u);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(job.words, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  scan_few(job, warp_sums);
  if (threadIdx.x == 0) *job.words = 0;
}

template <typename KeyOf>
void count_few(const cuda_context& context, const few_counts& job, const KeyOf& key_of) {
  const cuda_launch launch(context, "cells.counting.few");
  count_few_kernel<<<cuda_launch::blocks(job.count, few_threads), few_threads, 0, context.stream()>>>(job, key_of);
  launch.check();
}

#endif

}  // namespace quadrat::detail
