// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/problem.hpp"
#include "mesh/tiles/cuda/weights.cuh"

/// Products of floats on tensor cores, each factor split into two numbers of 11 bits in half precision. Half precision
/// has few exponents, so factors are at most about 1: windows and values are scaled by powers of two. What is lost is
/// some 2^-22 of a product, and 2^-24 of the largest possible one. Compared to the tf32 format (mma.cuh), an
/// instruction multiplies twice as many points.
namespace quadrat::detail {

/// Two numbers, those of two neighboring points, as sums of two halves each.
struct half_parts {
  std::uint32_t high, low;
};

__device__ __forceinline__ std::uint32_t half_bits(__half2 value) { return *reinterpret_cast<std::uint32_t*>(&value); }
__device__ __forceinline__ __half2 halves_of(std::uint32_t bits) { return *reinterpret_cast<__half2*>(&bits); }

__device__ __forceinline__ half_parts split_halves(float a, float b) {
  const __half2 high = __floats2half2_rn(a, b);
  const float2 back = __half22float2(high);
  return {half_bits(high), half_bits(__floats2half2_rn(a - back.x, b - back.y))};
}

/// The products of two pairs, to about 2^-22.
__device__ __forceinline__ half_parts multiply_halves(const half_parts& a, const half_parts& b) {
  const __half2 ah = halves_of(a.high), al = halves_of(a.low), bh = halves_of(b.high), bl = halves_of(b.low);
  const __half2 high = __hmul2_rn(ah, bh);
  const __half2 rest = __hfma2(ah, bh, __hneg2(high));  // exact
  return {half_bits(high), half_bits(__hfma2(al, bh, __hfma2(ah, bl, rest)))};
}

/// sum += left x right, 16 x 16 times 16 x 8: of the left matrix lane 4 g + t holds (g, 2t and 2t + 1), (g + 8, the
/// same), (g, 2t + 8 and 2t + 9), (g + 8, the same); of the right one (2t and 2t + 1, g), (2t + 8 and 2t + 9, g); of
/// the sums (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
__device__ __forceinline__ void add_half_product(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                                                 std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// The three significant products of two parts each.
__device__ __forceinline__ void multiply_half_parts(float (&sum)[4], const half_parts (&left)[4],
                                                    const half_parts (&right)[2]) {
  add_half_product(sum, left[0].low, left[1].low, left[2].low, left[3].low, right[0].high, right[1].high);
  add_half_product(sum, left[0].high, left[1].high, left[2].high, left[3].high, right[0].low, right[1].low);
  add_half_product(sum, left[0].high, left[1].high, left[2].high, left[3].high, right[0].high, right[1].high);
}

/// A power of two that is above a modulus, by at most a factor of 2, and its inverse.
struct half_scale {
  float up, down;

  __device__ explicit half_scale(std::uint32_t modulus) {
    const std::uint32_t exponent = min(max(modulus >> 23, 2u), 252u);
    up = __uint_as_float((exponent + 1) << 23);
    down = __uint_as_float((253 - exponent) << 23);
  }
  /// The modulus of a value as an integer; 0 if it is not finite.
  [[nodiscard]] __device__ static std::uint32_t modulus(float value) {
    const std::uint32_t bits = __float_as_uint(value) & 0x7fffffffu;
    return bits < 0x7f800000u ? bits : 0;
  }
};

/// Scales a window by a power of two, to weights of at most 1. Returns what products of the weights along the axes of a
/// mesh are to be multiplied by.
inline float scale_half_window(mesh_window<float>& window, const mesh_shape& shape) {
  double most = 0;
  for (int j = 0; j < window.width; ++j) {
    double sum = 0;
    for (int d = 0; d < window.terms; ++d) sum += std::ldexp(std::fabs(window.coefficient[d][j]), -d);
    most = std::max(most, sum);
  }
  int exponent = 0;
  std::frexp(most, &exponent);
  for (auto& row : window.coefficient) {
    for (float& coefficient : row) coefficient = std::ldexp(coefficient, -exponent);
  }
  return static_cast<float>(std::ldexp(1.0, (3 - shape.first_axis) * exponent));
}

/// Pairs of points of a batch whose weights are in shared memory at a time, two points per lane.
inline constexpr int half_batch_pairs = 32;
inline constexpr int half_batch = 2 * half_batch_pairs;
/// Products take 16 points at a time.
inline constexpr int half_group = 16;

/// Rows of weights: pairs t and t + 4 of a group of 8 are beside each other, so that a lane reads both at once. The
/// rest of a row avoids bank conflicts.
inline constexpr int half_row_pitch = half_batch_pairs + 8;
__device__ __forceinline__ int half_row_place(int pair) { return (pair & ~7) + 2 * (pair & 3) + (pair >> 2 & 1); }

struct alignas(16) half_rows_two {
  half_parts of[2];
};

/// The weights of a batch along an axis, at `Count` mesh points.
template <int Count>
struct half_rows {
  half_parts row[Count][half_row_pitch];

  /// Those of pairs t and t + 4 of a group.
  [[nodiscard]] __device__ half_rows_two at(int position, int group, int t) const {
    return *reinterpret_cast<const half_rows_two*>(&row[position][8 * group + 2 * t]);
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
