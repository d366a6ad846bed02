// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

namespace quadrat::program {

/// Explains in one line what is wrong with a command line that could not be parsed: what was written, and what would be
/// accepted. `words` are the arguments, without the program's name.
[[nodiscard]] std::string complaint(const CLI::App& app, const CLI::ParseError& problem,
                                    std::span<const std::string_view> words);

/// The same for an unknown command.
[[nodiscard]] std::string unknown_command(const CLI::App& app, std::string_view word);

}  // namespace quadrat::program
