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

/// Adds -o, --output; "-" becomes /dev/stdout.
void add_output_option(CLI::App& command, std::optional<std::string>& output, const std::string& description);

/// Throws argument_error unless the option names a file with one of these endings that is not one of the inputs, or a
/// pipe or a device, which gets .csv where that is among the endings and .npy otherwise. `what` is what is written;
/// `json` says whether the standard output is taken already; `option` is what messages begin with.
void check_output_file(const std::filesystem::path& output, bool json,
                       std::initializer_list<std::filesystem::path> inputs, std::string_view what,
                       std::initializer_list<std::string_view> endings, const char* option = "--output");

/// The same for .npy and .csv files.
void check_table_output(const std::filesystem::path& output, bool json, const std::filesystem::path& input,
                        std::string_view what);

/// Where a command prints its summary: standard error when the results go to standard output.
[[nodiscard]] std::FILE* summary_stream(const std::optional<std::string>& output);

}  // namespace quadrat::program
