// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Sums over the lanes of a warp, for the columns of matrix products.
namespace quadrat::detail {

/// Sums over the lanes of a row, for two points: lane 4 g + t gets point 2t + g % 2.
template <typename T>
__device__ __forceinline__ T sum_tile_rows(const T (&sums)[2], int lane) {
  const bool odd = (lane & 4) != 0;
  T sum = (odd ? sums[1] : sums[0]) + __shfl_xor_sync(~0u, odd ? sums[0] : sums[1], 4);
  sum += __shfl_xor_sync(~0u, sum, 8);
  return sum + __shfl_xor_sync(~0u, sum, 16);
}

}  // namespace quadrat::detail
