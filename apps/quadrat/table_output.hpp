// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string_view>

namespace quadrat::program {

/// Throws argument_error unless --output names a .npy or .csv file that is not the input. `what` is what is written.
void check_table_output(const std::filesystem::path& output, const std::filesystem::path& input, std::string_view what);

}  // namespace quadrat::program
