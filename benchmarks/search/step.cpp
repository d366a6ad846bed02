// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "search/operations.hpp"
#include "search/runs.hpp"

namespace quadrat::bench {

namespace {

constexpr std::size_t published_steps = 200;

/// The first step of a run, from agents in random memory order: the median of several runs.
template <typename Context>
[[nodiscard]] circles_record time_first_step(circles<Context, float, 3>& model) {
  const auto start = model.state();
  std::vector<circles_record> records;
  for (int k = 0; k < 5; ++k) {
    model.restore(start);
    records.push_back(model.record(1)[0]);
  }
  model.restore(start);
  std::ranges::sort(records, {}, &circles_record::milliseconds);
  return records[records.size() / 2];
}

template <typename Context>
void time_walk_of(const session& s, const Context& context, circles_start<3>& start, const walk& method,
                  std::size_t steps, row& out) {
  const double n = static_cast<double>(start.size());
  auto model = start.make(context, method);
  const circles_statistics first = start.verify(method, model);
  const circles_record first_step = time_first_step(model);
  const timing measured = time_runs(model, steps, s.full() ? 3 : 2, s.plan().tolerance);
  const std::size_t bytes = model.bytes();
  const run_averages mean = average_over_run(model, steps);
  model.check();
  add_timing(out, measured, "agents_per_s", n);
  out["steps"] = steps;
  out["candidates_rate"] = mean.candidates * out["agents_per_s"].get<double>();
  out["neighbors"] = mean.neighbors;
  out["candidates"] = mean.candidates;
  out["first_step_ms"] = first_step.milliseconds;
  out["first_step_neighbors"] = first.mean_neighbors;
  out["first_step_candidates"] = first.candidates_per_agent;
  out["last_neighbors"] = model.measure().mean_neighbors;
  out["bytes"] = bytes;
}

template <typename Context>
void run_density(const session& s, const Context& context, double density) {
  const std::size_t n = !s.full() ? 1000 : (s.on_cuda() ? 1000000 : 64000);
  const std::size_t steps = !s.full() ? 5 : (s.on_cuda() ? published_steps : 20);
  circles_parameters parameters = circles_defaults(circles_form::sine);
  parameters.width = std::cbrt(static_cast<double>(n) / density);
  circles_start<3> start(parameters, n);
  for (const walk& method : all_walks(s)) {
    s.attempt(start.identify("step", method), [&](row& out) { time_walk_of(s, context, start, method, steps, out); });
  }
}

}  // namespace

void run_circles_step(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const double density : {1.0, 4.0}) run_density(s, context, density);
  });
}

}  // namespace quadrat::bench
