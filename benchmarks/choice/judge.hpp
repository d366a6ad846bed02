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
/// has seen such input, by the profile), `first_regret`: of the first call, with the time of sampling, `run_regret`: of
/// a hundred calls together, of which one may sample, and `lasting_regret`: of calls 1,001 to 2,000, when other methods
/// have been tried, and with what further trials take; by the times of the methods, or, where the case was measured so,
/// by the object itself: `measured_lasting_regret`. Throws nlohmann::json::exception for rows of another kind.
[[nodiscard]] std::vector<row> judge(const row& measured, const device_profile& profile);

/// One row for each module: number of cases, median, 95th percentile and maximum of the regret, of a hundred calls
/// (`run_`), of the first one (`first_`) and of those after a thousand (`lasting_`).
[[nodiscard]] std::vector<row> summarize_regret(const std::vector<row>& judged);

/// The constants that predict the times of these rows best: least squares of relative errors, none negative. Constants
/// of methods that were not timed, and of what no row has any of, stay those of `start`.
[[nodiscard]] device_profile fit_profile(const std::vector<row>& measured, const device_profile& start);

}  // namespace quadrat::bench
