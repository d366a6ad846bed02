// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// Whether every component is finite.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD inline bool is_finite(const vec<T, D>& a) {
  // inf - inf and NaN - NaN are NaN, which differs from 0.
  for (int axis = 0; axis < D; ++axis) {
    if (!(a[axis] - a[axis] == T(0))) return false;
  }
  return true;
}

}  // namespace quadrat::detail
