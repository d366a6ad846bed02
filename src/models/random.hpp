// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace quadrat::detail {

/// SplitMix64's output function (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
[[nodiscard]] inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Uniform in [0, 1), a function of its arguments alone: the same numbers on every platform, in any order of calls.
/// (The distributions of <random> differ from library to library.)
[[nodiscard]] inline double uniform(std::uint64_t seed, std::uint64_t particle, int axis) {
  const std::uint64_t bits = mixed(mixed(seed) ^ (particle * 4 + static_cast<std::uint64_t>(axis)));
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace quadrat::detail
