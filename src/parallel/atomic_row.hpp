// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__CUDACC__)

namespace quadrat::detail {

/// to[k] += value[k] for 2 or 4 adjacent floats, atomically for each: in one operation from compute capability 9.0 on.
/// `to` is aligned to all of them.
template <int N>
__device__ __forceinline__ void atomic_add_row(float* to, const float* value) {
  static_assert(N == 2 || N == 4);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (N == 4) {
    ::atomicAdd(reinterpret_cast<float4*>(to), make_float4(value[0], value[1], value[2], value[3]));
  } else {
    ::atomicAdd(reinterpret_cast<float2*>(to), make_float2(value[0], value[1]));
  }
#else
#pragma unroll
  for (int k = 0; k < N; ++k) ::atomicAdd(to + k, value[k]);
#endif
}

}  // namespace quadrat::detail

#endif
