// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace quadrat::bench {

/// Milliseconds of one repetition, over all samples.
struct timing {
  double median_ms = 0;
  double min_ms = 0;
  double max_ms = 0;
  std::size_t samples = 0;
  bool stable = false;  ///< the medians of the first and of the second half of the samples agree
};

/// How many samples to take.
struct timing_plan {
  std::size_t least = 9;   ///< samples at least
  std::size_t most = 500;  ///< samples at most
  double seconds = 0.2;    ///< after which only the least number is completed
  double tolerance = 0.02;
};

/// Whether the medians of both halves differ by at most `tolerance` of the smaller. False for fewer than two samples.
[[nodiscard]] bool halves_agree(std::span<const double> samples, double tolerance);

/// Throws argument_error when there are no samples.
[[nodiscard]] timing summarize(std::span<const double> samples_ms, double tolerance);

/// Takes samples until they are stable or the plan's limits are reached.
[[nodiscard]] timing repeat(const timing_plan& plan, const std::function<double()>& sample_ms);

}  // namespace quadrat::bench
