// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

/// "1 number", "2 numbers"
template <typename Number>
[[nodiscard]] std::string counted(Number count, std::string_view noun) {
  return message(count, " ", noun, count == Number(1) ? "" : "s");
}

/// "there is 1 number", "there are 2 numbers"
template <typename Number>
[[nodiscard]] std::string there_are(Number count, std::string_view noun) {
  return message(count == Number(1) ? "there is " : "there are ", counted(count, noun));
}

}  // namespace quadrat::detail
