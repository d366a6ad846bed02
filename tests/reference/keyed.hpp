// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "quadrat/keyed/key_reducer.hpp"

// Reduction by key in a few serial lines, obviously right: floating-point sums in higher precision, integers exactly.

namespace quadrat::reference {

/// The result of one key.
template <typename T>
struct key_statistics {
  using limits = std::numeric_limits<T>;
  /// Integers wrap around.
  std::conditional_t<std::is_integral_v<T>, std::uint64_t, long double> sum = 0;
  long double magnitude = 0;  ///< the sum of the sizes
  T least = limits::has_infinity ? limits::infinity() : limits::max();
  T greatest = limits::has_infinity ? -limits::infinity() : limits::lowest();
  std::uint64_t count = 0;

  /// NaNs are neither less nor greater.
  void add(T value) {
    sum += static_cast<decltype(sum)>(value);
    magnitude += std::abs(static_cast<long double>(value));
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    ++count;
  }
  [[nodiscard]] T result(key_operation operation) const {
    if (operation == key_operation::minimum) return least;
    if (operation == key_operation::maximum) return greatest;
    if (operation == key_operation::sum) return static_cast<T>(sum);
    return static_cast<T>(static_cast<long double>(sum) / static_cast<long double>(count));
  }
};

/// One component. Elements whose key is not below key_count are left out.
template <typename T>
[[nodiscard]] std::vector<key_statistics<T>> statistics_by_key(const std::vector<std::uint64_t>& keys,
                                                               const std::vector<T>& values, std::size_t key_count) {
  std::vector<key_statistics<T>> result(key_count);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] < key_count) result[keys[i]].add(values[i]);
  }
  return result;
}

}  // namespace quadrat::reference
