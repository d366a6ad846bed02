// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "parallel/atomic_row.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"

/// Adjacent values, aligned to their total size: 16 bytes are one access on GPUs.
namespace quadrat::detail {

/// CUDA's vector type for `Lanes` values of T; T if there is none.
template <typename T, int Lanes>
struct lane_pack {
  using type = T;
  static constexpr bool one_access = false;
};
#if defined(__CUDACC__)
template <>
struct lane_pack<float, 4> {
  using type = float4;
  static constexpr bool one_access = true;
};
template <>
struct lane_pack<double, 2> {
  using type = double2;
  static constexpr bool one_access = true;
};
#endif

template <int Lanes, typename T>
QUADRAT_HD void load_lanes(const T* from, T* lane) {
  using pack = lane_pack<T, Lanes>;
  if constexpr (pack::one_access) {
    const auto all = *reinterpret_cast<const typename pack::type*>(from);
    lane[0] = all.x, lane[1] = all.y;
    if constexpr (Lanes == 4) lane[2] = all.z, lane[3] = all.w;
  } else {
    QUADRAT_UNROLL
    for (int l = 0; l < Lanes; ++l) lane[l] = from[l];
  }
}

template <int Lanes, typename T>
QUADRAT_HD void store_lanes(T* to, const T* lane) {
  using pack = lane_pack<T, Lanes>;
  if constexpr (pack::one_access) {
    typename pack::type all;
    all.x = lane[0], all.y = lane[1];
    if constexpr (Lanes == 4) all.z = lane[2], all.w = lane[3];
    *reinterpret_cast<typename pack::type*>(to) = all;
  } else {
    QUADRAT_UNROLL
    for (int l = 0; l < Lanes; ++l) to[l] = lane[l];
  }
}

/// to[l] += lane[l], atomically for each.
template <int Lanes, typename T>
QUADRAT_HD void atomic_add_lanes(T* to, const T* lane) {
#if defined(__CUDA_ARCH__)
  constexpr bool four_floats = Lanes == 4 && std::is_same_v<T, float>;
  if constexpr (four_floats) atomic_add_row<4>(to, lane);
#else
  constexpr bool four_floats = false;
#endif
  if constexpr (!four_floats) {
    QUADRAT_UNROLL
    for (int l = 0; l < Lanes; ++l) atomic_add(to + l, lane[l]);
  }
}

}  // namespace quadrat::detail
