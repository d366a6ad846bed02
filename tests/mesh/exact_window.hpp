// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "quadrat/mesh/window.hpp"
#include "reference/spread.hpp"

namespace quadrat::test {

/// The window's own polynomials.
template <typename T>
[[nodiscard]] reference::spread_window exact_window(const mesh_window<T>& window) {
  const auto piece = [window](long double x, auto value) {
    const long double shifted = 0.5L * window.width - x;
    const int j = std::min(window.width - 1, static_cast<int>(std::floor(shifted)));
    const long double s = static_cast<long double>(j) + 0.5L - shifted;
    long double sum = 0;
    for (int d = window.terms - 1; d >= 0; --d)
      sum = value(sum, s, d, static_cast<long double>(window.coefficient[d][j]));
    return sum;
  };
  return {window.width,
          [=](long double x) {
            return piece(x, [](long double sum, long double s, int, long double c) { return sum * s + c; });
          },
          [=](long double x) {
            return piece(
                x, [](long double sum, long double s, int d, long double c) { return d == 0 ? sum : sum * s + d * c; });
          }};
}

}  // namespace quadrat::test
