// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>

#include "core/finite.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Arithmetic shared by the models, with the same bits wherever it is inlined.
namespace quadrat::detail {

/// a b + c with one rounding on the device. Explicit, because the device compiler may contract differently in each
/// kernel; so all engines give the same bits for a pair. Host code is compiled without contraction.
template <typename T>
[[nodiscard]] QUADRAT_HD inline T multiply_add(T a, T b, T c) {
#if defined(__CUDA_ARCH__)
  return ::fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// 1 / sqrt(a) for a normal number a. On the device accurate to 2 units in the last place: the exact division and root
/// would cost as much as the rest of the law.
template <typename T>
[[nodiscard]] QUADRAT_HD inline T inverse_root(T a) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
  } else {
    return ::rsqrt(a);
  }
#else
  return T(1) / std::sqrt(a);
#endif
}

}  // namespace quadrat::detail
