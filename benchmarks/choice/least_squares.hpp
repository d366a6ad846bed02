// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace quadrat::bench {

/// Constants x >= 0 that minimize a sum over rows of a function of the error r = (sum over k of amounts[row][k] x[k] -
/// time) / the larger of both. The function is weight r^2 for small |r|, and about weight |r| above 0.2, so that
/// disturbed measurements count little (reweighted least squares). Constants of amounts that are 0 in all rows are 0.
/// Coordinate descent on the normal equations of each step converges, since they are few and the step is convex.
[[nodiscard]] std::vector<double> fit_relative(const std::vector<std::vector<double>>& amounts,
                                               const std::vector<double>& times, const std::vector<double>& weights,
                                               bool interrupted = true);

}  // namespace quadrat::bench
