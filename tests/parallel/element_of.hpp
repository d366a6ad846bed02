// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/macros.hpp"

namespace quadrat::test {

/// Maps an index to an element of an array, for reductions.
template <typename T, typename Value = T>
struct element_of {
  const T* elements;
  QUADRAT_HD Value operator()(std::size_t i) const { return elements[i]; }
};

}  // namespace quadrat::test
