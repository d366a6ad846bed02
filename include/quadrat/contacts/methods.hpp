// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace quadrat {

/// A way to find contacts.
struct contact_method {
  std::string_view name;
  std::string_view summary;  ///< one line
  bool pairs;                ///< whether it can be a broad phase for boxes alone
};

/// All methods, in the order in which they are shown; all run on every backend and serve every shape.
[[nodiscard]] std::span<const contact_method> contact_methods();

}  // namespace quadrat
