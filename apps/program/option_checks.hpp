// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

/// Validators of options. Each error names the option first, then what was given and what would be accepted.
namespace quadrat::program {

/// One of these names. The span must stay valid. The help lists the names.
[[nodiscard]] CLI::Validator one_of(std::span<const std::string_view> names);

/// A number. NaN and infinity pass: the code that uses the number checks its range.
[[nodiscard]] CLI::Validator any_number();

/// A whole number from `least` to `most`.
[[nodiscard]] CLI::Validator whole_number(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                                          std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// An existing file that is not a folder.
[[nodiscard]] CLI::Validator existing_file();

}  // namespace quadrat::program
