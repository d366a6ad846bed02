// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

/// What options accept. Each says what was given and what would be accepted; the option's name comes first.
namespace quadrat::program {

/// One of these names, which stay where they are. The help lists them.
[[nodiscard]] CLI::Validator one_of(std::span<const std::string_view> names);

/// A number as files have it. NaN and infinity pass: whoever uses the number says what it has to be.
[[nodiscard]] CLI::Validator any_number();

/// A whole number from `least` to `most`.
[[nodiscard]] CLI::Validator whole_number(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                                          std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// The name of a file that is there and is no folder.
[[nodiscard]] CLI::Validator existing_file();

}  // namespace quadrat::program
