// SPDX-License-Identifier: BSD-3-Clause
#include "harness/timing.hpp"

#include <algorithm>
#include <chrono>

#include "quadrat/core/error.hpp"

namespace quadrat::bench {

namespace {

double median(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace

bool halves_agree(std::span<const double> samples, double tolerance) {
  if (samples.size() < 2) return false;
  const double first = median(samples.first(samples.size() / 2));
  const double second = median(samples.last(samples.size() / 2));
  return std::max(first, second) - std::min(first, second) <= tolerance * std::min(first, second);
}

timing summarize(std::span<const double> samples_ms, double tolerance) {
  require(!samples_ms.empty(), "a timing needs at least one sample");
  const auto [least, most] = std::ranges::minmax(samples_ms);
  return {median(samples_ms), least, most, samples_ms.size(), halves_agree(samples_ms, tolerance)};
}

timing repeat(const timing_plan& plan, const std::function<double()>& sample_ms) {
  using clock = std::chrono::steady_clock;
  const clock::time_point start = clock::now();
  const auto time_is_up = [&] { return std::chrono::duration<double>(clock::now() - start).count() > plan.seconds; };
  std::vector<double> samples;
  const auto enough = [&] {
    if (samples.size() < plan.least) return false;
    return samples.size() >= plan.most || time_is_up() || halves_agree(samples, plan.tolerance);
  };
  while (!enough()) samples.push_back(sample_ms());
  return summarize(samples, plan.tolerance);
}

}  // namespace quadrat::bench
