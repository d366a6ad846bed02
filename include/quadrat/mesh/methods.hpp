// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "quadrat/core/method.hpp"

namespace quadrat {

/// A method of spreading.
struct spread_method : method_info {
  bool wrong_results;  ///< for timing only: updates of a mesh point may be lost
};

/// All methods, in the order in which they are shown.
[[nodiscard]] std::span<const spread_method> spread_methods();

}  // namespace quadrat
