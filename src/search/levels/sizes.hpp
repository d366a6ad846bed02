// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/search/neighbor_list.hpp"

/// The sizes by which points with radii are put on levels.
namespace quadrat::detail {

/// The most levels: 16 octaves of sizes. Smaller points are on the finest level.
inline constexpr int most_radius_levels = 16;
/// Classes of sizes: quarters of an octave.
inline constexpr int radius_classes = 4 * most_radius_levels;

/// The class of a size relative to the largest possible one: its exponent and two bits of its mantissa.
[[nodiscard]] QUADRAT_HD inline int radius_class(double part) {
  std::uint64_t bits = 0;
  memcpy(&bits, &part, sizeof bits);
  const int quarter = static_cast<int>(bits >> 50) - ((1023 - most_radius_levels) << 2);
  return part > 0 && quarter > 0 ? (quarter < radius_classes ? quarter : radius_classes - 1) : 0;
}

/// The smallest fraction above a class; exact in float.
[[nodiscard]] constexpr double radius_class_end(int number) {
  double octave = 1.0 / (1 << most_radius_levels);
  for (int k = 0; k < (number + 1) / 4; ++k) octave *= 2;
  return octave * (1 + 0.25 * ((number + 1) % 4));
}

/// The size of a point is its radius and its share of the skin.
template <typename T>
struct radius_sizes {
  cutoff_rule rule;
  T share;    ///< of the skin
  T largest;  ///< largest size that the options allow; the reach for the uniform rule
  T scale;    ///< 1 / largest

  [[nodiscard]] QUADRAT_HD T of(T radius) const { return radius + share; }
  [[nodiscard]] QUADRAT_HD T part(T radius) const { return of(radius) * scale; }
  /// An upper bound on the cutoff between a row's point of the first size and another point of the second.
  [[nodiscard]] QUADRAT_HD T reach(T own, T other) const {
    if (rule == cutoff_rule::uniform) return largest;
    constexpr T up = T(1) + 16 * (sizeof(T) == 4 ? T(1.1920929e-7) : T(2.220446049250313e-16));
    if (rule == cutoff_rule::sum_of_radii) return (own + other) * up;
    return (rule == cutoff_rule::larger_radius && own < other ? other : own) * up;
  }
};

template <typename T>
[[nodiscard]] radius_sizes<T> sizes_of(const neighbor_options<T>& options) {
  const bool adds = options.rule == cutoff_rule::sum_of_radii;
  const T reach = options.cutoff + options.skin;
  const T largest = adds ? reach / 2 : reach;
  return {options.rule, adds ? options.skin / 2 : options.skin, largest, T(1) / largest};
}

/// The levels, finest first. A point is on the first level whose end is above its relative size, or on the last.
template <typename T>
struct radius_levels {
  int count;
  radius_sizes<T> sizes;
  T ends[most_radius_levels];

  [[nodiscard]] QUADRAT_HD int level_of(T radius) const {
    const T part = sizes.part(radius);
    int level = 0;
    while (level + 1 < count && part >= ends[level]) ++level;
    return level;
  }
};

/// Index: share of the points. Counts the points of each class.
template <typename T>
struct count_radii {
  const T* radii;
  std::size_t points;
  std::size_t shares;
  radius_sizes<T> sizes;
  std::uint64_t* counts;  ///< radius_classes, zero at first

  QUADRAT_HD void operator()(std::size_t share) const {
    std::uint32_t own[radius_classes] = {};
    // Strided, so that concurrent shares read adjacent radii.
    for (std::size_t i = share; i < points; i += shares) {
      ++own[radius_class(static_cast<double>(sizes.part(radii[i])))];
    }
    for (int k = 0; k < radius_classes; ++k) {
      if (own[k] > 0) atomic_add(counts + k, static_cast<std::uint64_t>(own[k]));
    }
  }
};

}  // namespace quadrat::detail
