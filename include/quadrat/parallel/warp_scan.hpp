// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if !defined(__CUDACC__)
#error "quadrat/parallel/warp_scan.hpp is for sources that nvcc compiles"
#endif

#include <cstdint>

/// Prefix sums over the lanes of a warp, by shuffles. All lanes of the warp call these functions together; `lane` is
/// the number of the calling lane. Source of both: Hillis and Steele, *Data parallel algorithms* (1986).
namespace quadrat::detail {

/// The sum of the values of this lane and all before it.
[[nodiscard]] __device__ __forceinline__ std::uint32_t warp_inclusive_sum(std::uint32_t value, unsigned lane) {
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t before = __shfl_up_sync(~0u, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

/// The value of the lane `distance` before this one, or this lane's own if there is none. Other types have overloads.
template <typename T>
[[nodiscard]] __device__ __forceinline__ T shuffle_up(const T& value, int distance) {
  return __shfl_up_sync(~0u, value, static_cast<unsigned>(distance));
}

/// The number of lanes between this one and the head of its segment. Bit l of `heads` is set if a segment begins at
/// lane l; bit 0 must be set.
[[nodiscard]] __device__ __forceinline__ int lanes_since_head(unsigned heads, int lane) {
  return lane - (31 - __clz(static_cast<int>(heads & (~0u >> (31 - lane)))));
}

/// Joins the values of the `since_head` lanes before this one to its own: join(earlier, later) must be associative.
template <typename T, int C, typename Join>
__device__ __forceinline__ void warp_segmented_scan(int since_head, T (&value)[C], const Join& join) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    T before[C];
#pragma unroll
    for (int c = 0; c < C; ++c) before[c] = shuffle_up(value[c], distance);
    if (since_head >= distance) {
#pragma unroll
      for (int c = 0; c < C; ++c) value[c] = join(before[c], value[c]);
    }
  }
}

}  // namespace quadrat::detail
