// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "quadrat/mesh/window.hpp"

namespace quadrat::detail {

/// An even window by pairs of weights that mirror each other: with s the position between mesh points, weight
/// center + l is even_l(s^2) + s odd_l(s^2), and weight mirror - l is even_l(s^2) - s odd_l(s^2). Half of the terms of
/// half of the polynomials. Beyond the window's width all coefficients are zero.
template <typename T>
struct mirrored_window {
  static constexpr int pairs = 8;
  static constexpr int most_terms = (mesh_window<T>::most_terms + 1) / 2;

  int terms = 0;   ///< of even and odd polynomials; 0: the window is not even
  int center = 0;  ///< width / 2
  int mirror = 0;  ///< width - 1 - center
  alignas(64) T even[most_terms][pairs] = {};
  alignas(64) T odd[most_terms][pairs] = {};
};

/// A window is even if coefficients that mirror each other differ only by rounding; their mean is
/// used.
template <typename T>
[[nodiscard]] mirrored_window<T> make_mirrored_window(const mesh_window<T>& window) {
  mirrored_window<T> result;
  result.center = window.width / 2;
  result.mirror = window.width - 1 - result.center;
  T largest = T(0);
  for (int d = 0; d < window.terms; ++d) {
    for (int j = 0; j < window.width; ++j) largest = std::max(largest, std::fabs(window.coefficient[d][j]));
  }
  const T most = T(4) * std::numeric_limits<T>::epsilon() * largest;
  for (int d = 0; d < window.terms; ++d) {
    const T sign = d % 2 == 0 ? T(1) : T(-1);
    for (int l = 0; l <= result.mirror; ++l) {
      const T upper = window.coefficient[d][result.center + l], lower = sign * window.coefficient[d][result.mirror - l];
      if (!(std::fabs(upper - lower) <= most)) return {};
      (d % 2 == 0 ? result.even : result.odd)[d / 2][l] = T(0.5) * (upper + lower);
    }
  }
  result.terms = (window.terms + 1) / 2;
  return result;
}

}  // namespace quadrat::detail
