// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace quadrat::reference {

/// An exact sum of finite doubles: an integer in units of 2^-1074, the smallest positive double.
class exact_sum {
 public:
  void add(double value) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
    int place = exponent - 53 + 1074;
    for (; place < 0; ++place) mantissa /= 2;  // of a number below 2^-1022, whose last digits are zeros
    constexpr std::int64_t half = std::int64_t{1} << 27;
    add_part(mantissa % half, place);
    add_part(mantissa / half, place + 27);
  }
  void subtract(double value) { add(-value); }

  /// The sum, to 60 bits.
  [[nodiscard]] long double value() const {
    std::array<std::int64_t, size> digits = digits_;
    for (std::size_t i = 0; i + 1 < size; ++i) {
      const std::int64_t carry = (digits[i] + base / 2) >> 32;
      digits[i] -= carry * base;
      digits[i + 1] += carry;
    }
    long double sum = 0;
    for (std::size_t i = size; i-- > 0;) {
      sum += std::ldexp(static_cast<long double>(digits[i]), 32 * static_cast<int>(i) - 1074);
    }
    return sum;
  }

 private:
  static constexpr std::size_t size = 70;
  static constexpr std::int64_t base = std::int64_t{1} << 32;

  /// |part| must be below 2^28.
  void add_part(std::int64_t part, int place) {
    const auto digit = static_cast<std::size_t>(place / 32);
    const std::int64_t shifted = part * (std::int64_t{1} << place % 32);
    digits_[digit] += shifted % base;
    digits_[digit + 1] += shifted / base;
  }

  std::array<std::int64_t, size> digits_{};  // signed, of 32 bits each
};

}  // namespace quadrat::reference
