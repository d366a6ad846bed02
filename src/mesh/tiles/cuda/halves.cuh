// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/half_scale.hpp"
#include "mesh/tiles/cuda/problem.hpp"
#include "mesh/tiles/cuda/weights.cuh"

/// Products of floats on tensor cores, each factor split into two numbers of 11 bits in half precision: compared to the
/// tf32 format (mma.cuh), an instruction multiplies twice as many points. Half precision has few exponents, from 2^-24
/// to 2^16. So windows and values are scaled by powers of two, and numbers without a common scale are multiplied
/// without tensor cores.
namespace quadrat::detail {

/// Two numbers, those of two neighboring points, as sums of two halves each.
struct half_parts {
  std::uint32_t high, low;
};

__device__ __forceinline__ std::uint32_t half_bits(__half2 value) { return *reinterpret_cast<std::uint32_t*>(&value); }

__device__ __forceinline__ half_parts split_halves(float a, float b) {
  const __half2 high = __floats2half2_rn(a, b);
  const float2 back = __half22float2(high);
  return {half_bits(high), half_bits(__floats2half2_rn(a - back.x, b - back.y))};
}

/// The products of two pairs, rounded once, to the last digit of the lower part.
__device__ __forceinline__ half_parts multiply_to_halves(float2 a, float2 b) {
  const __half2 high = __floats2half2_rn(a.x * b.x, a.y * b.y);
  const float2 back = __half22float2(high);
  return {half_bits(high), half_bits(__floats2half2_rn(fmaf(a.x, b.x, -back.x), fmaf(a.y, b.y, -back.y)))};
}

/// sum += left x right, 16 x 8 times 8 x 8: of the left matrix lane 4 g + t holds (g, 2t and 2t + 1), (g + 8, the
/// same); of the right one (2t and 2t + 1, g); of the sums (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
__device__ __forceinline__ void add_half_product(float (&sum)[4], std::uint32_t a0, std::uint32_t a1,
                                                 std::uint32_t b0) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(b0));
}

/// The same for 16 x 16 times 16 x 8, whose second halves are a2, a3 and b1. Before compute capability 8.0, two
/// products.
__device__ __forceinline__ void add_half_product(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                                                 std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#else
  add_half_product(sum, a0, a1, b0);
  add_half_product(sum, a2, a3, b1);
#endif
}

/// The three significant products of two parts each.
__device__ __forceinline__ void multiply_half_parts(float (&sum)[4], const half_parts (&left)[4],
                                                    const half_parts (&right)[2]) {
  add_half_product(sum, left[0].low, left[1].low, left[2].low, left[3].low, right[0].high, right[1].high);
  add_half_product(sum, left[0].high, left[1].high, left[2].high, left[3].high, right[0].low, right[1].low);
  add_half_product(sum, left[0].high, left[1].high, left[2].high, left[3].high, right[0].high, right[1].high);
}

/// Pairs of points of a batch whose weights are in shared memory at a time, two points per lane.
inline constexpr int half_batch_pairs = 32;
inline constexpr int half_batch = 2 * half_batch_pairs;
/// Products take 16 points at a time.
inline constexpr int half_group = 16;

/// Numbers of a batch at `Count` mesh points, or for `Count` channels, by pairs of points. Products read up to 14
/// points beyond the last one; the rest of a row avoids bank conflicts.
template <int Count>
struct half_rows {
  static constexpr int pitch = half_batch_pairs + 12;
  float2 row[Count][pitch];

  [[nodiscard]] __device__ float of_point(int position, int point) const {
    const float2 both = row[position][point / 2];
    return point % 2 == 0 ? both.x : both.y;
  }
  __device__ void clear_tail(int lane) {
    for (int i = lane; i < Count * (pitch - half_batch_pairs); i += 32) {
      row[i / (pitch - half_batch_pairs)][half_batch_pairs + i % (pitch - half_batch_pairs)] = {};
    }
  }
};

/// Pieces of a symmetric window at some places: see mesh_window. w[p][j] for j < Width.
template <int Width, int Places>
__device__ __forceinline__ void mirrored_weights(const mesh_window<float>& window, const float (&s)[Places],
                                                 float (&w)[Places][8]) {
  constexpr int half = (Width + 1) / 2, most = mesh_window<float>::most_terms;
  float even[Places][half] = {}, odd[Places][half] = {};
#pragma unroll
  for (int d = most - 2; d >= 0; d -= 2) {
    if (d >= window.terms) continue;
#pragma unroll
    for (int p = 0; p < Places; ++p) {
#pragma unroll
      for (int j = 0; j < half; ++j) {
        even[p][j] = even[p][j] * (s[p] * s[p]) + window.coefficient[d][j];
        if (2 * j != Width - 1) odd[p][j] = odd[p][j] * (s[p] * s[p]) + window.coefficient[d + 1][j];
      }
    }
  }
#pragma unroll
  for (int p = 0; p < Places; ++p) {
#pragma unroll
    for (int j = 0; j < half; ++j) {
      w[p][j] = even[p][j] + s[p] * odd[p][j];
      if (2 * j != Width - 1) w[p][Width - 1 - j] = even[p][j] - s[p] * odd[p][j];
    }
  }
}

template <int Width, int Places>
__device__ __forceinline__ void mirrored_weights_of(const mesh_window<float>& window, const float (&s)[Places],
                                                    float (&w)[Places][8]) {
  if constexpr (Width < 8) {
    if (window.width != Width) return mirrored_weights_of<Width + 1>(window, s, w);
  }
  mirrored_weights<Width>(window, s, w);
}

/// The weights at some places, zeros from the window's width to 8.
template <int Places>
__device__ __forceinline__ void weights_at(const mesh_window<float>& window, const float (&s)[Places],
                                           float (&w)[Places][8]) {
#pragma unroll
  for (int p = 0; p < Places; ++p) {
#pragma unroll
    for (int j = 0; j < 8; ++j) w[p][j] = 0;
  }
  if (window.symmetric) return mirrored_weights_of<1>(window, s, w);
#pragma unroll 1
  for (int d = window.terms - 1; d >= 0; --d) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
#pragma unroll
      for (int p = 0; p < Places; ++p) w[p][j] = w[p][j] * s[p] + window.coefficient[d][j];
    }
  }
}

/// The weights of points along an axis of the mesh: 1 for the one mesh point along an axis beyond the dimension.
template <int Places>
__device__ __forceinline__ void weights_along(const mesh_window<float>& window, bool beyond,
                                              const std::uint32_t (&place)[Places], float (&w)[Places][8]) {
  float s[Places];
#pragma unroll
  for (int p = 0; p < Places; ++p) s[p] = place_of<float>(place[p]);
  weights_at(window, s, w);
  if (!beyond) return;
#pragma unroll
  for (int p = 0; p < Places; ++p) {
#pragma unroll
    for (int j = 0; j < 8; ++j) w[p][j] = j == 0 ? 1.0f : 0.0f;
  }
}

/// The weights of a point along all axes.
__device__ __forceinline__ void weights_of_record(const mesh_window<float>& window, const mesh_shape& shape,
                                                  const tile_record<float>& record, float (&w)[3][8]) {
  const float s[3] = {place_of<float>(record.place[0]), place_of<float>(record.place[1]),
                      place_of<float>(record.place[2])};
  weights_at(window, s, w);
#pragma unroll
  for (int axis = 0; axis < 2; ++axis) {  // the last axis always exists
    if (axis >= shape.first_axis) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j) w[axis][j] = j == 0 ? 1.0f : 0.0f;
  }
}

}  // namespace quadrat::detail
