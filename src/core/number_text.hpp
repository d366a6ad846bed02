// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <string>

namespace quadrat {

/// The shortest text that reads back as the same number. So no message shows 1 for the next float above 1.
template <typename T>
[[nodiscard]] std::string number_text(T value) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(value)) return "nan";  // without a sign
  }
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, result.ptr};
}

/// A positive number rounded to two digits, for messages; 0 for other numbers.
[[nodiscard]] inline double two_digits(double value) {
  if (!(value > 0)) return 0;
  const double digits = std::pow(10, 1 - std::floor(std::log10(value)));
  return std::round(value * digits) / digits;
}

/// 17 digits, as "%.17g" prints them. Must not change: stored files with such texts are compared with new ones.
[[nodiscard]] inline std::string full_number_text(double value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, 17);
  return {buffer, result.ptr};
}

}  // namespace quadrat
