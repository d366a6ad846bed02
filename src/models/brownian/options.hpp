// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/types.hpp"
#include "quadrat/models/brownian.hpp"

namespace quadrat::detail {

/// Throws argument_error for the first option that is impossible; otherwise the options with defaults filled in.
[[nodiscard]] brownian_options completed(brownian_options options, std::size_t count, determinism level);

/// The mean along the three axes of the mobility of a sphere: periodic, or free.
[[nodiscard]] double mean_self_mobility(const brownian_options& options);

}  // namespace quadrat::detail
