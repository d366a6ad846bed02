// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "search/nearest/rows.hpp"

namespace quadrat::detail {

/// The square of a distance within which the point at a place of the tree's order is likely to have enough neighbors;
/// infinite for queries. Estimated from the volume of the point's node, for neighbor counts that vary by about the
/// square root of their mean.
template <typename T, int D>
[[nodiscard]] __device__ T squared_likely_reach(const nearest_search<T, D>& search, std::size_t place) {
  if (search.order != nullptr) return nearest_infinity<T>;
  constexpr unsigned points = nearest_width * nearest_width;
  const nearest_node<T, D>& node = search.tree.node(0, place / points);
  vec<T, D> extent{};
  T largest = T(0), volume = T(1);
  for (int axis = 0; axis < D; ++axis) {
    T low = node.low[axis][0], high = node.high[axis][0];
    for (unsigned child = 1; child < nearest_width; ++child) {
      low = node.low[axis][child] < low ? node.low[axis][child] : low;
      high = node.high[axis][child] > high ? node.high[axis][child] : high;
    }
    extent[axis] = high - low;
    largest = extent[axis] > largest ? extent[axis] : largest;
  }
  for (int axis = 0; axis < D; ++axis) volume *= extent[axis] > largest / 4 ? extent[axis] : largest / 4;  // flat sets
  constexpr T unit = D == 3 ? T(4.18879) : T(3.14159);  // the volume of a ball of radius 1
  const T k = static_cast<T>(search.sink.k);
  const T wanted = k + 3 * sqrt(k) + 4;
  const T ball = wanted / static_cast<T>(points) * volume / unit;
  if constexpr (D == 2) return ball;
  const T reach = cbrt(ball);
  return reach * reach;
}

}  // namespace quadrat::detail
