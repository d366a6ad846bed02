// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <string>

namespace quadrat {

/// The shortest text that reads back as the same number, so that a message never shows 1 for the next float above it.
template <typename T>
[[nodiscard]] std::string number_text(T value) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(value)) return "nan";  // whatever its sign
  }
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, result.ptr};
}

}  // namespace quadrat
