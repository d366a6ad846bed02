// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/types.hpp"
#include "quadrat/models/brownian.hpp"

namespace quadrat::detail {

/// Throws argument_error for the first option that is impossible; otherwise the options with defaults filled in.
[[nodiscard]] brownian_options completed(brownian_options options, std::size_t count, determinism level);

/// Throws data_error unless the word of a run_fault says that there is none.
void throw_brownian_fault(std::uint64_t fault);

/// What the mobility of the model is asked for.
[[nodiscard]] mobility_options mobility_of(const brownian_options& options);

/// The mean along the three axes of the mobility of a sphere: periodic, or free.
[[nodiscard]] double mean_self_mobility(const brownian_options& options);

}  // namespace quadrat::detail
