// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"

/// Sums in fixed point: integers, which any order of additions leaves the same.
namespace quadrat::detail {

/// 2^exponent, for -1022 to 1023.
[[nodiscard]] QUADRAT_HD inline double power_of_two(int exponent) {
  union {
    std::uint64_t bits;
    double value;
  } cast{static_cast<std::uint64_t>(exponent + 1023) << 52};
  return cast.value;
}

/// The least exponent above -1023 with value < 2^exponent. The value is finite and not negative.
[[nodiscard]] QUADRAT_HD inline int exponent_above(double value) {
  union {
    double value;
    std::uint64_t bits;
  } cast{value};
  const int exponent = static_cast<int>(cast.bits >> 52) - 1022;
  return exponent < -1022 ? -1022 : exponent;
}

/// The nearest integer, halves away from zero; of numbers below 2^63 in size.
[[nodiscard]] QUADRAT_HD inline std::int64_t nearest_integer(double value) {
  return static_cast<std::int64_t>(value + (value < 0 ? -0.5 : 0.5));
}

/// How the values of one reduction are written: by their number and the size of the largest. A word counts units of
/// 2^(exponent - bits); the second word of a double counts units of 2^(exponent - 2 bits). So many values of at most a
/// size below 2^exponent cannot overflow a word: each is at most 2^bits units, and count * 2^bits <= 2^62.
struct fixed_scale {
  int bits;         ///< that a value has in a word
  double down[2];   ///< 2^-exponent in two factors, each of which is a number
  double up[2];     ///< 2^exponent
  double units;     ///< 2^bits
  double per_unit;  ///< 2^-bits

  QUADRAT_HD fixed_scale(int value_bits, int exponent)
      : bits(value_bits),
        down{power_of_two(-(exponent / 2)), power_of_two(-(exponent - exponent / 2))},
        up{power_of_two(exponent / 2), power_of_two(exponent - exponent / 2)},
        units(power_of_two(value_bits)),
        per_unit(power_of_two(-value_bits)) {}

  /// In units of the first word; exact but for what is far below a unit of the last word.
  [[nodiscard]] QUADRAT_HD double scaled(double value) const { return value * down[0] * down[1] * units; }
  [[nodiscard]] QUADRAT_HD double unscaled(double value) const { return value * per_unit * up[0] * up[1]; }
};

/// Bits that each of `count` values can have in a word.
[[nodiscard]] constexpr int fixed_bits(std::uint64_t count) {
  int bits = 62;
  while (bits > 1 && (count - 1) >> (62 - bits) != 0) --bits;
  return bits;
}

/// A float, or the sum of some.
struct fixed_single {
  static constexpr int words = 1;
  std::int64_t high;

  [[nodiscard]] QUADRAT_HD static fixed_single of(double value, const fixed_scale& scale) {
    return {nearest_integer(scale.scaled(value))};
  }
  [[nodiscard]] QUADRAT_HD double value(const fixed_scale& scale) const {
    return scale.unscaled(static_cast<double>(high));
  }
};

/// A double, or the sum of some: what the first word leaves of a value is below one of its units, and stands in the
/// second.
struct fixed_pair {
  static constexpr int words = 2;
  std::int64_t high;
  std::int64_t low;

  [[nodiscard]] QUADRAT_HD static fixed_pair of(double value, const fixed_scale& scale) {
    const double scaled = scale.scaled(value);
    const auto high = static_cast<std::int64_t>(scaled);
    return {high, nearest_integer((scaled - static_cast<double>(high)) * scale.units)};
  }
  /// Whole units of the first word are carried there first: then the second is a rest of at most half of one.
  [[nodiscard]] QUADRAT_HD double value(const fixed_scale& scale) const {
    const std::int64_t carry = (low + (std::int64_t{1} << (scale.bits - 1))) >> scale.bits;
    const std::int64_t all = high + carry;
    const double rest = static_cast<double>(low - carry * (std::int64_t{1} << scale.bits)) * scale.per_unit;
    const auto rounded = static_cast<double>(all);
    return scale.unscaled(rounded + (static_cast<double>(all - static_cast<std::int64_t>(rounded)) + rest));
  }
};

}  // namespace quadrat::detail
