// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "arrays.hpp"

namespace quadrat::python {

/// Values of several vectors, or of one without an axis for it.
struct given_values {
  given_array array;
  bool single;
  int vectors;
};

/// Values by vector, (V, each...) or each alone, real or complex of a precision; integers and lists are converted.
[[nodiscard]] given_values values_from(nb::handle value, const char* name, const std::vector<std::size_t>& each,
                                       bool wide, const origin_of_arrays& where);

/// Of results: (V, each...), or each alone if the values were.
[[nodiscard]] std::vector<std::size_t> shape_of(const given_values& values, const std::vector<std::size_t>& each);

}  // namespace quadrat::python
