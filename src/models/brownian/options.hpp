// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/types.hpp"
#include "quadrat/models/brownian.hpp"

namespace quadrat::detail {

/// Throws argument_error for the first impossible option; otherwise returns the options with defaults filled in.
[[nodiscard]] brownian_options completed(brownian_options options, std::size_t count, determinism level);

/// Throws data_error if the word of a run_fault reports a fault.
void throw_brownian_fault(std::uint64_t fault);

/// The mobility options of the model.
[[nodiscard]] mobility_options mobility_of(const brownian_options& options);

/// The mean mobility of a sphere along the three axes, in the periodic box or free.
[[nodiscard]] double mean_self_mobility(const brownian_options& options);

}  // namespace quadrat::detail
