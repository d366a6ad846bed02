// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Arithmetic that rounds the same wherever it is inlined: all methods must give the same bytes, but which operations a
/// device compiler fuses depends on the surrounding code.
namespace quadrat::rounding {

/// x y + z
template <typename T>
[[nodiscard]] QUADRAT_HD T fused(T x, T y, T z) {
#if defined(__CUDA_ARCH__)
  return std::fma(x, y, z);
#else
  return x * y + z;
#endif
}

/// x scale + z
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> fused(const vec<T, 3>& x, T scale, const vec<T, 3>& z) {
  return {fused(x[0], scale, z[0]), fused(x[1], scale, z[1]), fused(x[2], scale, z[2])};
}

/// x + y, also where one of them is a product.
template <typename T>
[[nodiscard]] QUADRAT_HD T sum(T x, T y) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == sizeof(float)) {
    return __fadd_rn(x, y);
  } else {
    return __dadd_rn(x, y);
  }
#else
  return x + y;
#endif
}

template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> sum(const vec<T, 3>& x, const vec<T, 3>& y) {
  return {sum(x[0], y[0]), sum(x[1], y[1]), sum(x[2], y[2])};
}

/// 1 / x, on the device by the hardware's instruction: accurate to two units in the last place.
template <typename T>
[[nodiscard]] QUADRAT_HD T inverse(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == sizeof(float)) return __fdividef(1.0F, x);
#endif
  return T(1) / x;
}

}  // namespace quadrat::rounding
