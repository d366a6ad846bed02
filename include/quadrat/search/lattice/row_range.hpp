// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/core/cell_index.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/lattice/system.hpp"

/// Shared by the walks over trimmed rows of cells.
namespace quadrat::detail {

/// The slots of a row of cells within the sphere around a point, and their image.
template <int D>
struct row_range {
  std::uint32_t first;
  std::uint32_t last;  ///< one past the last slot
  vec<int, D> shift;
};

/// fmax and fmin of numbers that are not NaN; on a CPU those are calls.
template <typename T>
[[nodiscard]] QUADRAT_HD T larger(T a, T b) {
#if defined(__CUDA_ARCH__)
  return std::fmax(a, b);
#else
  return a > b ? a : b;
#endif
}
template <typename T>
[[nodiscard]] QUADRAT_HD T smaller(T a, T b) {
#if defined(__CUDA_ARCH__)
  return std::fmin(a, b);
#else
  return a < b ? a : b;
#endif
}

/// Approximate on a GPU: callers round up. Not for 0.
template <typename T>
[[nodiscard]] QUADRAT_HD T root(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) return x * rsqrtf(x);
#endif
  return std::sqrt(x);
}

/// The factor for a squared reach that covers the rounding of squared distances, of bounds on them, and of `root`.
template <typename T>
inline constexpr T rounded_up = sizeof(T) == 4 ? T(1 + 4e-6) : T(1 + 8e-15);

}  // namespace quadrat::detail
