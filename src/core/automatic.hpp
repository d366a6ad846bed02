// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace quadrat::detail {

/// Whether a name, of a method or of an FFT library, leaves the choice to Quadrat.
[[nodiscard]] constexpr bool is_automatic(std::string_view name) { return name.empty() || name == "auto"; }

}  // namespace quadrat::detail
