// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "quadrat/core/method.hpp"

namespace quadrat {

/// A method of finding contacts. All methods serve every shape.
struct contact_method : method_info {
  bool pairs;      ///< whether it can be a broad phase for boxes alone
  bool bins;       ///< whether the size of its bins can be set
  bool balances;   ///< whether contact_options::balance_bins makes a difference
  bool systems;    ///< whether it serves bodies of several systems
  bool quadratic;  ///< whether its work can grow as the square of the number of bodies; never chosen for many
};

/// All methods, in display order.
[[nodiscard]] std::span<const contact_method> contact_methods();

}  // namespace quadrat
