// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/granular/frozen.hpp"
#include "models/granular/operations.hpp"

namespace quadrat::bench {

namespace {

/// One, two, and all threads.
std::vector<int> thread_counts() {
  std::vector<int> counts{1, 2};
  const int all = cpu_context().threads();
  if (all > 2) counts.push_back(all);
  return counts;
}

granular<cpu_context, float> make_model(frozen_grains& grains, std::string_view method, int threads) {
  cpu_context::options chosen;
  chosen.threads = threads;
  auto model = grains.make<float>(cpu_context(chosen), method);
  grains.verify(method, model);
  return model;
}

/// Samples of different numbers of threads alternate, so that other load on the machine affects all of them.
std::vector<timing> time_in_turns(const session& s, std::vector<granular<cpu_context, float>>& models) {
  const std::size_t steps = s.full() ? 10 : 3;
  const timing_plan plan = s.plan();
  const std::size_t samples = s.full() ? 15 : plan.least;
  std::vector<std::vector<double>> taken(models.size());
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (std::size_t m = 0; m < models.size(); ++m) {
      stopwatch<cpu_context> watch(models[m].context());
      watch.start();
      models[m].advance(steps);
      taken[m].push_back(watch.stop_ms() / static_cast<double>(steps));
    }
  }
  std::vector<timing> result;
  for (const auto& samples_ms : taken) result.push_back(summarize(samples_ms, plan.tolerance));
  return result;
}

void run_method(const session& s, frozen_grains& grains, std::string_view method) {
  const std::vector<int> counts = thread_counts();
  std::vector<timing> timings;
  for (std::size_t m = 0; m < counts.size(); ++m) {
    row identity = grains.describe("threads", method, "float");
    identity["threads"] = counts[m];
    s.attempt(identity, [&](row& out) {
      if (timings.empty()) {
        std::vector<granular<cpu_context, float>> models;
        for (const int threads : counts) models.push_back(make_model(grains, method, threads));
        timings = time_in_turns(s, models);
      }
      out["speedup"] = timings[0].median_ms / timings[m].median_ms;
      add_timing(out, timings[m], "updates_per_s", static_cast<double>(grains.size()));
    });
  }
}

}  // namespace

void run_threads(const session& s) {
  if (s.on_cuda()) {
    return s.out().skip(identify("threads", "all", "float", 0, 0, "uniform"), "it needs --device cpu");
  }
  const std::size_t n = s.full() ? 262144 : 8192;
  frozen_grains grains(cube_for(n, 3.5), n);
  auto methods = wanted_granular_methods(s);
  if (s.asked().methods.empty()) methods = {granular_default_method(cpu_context())};
  for (const std::string_view method : methods) run_method(s, grains, method);
}

}  // namespace quadrat::bench
