// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/report.hpp"
#include "harness/settings.hpp"
#include "quadrat/tune/device_profile.hpp"

namespace quadrat::bench {

/// The arguments of `quadrat tune`.
struct tuning {
  settings asked;                            ///< the device, and the time limit
  std::vector<std::filesystem::path> from;   ///< results of `quadrat bench choice` to use instead of measuring
  std::vector<std::filesystem::path> check;  ///< such results, on whose test cases the profile is judged
  std::filesystem::path judged;              ///< the file for the judged rows; empty: none
};

/// The rows of `grid` in a result of `quadrat bench choice`. Throws io_error, and data_error for another file.
[[nodiscard]] std::vector<row> rows_of(const std::filesystem::path& file, const std::string& grid);

/// Times the fit grid, or reads it, and fits the constants of `device`.
[[nodiscard]] device_profile tune(const tuning& what, const device_facts& device);

/// Judges a profile on the files of `check`. Prints a summary per module, and writes the rows.
void check_profile(const tuning& what, const device_profile& profile);

}  // namespace quadrat::bench
