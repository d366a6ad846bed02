// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "mesh/tiles/cuda/problem.hpp"

/// Interpolation of float values by pairs of mesh points, which are float2 for real values and float4 for complex
/// ones. Eight lanes share a point: lane t of four takes one pair of each row along the last axis, beginning with the
/// one in which the footprint begins; half h takes every other row along the second axis.
namespace quadrat::detail {

/// Components: 1 or 2.
template <int Components>
using mesh_pair = std::conditional_t<Components == 1, float2, float4>;

QUADRAT_HD inline void add_pair(float2& sum, float w, const float2& v) { sum.x += w * v.x, sum.y += w * v.y; }
QUADRAT_HD inline void add_pair(float4& sum, float w, const float4& v) {
  sum.x += w * v.x, sum.y += w * v.y, sum.z += w * v.z, sum.w += w * v.w;
}

/// The values from a pair's sums and weights, one per component.
QUADRAT_HD inline void close_pair(const float2& sum, const float (&weight)[2], float* values) {
  values[0] = sum.x * weight[0] + sum.y * weight[1];
}
QUADRAT_HD inline void close_pair(const float4& sum, const float (&weight)[2], float* values) {
  values[0] = sum.x * weight[0] + sum.z * weight[1];
  values[1] = sum.y * weight[0] + sum.w * weight[1];
}

/// Rows along the second axis that a lane takes; for odd widths one lane's last weight is zero.
template <int Width>
inline constexpr int pair_rows = (Width + 1) / 2;

/// Results of a point: the components of its value, with Gradient followed by those of the derivative along each axis.
template <int Components, bool Gradient>
inline constexpr int pair_results = Gradient ? 4 * Components : Components;

#if defined(__CUDACC__)

/// One weight of a footprint as a function of the place: its coefficients stay in registers.
class lane_polynomial {
 public:
  /// `weight`: number of the weight, below 8; those beyond the width are zero.
  __device__ lane_polynomial(const mesh_window<float>& window, int weight) : weight_(weight) {
#pragma unroll
    for (int d = 0; d < kept; ++d) coefficient_[d] = weight < window.width ? window.coefficient[d][weight] : 0.0f;
  }

  template <bool Slope>
  __device__ void evaluate(const mesh_window<float>& window, tile_record<float>::word packed, float& value,
                           float& slope) const {
    const float place = place_of<float>(packed);
    value = slope = 0;
    const auto add = [&](float coefficient) {
      if (Slope) slope = slope * place + value;
      value = value * place + coefficient;
    };
    if (weight_ < window.width) {
      for (int d = window.terms - 1; d >= kept; --d) add(window.coefficient[d][weight_]);
    }
#pragma unroll
    for (int d = kept - 1; d >= 0; --d) add(coefficient_[d]);
  }

 private:
  static constexpr int kept = 10;  ///< named windows of floats have no more terms
  float coefficient_[kept];
  int weight_;
};

/// The weights of a lane for a point. With Gradient also their derivatives, the slopes. Each of the eight lanes of a
/// point computes one weight along each axis, and the lanes exchange them.
template <int Width, bool Gradient>
struct pair_weights {
  static constexpr int rows = pair_rows<Width>;

  float first[Width], first_slope[Gradient ? Width : 1];
  float second[rows], second_slope[Gradient ? rows : 1];
  float last[2], last_slope[2];

  /// Odd: whether the footprint begins with the second point of its first pair; false for a width of 8, where no eighth
  /// weight of zero is available as padding. Called by whole warps.
  __device__ pair_weights(const lane_polynomial& own, const mesh_window<float>& window,
                          const tile_record<float>& record, bool odd, int t, int h) {
    float w[3], slope[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      own.evaluate<Gradient>(window, record.place[axis], w[axis], slope[axis]);
    }
    take(w, odd, t, h, first, second, last);
    if constexpr (Gradient) take(slope, odd, t, h, first_slope, second_slope, last_slope);
  }

 private:
  /// Takes all weights of the first axis, every other one of the second from h on, and those of pair t.
  __device__ static void take(const float (&w)[3], bool odd, int t, int h, float (&of_first)[Width],
                              float (&of_second)[rows], float (&of_last)[2]) {
#pragma unroll
    for (int i = 0; i < Width; ++i) of_first[i] = __shfl_sync(~0u, w[0], i, 8);
#pragma unroll
    for (int k = 0; k < rows; ++k) of_second[k] = __shfl_sync(~0u, w[1], 2 * k + h, 8);
    const int pair = 2 * t - (odd ? 1 : 0);  // lane -1 is lane 7
    of_last[0] = __shfl_sync(~0u, w[2], pair & 7, 8);
    of_last[1] = __shfl_sync(~0u, w[2], pair + 1, 8);
  }
};

/// The sums of a lane for a point, by pair along the last axis.
template <int Width, int Components, bool Gradient>
class pair_sums {
 public:
  using pair = mesh_pair<Components>;

