// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace quadrat::program {

/// Throws argument_error unless --output names a file with one of these endings that is none of the inputs. `what` is
/// what is written.
void check_output_file(const std::filesystem::path& output, std::initializer_list<std::filesystem::path> inputs,
                       std::string_view what, std::initializer_list<std::string_view> endings);

/// Throws argument_error unless --output names a .npy or .csv file that is not the input. `what` is what is written.
void check_table_output(const std::filesystem::path& output, const std::filesystem::path& input, std::string_view what);

}  // namespace quadrat::program
