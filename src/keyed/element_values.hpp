// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/keyed/values.hpp"

/// Sources of the values to join: `load(element, component)`.
namespace quadrat::detail {

template <typename T>
struct loaded_values {
  component_values<const T> values;
  [[nodiscard]] QUADRAT_HD T load(std::size_t i, int c) const { return values.component[c][i * values.stride]; }
};

/// Every value is 1, for counting.
struct ones {
  [[nodiscard]] QUADRAT_HD std::uint64_t load(std::size_t /*i*/, int /*c*/) const { return 1; }
};

}  // namespace quadrat::detail
