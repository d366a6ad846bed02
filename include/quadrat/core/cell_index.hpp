// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/core/macros.hpp"

/// Indices of cells along an axis, from coordinates in units of cells: integers are faces of cells.
namespace quadrat::detail {

/// floor, saturated to +-2^30; NaN gives 0.
template <typename T>
[[nodiscard]] QUADRAT_HD int cell_index(T coordinate) {
  constexpr T bound = T(1 << 30);
  const T index = std::floor(coordinate);
  if (!(index > -bound)) return index <= -bound ? -(1 << 30) : 0;
  return index < bound ? static_cast<int>(index) : (1 << 30);
}

/// floor of a number that is not NaN, saturated to +-2^30 or more. One instruction on a GPU, no call on a CPU.
template <typename T>
[[nodiscard]] QUADRAT_HD int floor_to_int(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) {
    return __float2int_rd(x);
  } else {
    return __double2int_rd(x);
  }
#else
  constexpr T bound = T(1 << 30);
  if (!(x > -bound)) return x <= -bound ? -(1 << 30) : 0;
  if (!(x < bound)) return 1 << 30;
  const int toward_zero = static_cast<int>(x);
  return toward_zero - static_cast<int>(x < static_cast<T>(toward_zero));
#endif
}

/// The nearest index of `cells` cells.
[[nodiscard]] QUADRAT_HD inline int clamped_index(int index, int cells) {
  return index < 0 ? 0 : (index >= cells ? cells - 1 : index);
}

/// Bound on the rounding of a coordinate along an axis without end, and of separations there, in cells. `slack` is that
/// of a coordinate 0.
template <typename T>
[[nodiscard]] QUADRAT_HD T endless_slack(T slack, T coordinate) {
  constexpr T epsilon = sizeof(T) == 4 ? T(1.1920929e-7) : T(2.220446049250313e-16);
  return slack + 4 * epsilon * std::fabs(coordinate);
}

}  // namespace quadrat::detail
