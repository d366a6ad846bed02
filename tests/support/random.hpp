// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace quadrat::test {

/// Uniform words below `bound` (0: all words), the same for the same seed everywhere.
template <typename T>
[[nodiscard]] std::vector<T> random_words(std::size_t count, std::uint64_t seed, std::uint64_t bound = 0) {
  std::mt19937_64 generator(seed);
  std::vector<T> words(count);
  for (T& word : words) {
    const std::uint64_t value = generator();
    word = static_cast<T>(bound == 0 ? value : value % bound);
  }
  return words;
}

/// Uniform values in [0, 1), the same for the same seed everywhere (the standard's distributions are not).
template <typename T>
[[nodiscard]] T random_unit(std::mt19937_64& generator) {
  constexpr int bits = sizeof(T) == 4 ? 24 : 53;
  return static_cast<T>(generator() >> (64 - bits)) / static_cast<T>(std::uint64_t{1} << bits);
}

}  // namespace quadrat::test
