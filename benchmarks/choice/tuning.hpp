// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/report.hpp"
#include "harness/settings.hpp"
#include "quadrat/tune/device_profile.hpp"

namespace quadrat::bench {

/// What `quadrat tune` does.
struct tuning {
  settings asked;                            ///< the device, and the time that measuring may take
  std::vector<std::filesystem::path> from;   ///< results of `quadrat bench choice`, instead of measuring
  std::vector<std::filesystem::path> check;  ///< such results, by whose test cases the profile is judged
  std::filesystem::path judged;              ///< where to write the rows of that; empty: nowhere
};

/// The rows of `grid` in a result of `quadrat bench choice`. Throws io_error, and data_error for another file.
[[nodiscard]] std::vector<row> rows_of(const std::filesystem::path& file, const std::string& grid);

/// Times the fit grid (or reads it), and fits the constants of `device`.
[[nodiscard]] device_profile tune(const tuning& what, const device_facts& device);

/// Judges a profile by the files to check. Prints a summary of each module, and writes the rows.
void check_profile(const tuning& what, const device_profile& profile);

}  // namespace quadrat::bench
