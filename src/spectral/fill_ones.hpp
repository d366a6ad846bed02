// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/macros.hpp"

namespace quadrat::detail {

/// Index: number. Weights that are all 1.
template <typename T>
struct fill_ones {
  T* to;
  QUADRAT_HD void operator()(std::size_t i) const { to[i] = T(1); }
};

}  // namespace quadrat::detail
