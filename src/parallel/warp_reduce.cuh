// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

/// Reductions over the lanes of a warp, which call these functions together. From compute capability 8.0 on an
/// instruction each for words of 32 bits, otherwise five shuffles.
namespace quadrat::detail {

template <typename T, typename Join>
[[nodiscard]] __device__ __forceinline__ T join_lanes(T value, const Join& join) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value = join(value, __shfl_xor_sync(~0u, value, distance));
  return value;
}

template <typename T>
[[nodiscard]] __device__ __forceinline__ T warp_sum(T value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return __reduce_add_sync(~0u, value);
  } else
#endif
  {
    return join_lanes(value, [](T a, T b) { return a + b; });
  }
}
[[nodiscard]] __device__ __forceinline__ std::uint32_t warp_max(std::uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(~0u, value);
#else
  return join_lanes(value, [](std::uint32_t a, std::uint32_t b) { return a < b ? b : a; });
#endif
}
[[nodiscard]] __device__ __forceinline__ std::uint32_t warp_or(std::uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_or_sync(~0u, value);
#else
  return join_lanes(value, [](std::uint32_t a, std::uint32_t b) { return a | b; });
#endif
}

}  // namespace quadrat::detail
