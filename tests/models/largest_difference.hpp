// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace quadrat::test {

/// The largest difference of all components of two equally long arrays of vectors.
template <typename T, typename Expected, int D>
[[nodiscard]] double largest_difference(const std::vector<vec<T, D>>& found,
                                        const std::vector<vec<Expected, D>>& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (int axis = 0; axis < D; ++axis) {
      const double difference = static_cast<double>(found[i][axis]) - static_cast<double>(expected[i][axis]);
      largest = std::max(largest, std::fabs(difference));
    }
  }
  return largest;
}

}  // namespace quadrat::test
