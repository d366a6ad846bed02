// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace quadrat::detail {

/// Whether the name of a method, or of a library, leaves the choice to this one.
[[nodiscard]] constexpr bool is_automatic(std::string_view name) { return name.empty() || name == "auto"; }

}  // namespace quadrat::detail
