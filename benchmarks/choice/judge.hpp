// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/report.hpp"
#include "quadrat/tune/device_profile.hpp"

namespace quadrat::bench {

/// What a choice by this profile would have cost in a measured row: one result for each number of uses. Rows have
/// `module`, `uses`, `chosen`, `best`, `regret` (time of the chosen method over that of the best, for an object that
/// has seen such input), and `first_regret`: of the first call, with the time of sampling. Throws
/// nlohmann::json::exception for rows of another kind.
[[nodiscard]] std::vector<row> judge(const row& measured, const device_profile& profile);

/// One row for each module: number of cases, median, 95th percentile and maximum of the regret, and of that of the
/// first call (`first_`).
[[nodiscard]] std::vector<row> summarize_regret(const std::vector<row>& judged);

/// The constants that predict the times of these rows best: least squares of relative errors, none negative. Constants
/// of methods that were not timed, and of what no row has any of, stay those of `start`.
[[nodiscard]] device_profile fit_profile(const std::vector<row>& measured, const device_profile& start);

}  // namespace quadrat::bench
