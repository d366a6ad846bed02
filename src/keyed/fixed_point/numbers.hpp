// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"

/// Sums in fixed point: integers, whose sums do not depend on the order of additions.
namespace quadrat::detail {

/// 2^exponent, for -1022 to 1023.
[[nodiscard]] QUADRAT_HD inline double power_of_two(int exponent) {
  union {
    std::uint64_t bits;
    double value;
  } cast{static_cast<std::uint64_t>(exponent + 1023) << 52};
  return cast.value;
}

/// The smallest exponent above -1023 with value < 2^exponent. The value is finite and not negative.
[[nodiscard]] QUADRAT_HD inline int exponent_above(double value) {
  union {
    double value;
    std::uint64_t bits;
  } cast{value};
  const int exponent = static_cast<int>(cast.bits >> 52) - 1022;
  return exponent < -1022 ? -1022 : exponent;
}

/// The nearest integer, halves away from zero, for magnitudes below 2^52.
[[nodiscard]] QUADRAT_HD inline std::int64_t nearest_integer(double value) {
  return static_cast<std::int64_t>(value + (value < 0 ? -0.5 : 0.5));
}

/// Bits of each of `count` values in a word, such that their sum cannot overflow: count * 2^bits <= 2^62. At most 52: a
/// part of a value, and a word after carrying, are then exact as doubles.
[[nodiscard]] constexpr int fixed_bits(std::uint64_t count) {
  int bits = 52;
  while (bits > 1 && (count - 1) >> (62 - bits) != 0) --bits;
  return bits;
}

/// Representation of numbers with magnitudes below 2^exponent: word w counts units of 2^(exponent - (w + 1) * bits).
struct fixed_scale {
  int bits;
  int exponent;
  double down[2];  ///< 2^-exponent as two factors, neither of which underflows or overflows
  double units;    ///< 2^bits

  /// The exponent is -1022 to 1024.
  QUADRAT_HD fixed_scale(int value_bits, int value_exponent)
      : bits(value_bits),
        exponent(value_exponent),
        down{power_of_two(-(value_exponent / 2)), power_of_two(-(value_exponent - value_exponent / 2))},
        units(power_of_two(value_bits)) {}

  /// Values of `digits` binary digits with at least this magnitude are exact in `words` words.
  [[nodiscard]] QUADRAT_HD double least_exact(int digits, int words) const {
    const int least = exponent + digits - words * bits;
    return least < -1022 ? 0 : power_of_two(least);
  }
};

/// A number as integer words, which can be summed in any order. The last word is rounded.
template <int Words>
struct fixed_number {
  std::int64_t word[Words];

  [[nodiscard]] QUADRAT_HD static fixed_number of(double value, const fixed_scale& scale) {
    fixed_number number{};
    double rest = value * scale.down[0] * scale.down[1] * scale.units;
    QUADRAT_UNROLL
    for (int w = 0; w < Words - 1; ++w) {
      number.word[w] = static_cast<std::int64_t>(rest);
      rest = (rest - static_cast<double>(number.word[w])) * scale.units;
    }
    number.word[Words - 1] = nearest_integer(rest);
    return number;
  }
};

/// A sum of doubles with about twice their digits, in units of 2^exponent.
struct wide_sum {
  double high = 0;
  double low = 0;
  int exponent = 0;

  QUADRAT_HD void add(double term) {
    const double sum = high + term;
    const double taken = sum - high;
    low += (high - (sum - taken)) + (term - taken);
    high = sum;
  }
  /// Adds the number with the (summed) words `words[w * stride]`; its exponent is at most this one's.
  template <int Words>
  QUADRAT_HD void add(const std::uint64_t* words, std::size_t stride, const fixed_scale& scale) {
    // Parts below 2^-1022 are negligible compared with the value that set the exponent.
    const int shift = scale.exponent - exponent;
    const double unit = shift < -960 ? 0 : power_of_two(shift);
    const double per_unit = power_of_two(-scale.bits);
    std::int64_t parts[Words];
    for (std::size_t w = 0; w < Words; ++w) parts[w] = static_cast<std::int64_t>(words[w * stride]);
    double place = unit * per_unit;
    for (int w = Words - 1; w > 0; --w) {
      const std::int64_t carry = (parts[w] + (std::int64_t{1} << (scale.bits - 1))) >> scale.bits;
      parts[w] -= carry * (std::int64_t{1} << scale.bits);
      parts[w - 1] += carry;
    }
    const auto first = static_cast<double>(parts[0]);
    add(first * place);
    add(static_cast<double>(parts[0] - static_cast<std::int64_t>(first)) * place);
    for (int w = 1; w < Words; ++w) add(static_cast<double>(parts[w]) * (place *= per_unit));
  }
  /// The sum, rounded.
  [[nodiscard]] QUADRAT_HD double value() const {
    return (high + low) * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2);
  }
};

}  // namespace quadrat::detail
