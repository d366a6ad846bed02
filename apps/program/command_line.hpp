// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

namespace quadrat::program {

/// What is wrong with a command line that could not be parsed, in one line: what was written, and what would be
/// accepted. `words` are those of the command line, without the program's name.
[[nodiscard]] std::string complaint(const CLI::App& app, const CLI::ParseError& problem,
                                    std::span<const std::string_view> words);

/// The same for a word in the place of a command.
[[nodiscard]] std::string unknown_command(const CLI::App& app, std::string_view word);

}  // namespace quadrat::program
