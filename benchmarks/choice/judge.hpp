// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/report.hpp"
#include "quadrat/tune/device_profile.hpp"

namespace quadrat::bench {

/// Judges the choice by this profile in a measured row. One result for each number of uses. Results have `module`,
/// `uses`, `chosen`, `best`, and `regret`: the time of the chosen method over that of the best, for an object that has
/// seen such input. `first_regret` is that of the first call, the time of sampling included. Throws
/// nlohmann::json::exception for rows of another kind.
[[nodiscard]] std::vector<row> judge(const row& measured, const device_profile& profile);

/// One row for each module: number of cases, and median, 95th percentile and maximum of the regret and of the first
/// call's regret (`first_`).
[[nodiscard]] std::vector<row> summarize_regret(const std::vector<row>& judged);

/// The constants that predict the times of these rows best: least squares of relative errors with nonnegative
/// constants. Constants of methods that were not timed, and of amounts that are 0 in all rows, stay those of `start`.
[[nodiscard]] device_profile fit_profile(const std::vector<row>& measured, const device_profile& start);

}  // namespace quadrat::bench
