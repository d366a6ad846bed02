// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "quadrat/core/method.hpp"

namespace quadrat {

/// A way to find contacts. All serve every shape.
struct contact_method : method_info {
  bool pairs;      ///< whether it can be a broad phase for boxes alone
  bool bins;       ///< whether it has bins, whose size can be chosen
  bool quadratic;  ///< whether its work can grow with the square of the number of bodies: never chosen for many
};

/// All methods, in the order in which they are shown.
[[nodiscard]] std::span<const contact_method> contact_methods();

}  // namespace quadrat
