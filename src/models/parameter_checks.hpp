// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/core/error.hpp"

/// Checks of a model's parameters: argument_error names the parameter and its value.
namespace quadrat::detail {

inline void require_finite(const char* name, double value) {
  require(std::isfinite(value), "the ", name, " is ", value, "; it must be finite");
}

inline void require_positive(const char* name, double value) {
  require(value > 0 && std::isfinite(value), "the ", name, " is ", value, "; it must be positive and finite");
}

inline void require_not_negative(const char* name, double value) {
  require(value >= 0 && std::isfinite(value), "the ", name, " is ", value, "; it must be finite and not negative");
}

}  // namespace quadrat::detail