  QUADRAT_HD explicit pair_sums(const pair_weights<Width, Gradient>& weights) : weights_(weights) {}
  /// pairs(k): the pair of the lane's row k in plane i of the footprint.
  template <typename Pairs>
  QUADRAT_HD void add_plane(int i, const Pairs& pairs) {
    pair values{}, slopes{};
    QUADRAT_UNROLL
    for (int k = 0; k < pair_rows<Width>; ++k) {
      const pair v = pairs(k);
      add_pair(values, weights_.second[k], v);
      if constexpr (Gradient) add_pair(slopes, weights_.second_slope[k], v);
    }
    add_pair(values_, weights_.first[i], values);
    if constexpr (Gradient) {
      add_pair(first_slopes_, weights_.first_slope[i], values);
      add_pair(second_slopes_, weights_.first[i], slopes);
    }
  }
  QUADRAT_HD void close(float (&results)[pair_results<Components, Gradient>]) const {
    close_pair(values_, weights_.last, results);
    if constexpr (Gradient) {
      close_pair(first_slopes_, weights_.last, results + Components);
      close_pair(second_slopes_, weights_.last, results + 2 * Components);
      close_pair(values_, weights_.last_slope, results + 3 * Components);
    }
  }

 private:
  const pair_weights<Width, Gradient>& weights_;
  pair values_{}, first_slopes_{}, second_slopes_{};
};

/// Sums each of Count numbers, at most 8, over the eight lanes of a point. Lane l < Count gets the sum of number
/// lane_result<Count>(l).
template <int Count>
__device__ __forceinline__ float sum_over_lanes(int lane, float (&own)[Count]) {
#pragma unroll
  for (int bit = 1, half = Count / 2; bit < 8; bit *= 2, half /= 2) {
    if (half == 0) own[0] += __shfl_xor_sync(~0u, own[0], bit);
    const bool upper = (lane & bit) != 0;
#pragma unroll
    for (int r = 0; r < half; ++r) {
      const float kept = upper ? own[r + half] : own[r], sent = upper ? own[r] : own[r + half];
      own[r] = kept + __shfl_xor_sync(~0u, sent, bit);
    }
  }
  return own[0];
}
template <int Count>
__device__ __forceinline__ int lane_result(int lane) {
  int number = 0;
#pragma unroll
  for (int bit = 1, half = Count / 2; half > 0; bit *= 2, half /= 2) number += (lane & bit) != 0 ? half : 0;
  return number;
}

/// Sums the results of a point over its eight lanes, and writes them: a lane writes one.
template <int Components, bool Gradient>
__device__ __forceinline__ void store_pair_results(const tile_patch_values& values, particle_id id, int lane,
                                                   bool there, float (&own)[pair_results<Components, Gradient>]) {
  constexpr int count = pair_results<Components, Gradient>;
  float sum = sum_over_lanes(lane, own);
  if (!there || lane >= count) return;
  const int number = lane_result<count>(lane);
  float* to = nullptr;
  if (!Gradient || number < Components) {
    if (Gradient && values.values == nullptr) return;
    to = values.values + static_cast<std::size_t>(id) * Components + number;
  } else {
    to = values.gradients + static_cast<std::size_t>(id) * (3 * Components) + (number - Components);
    sum *= values.scale[number / Components - 1];
  }
  *to = values.accumulate ? *to + sum : sum;
}

/// Calls launch(integral_constant<int, Width>) for the widths that pairs support.
template <typename Launch>
void with_pair_width(int width, const Launch& launch) {
  switch (width) {
    case 1:
      return launch(std::integral_constant<int, 1>{});
    case 2:
      return launch(std::integral_constant<int, 2>{});
    case 3:
      return launch(std::integral_constant<int, 3>{});
    case 4:
      return launch(std::integral_constant<int, 4>{});
    case 5:
      return launch(std::integral_constant<int, 5>{});
    case 6:
      return launch(std::integral_constant<int, 6>{});
    default:
      return launch(std::integral_constant<int, patch_most_width>{});
  }
}

#endif

}  // namespace quadrat::detail
