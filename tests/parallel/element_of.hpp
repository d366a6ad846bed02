// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/macros.hpp"

namespace quadrat::test {

/// What a reduction over the elements of an array maps an index to.
template <typename T, typename Value = T>
struct element_of {
  const T* elements;
  QUADRAT_HD Value operator()(std::size_t i) const { return elements[i]; }
};

}  // namespace quadrat::test
