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

/// The weights of a lane for a point. With Gradient also their derivatives, the slopes.
template <int Width, bool Gradient>
struct pair_weights {
  static constexpr int rows = pair_rows<Width>;

  float first[Width], first_slope[Gradient ? Width : 1];
  float second[rows], second_slope[Gradient ? rows : 1];
  float last[2], last_slope[2];

  /// Odd: whether the footprint begins with the second point of its first pair.
  QUADRAT_HD pair_weights(const mesh_window<float>& window, const tile_record<float>& record, bool odd, int t, int h) {
    float w[Width], slope[Width];
    evaluate(window, record.place[1], w, slope);
    take_rows(w, h, second);
    if constexpr (Gradient) take_rows(slope, h, second_slope);
    evaluate(window, record.place[2], w, slope);
    take_pair(w, odd, t, last);
    if constexpr (Gradient) take_pair(slope, odd, t, last_slope);
    if constexpr (Gradient) {
      evaluate(window, record.place[0], first, first_slope);
    } else {
      evaluate(window, record.place[0], first, slope);
    }
  }

 private:
  QUADRAT_HD static void evaluate(const mesh_window<float>& window, tile_record<float>::word place, float (&w)[Width],
                                  float (&slope)[Width]) {
    if constexpr (Gradient) {
      window.template weights_and_derivatives<Width>(place_of<float>(place), w, slope);
    } else {
      window.template weights<Width>(place_of<float>(place), w);
    }
  }
  /// Every other one, from number h.
  QUADRAT_HD static void take_rows(const float (&w)[Width], int h, float (&own)[rows]) {
    QUADRAT_UNROLL
    for (int k = 0; k < rows; ++k) {
      const float after = 2 * k + 1 < Width ? w[2 * k + 1 < Width ? 2 * k + 1 : 0] : 0.0f;
      own[k] = h == 0 ? w[2 * k] : after;
    }
  }
  /// Those of pair t.
  QUADRAT_HD static void take_pair(const float (&w)[Width], bool odd, int t, float (&own)[2]) {
    float moved[8];
    QUADRAT_UNROLL
    for (int j = 0; j < 8; ++j) {
      const float at = j < Width ? w[j < Width ? j : 0] : 0.0f;
      const float before = j >= 1 && j <= Width ? w[j >= 1 && j <= Width ? j - 1 : 0] : 0.0f;
      moved[j] = odd ? before : at;
    }
    own[0] = t < 2 ? (t == 0 ? moved[0] : moved[2]) : (t == 2 ? moved[4] : moved[6]);
    own[1] = t < 2 ? (t == 0 ? moved[1] : moved[3]) : (t == 2 ? moved[5] : moved[7]);
  }
};

/// Results of a point: the components of its value, with Gradient followed by those of the derivative along each axis.
template <int Components, bool Gradient>
inline constexpr int pair_results = Gradient ? 4 * Components : Components;

/// What a lane sums for a point, pair by pair along the last axis.
template <int Width, int Components, bool Gradient>
class pair_sums {
 public:
  using pair = mesh_pair<Components>;

  QUADRAT_HD explicit pair_sums(const pair_weights<Width, Gradient>& weights) : weights_(weights) {}
  /// pairs(k): that of row k of the lane in plane i of the footprint.
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

#if defined(__CUDACC__)

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
