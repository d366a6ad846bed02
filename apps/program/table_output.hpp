// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace quadrat::program {

/// Adds -o, --output; "-" means /dev/stdout.
void add_output_option(CLI::App& command, std::optional<std::string>& output, const std::string& description);

/// Throws argument_error unless the option names a valid output file: one with one of these endings that is not an
/// input, or a pipe or device. A pipe or device gets .csv if that is among the endings, otherwise .npy. `what`: what is
/// written; `json`: standard output is already used; `option`: the option's name, for messages.
void check_output_file(const std::filesystem::path& output, bool json,
                       std::initializer_list<std::filesystem::path> inputs, std::string_view what,
                       std::initializer_list<std::string_view> endings, const char* option = "--output");

/// The same for .npy and .csv files.
void check_table_output(const std::filesystem::path& output, bool json, const std::filesystem::path& input,
                        std::string_view what);

/// The stream for a command's summary: standard error if results go to standard output.
[[nodiscard]] std::FILE* summary_stream(const std::optional<std::string>& output);

}  // namespace quadrat::program
