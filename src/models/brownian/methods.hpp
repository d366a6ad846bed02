// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace quadrat::detail {

/// The method without hydrodynamic interactions.
inline constexpr std::string_view free_brownian_method = "free";

}  // namespace quadrat::detail
