// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/philox.hpp"
#include "quadrat/core/vec.hpp"

/// The random numbers of SRD. They depend only on the seed, the step, their purpose, and the cell or particle.
namespace quadrat::detail {

/// The purpose of a random number.
enum class srd_use : std::uint32_t { shift, turn, scale, ghost_momentum, ghost_energy, position, velocity };

/// Identifies the draws of one cell or particle in one step.
struct srd_draws {
  std::uint64_t seed;
  std::uint64_t step;
  std::uint32_t element;

  /// Four words; each `number` gives different ones.
  [[nodiscard]] QUADRAT_HD philox_block words(srd_use use, std::uint32_t number) const {
    const philox_block counter{{element, static_cast<std::uint32_t>(use) | number << 8,
                                static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)}};
    return philox(counter, seed);
  }
};

/// Uniform in [0, 1), a multiple of 2^-24 or 2^-32.
template <typename T>
[[nodiscard]] QUADRAT_HD inline T srd_uniform(std::uint32_t word) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(word >> 8) * 0x1p-24f;
  } else {
    return static_cast<double>(word) * 0x1p-32;
  }
}

/// Uniform in (0, 1).
template <typename T>
[[nodiscard]] QUADRAT_HD inline T srd_open_uniform(std::uint32_t word) {
  if constexpr (std::is_same_v<T, float>) {
    return (static_cast<float>(word >> 9) + 0.5f) * 0x1p-23f;
  } else {
    return (static_cast<double>(word) + 0.5) * 0x1p-32;
  }
}

/// Cosine and sine of 2 pi times a number in [0, 1).
template <typename T>
[[nodiscard]] QUADRAT_HD inline vec<T, 2> srd_circle(T turn) {
#if defined(__CUDA_ARCH__)
  vec<T, 2> result{};
  ::sincospi(2 * turn, &result[1], &result[0]);
  return result;
#else
  const T angle = T(6.283185307179586476925) * turn;
  return {std::cos(angle), std::sin(angle)};
#endif
}

/// Two independent numbers of the standard normal distribution (Box, Muller 1958).
template <typename T>
[[nodiscard]] QUADRAT_HD inline vec<T, 2> srd_normal_pair(std::uint32_t a, std::uint32_t b) {
  return srd_circle(srd_uniform<T>(b)) * std::sqrt(T(-2) * std::log(srd_open_uniform<T>(a)));
}

/// A vector of independent standard normal numbers.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD inline vec<T, D> srd_normal(const philox_block& words) {
  const vec<T, 2> first = srd_normal_pair<T>(words.word[0], words.word[1]);
  vec<T, D> result{};
  result[0] = first[0];
  result[1] = first[1];
  if constexpr (D == 3) result[2] = srd_normal_pair<T>(words.word[2], words.word[3])[0];
  return result;
}

/// A sample of the Gamma distribution with that shape, above 0, and scale 1. A shape below 1 is reduced to shape + 1.
/// Source: Marsaglia, Tsang, "A simple method for generating gamma variables", 2000.
template <typename T>
[[nodiscard]] QUADRAT_HD inline T srd_gamma(const srd_draws& draws, srd_use use, T shape) {
  constexpr std::uint32_t most_tries = 64;  // at most one try in 20 is rejected, so 64 suffice
  const T d = (shape < T(1) ? shape + T(1) : shape) - T(1) / T(3);
  const T c = T(1) / std::sqrt(T(9) * d);
  T result = d;
  T boost = 0;
  for (std::uint32_t number = 0; number < most_tries; ++number) {
    const philox_block words = draws.words(use, number);
    const T x = srd_normal_pair<T>(words.word[0], words.word[1])[0];
    const T root = T(1) + c * x;
    const T v = root * root * root;
    if (!(v > T(0))) continue;
    boost = srd_open_uniform<T>(words.word[3]);
    if (std::log(srd_open_uniform<T>(words.word[2])) < x * x / 2 + d - d * v + d * std::log(v)) {
      result = d * v;
      break;
    }
  }
  return shape < T(1) ? result * std::pow(boost, T(1) / shape) : result;
}

}  // namespace quadrat::detail
