// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/philox.hpp"
#include "quadrat/core/vec.hpp"

/// Standard normal numbers as functions of their step, use and index.
namespace quadrat::detail {

/// Two independent ones (Box, Muller 1958) from random words. The first word gives the length, which is never infinite.
template <typename T>
[[nodiscard]] QUADRAT_HD inline vec<T, 2> normal_pair(std::uint32_t a, std::uint32_t b) {
  constexpr T unit = T(1) / T(4294967296.0);
  const T length = std::sqrt(T(-2) * std::log((static_cast<T>(a) + T(0.5)) * unit));
  const T turn = (static_cast<T>(b) + T(0.5)) * unit;
#if defined(__CUDA_ARCH__)
  vec<T, 2> result{};
  ::sincospi(2 * turn, &result[1], &result[0]);
  return length * result;
#else
  const T angle = T(6.283185307179586476925L) * turn;
  return {length * std::cos(angle), length * std::sin(angle)};
#endif
}

/// The random words of one step.
struct noise_words {
  std::uint64_t seed;
  std::uint64_t step;

  /// `use`: 0 for spheres, 1 and 2 for modes.
  [[nodiscard]] QUADRAT_HD philox_block of(std::uint32_t use, std::uint64_t index) const {
    // Counters of different uses differ in the two bits above the index.
    return philox({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32) | use << 30,
                    static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)}},
                  seed);
  }
};

}  // namespace quadrat::detail
