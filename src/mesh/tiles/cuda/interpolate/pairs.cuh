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

/// The value from a pair's sums and weights.
QUADRAT_HD inline void close_pair(const float2& sum, float first, float second, float (&value)[1]) {
  value[0] = sum.x * first + sum.y * second;
}
QUADRAT_HD inline void close_pair(const float4& sum, float first, float second, float (&value)[2]) {
  value[0] = sum.x * first + sum.z * second;
  value[1] = sum.y * first + sum.w * second;
}

/// Rows along the second axis that a lane takes; for odd widths one lane's last weight is zero.
template <int Width>
inline constexpr int pair_rows = (Width + 1) / 2;

/// The weights of a lane for a point.
template <int Width>
struct pair_weights {
  float first[Width];
  float second[pair_rows<Width>];
  float last[2];

  /// Odd: whether the footprint begins with the second point of its first pair.
  QUADRAT_HD pair_weights(const mesh_window<float>& window, const tile_record<float>& record, bool odd, int t, int h) {
    float w[Width];
    window.template weights<Width>(place_of<float>(record.place[1]), w);
    QUADRAT_UNROLL
    for (int k = 0; k < pair_rows<Width>; ++k) {
      const float after = 2 * k + 1 < Width ? w[2 * k + 1 < Width ? 2 * k + 1 : 0] : 0.0f;
      second[k] = h == 0 ? w[2 * k] : after;
    }
    window.template weights<Width>(place_of<float>(record.place[2]), w);
    float moved[8];
    QUADRAT_UNROLL
    for (int j = 0; j < 8; ++j) {
      const float at = j < Width ? w[j < Width ? j : 0] : 0.0f;
      const float before = j >= 1 && j <= Width ? w[j >= 1 && j <= Width ? j - 1 : 0] : 0.0f;
      moved[j] = odd ? before : at;
    }
    last[0] = t < 2 ? (t == 0 ? moved[0] : moved[2]) : (t == 2 ? moved[4] : moved[6]);
    last[1] = t < 2 ? (t == 0 ? moved[1] : moved[3]) : (t == 2 ? moved[5] : moved[7]);
    window.template weights<Width>(place_of<float>(record.place[0]), first);
  }
};

#if defined(__CUDACC__)

/// Sums over the eight lanes of a point, and writes the result: lane c writes component c.
template <int Components>
__device__ __forceinline__ void store_pair_sums(const tile_patch_values& values, particle_id id, int lane, bool there,
                                                const float (&own)[Components]) {
  float sum = own[0];
  if constexpr (Components == 2) {
    const bool odd = (lane & 1) != 0;
    sum = (odd ? own[1] : own[0]) + __shfl_xor_sync(~0u, odd ? own[0] : own[1], 1);
  } else {
    sum += __shfl_xor_sync(~0u, sum, 1);
  }
  sum += __shfl_xor_sync(~0u, sum, 2);
  sum += __shfl_xor_sync(~0u, sum, 4);
  if (!there || lane >= Components) return;
  float* to = values.values + static_cast<std::size_t>(id) * static_cast<std::size_t>(values.stride) + lane;
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
