// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "search/operations.hpp"
#include "search/runs.hpp"

namespace quadrat::bench {

namespace {

/// The poster does not give its sizes. These have 10,000 to 312,000 agents on a GPU, with 3 to 70 neighbors at the
/// start. With the larger force they reach a steady state within the 1,000 steps of the model's definition.
struct experiment {
  double width;
  double density;
  double force;
};

template <int D>
[[nodiscard]] std::vector<experiment> experiments(const session& s) {
  const double width = D == 2 ? (!s.full() ? 150 : (s.on_cuda() ? 1000 : 300)) : (s.full() && s.on_cuda() ? 250 : 50);
  std::vector<experiment> result;
  const std::vector<double> densities = D == 2 ? std::vector{0.01, 0.04, 0.16} : std::vector{0.0025, 0.01, 0.02};
  for (const double density : densities) {
    for (const double force : {1e-3, 4e-3}) result.push_back({width, density, force});
  }
  if (!s.full()) result = {result[2]};
  return result;
}

[[nodiscard]] timing summary_of(const std::vector<circles_record>& records, std::size_t first, std::size_t last,
                                double tolerance) {
  std::vector<double> times;
  for (std::size_t k = first; k < last; ++k) times.push_back(records[k].milliseconds);
  return summarize(times, tolerance);
}

/// The intervals of a run: the median time of a step, and the neighbors at the end of each interval.
[[nodiscard]] row series_of(const std::vector<circles_record>& records, double tolerance) {
  row series = row::array();
  const std::size_t stretches = std::min<std::size_t>(20, records.size());
  for (std::size_t k = 0; k < stretches; ++k) {
    const std::size_t first = records.size() * k / stretches;
    const std::size_t last = records.size() * (k + 1) / stretches;
    const circles_record& end = records[last - 1];
    series.push_back({{"step", end.step},
                      {"median_ms", summary_of(records, first, last, tolerance).median_ms},
                      {"neighbors", end.mean_neighbors},
                      {"neighbor_deviation", end.neighbor_deviation},
                      {"displacement", end.mean_displacement}});
  }
  return series;
}

template <typename Context, int D>
void follow_run(const session& s, const Context& context, circles_start<D>& start, const walk& method,
                std::size_t steps, row& out) {
  const double tolerance = s.plan().tolerance;
  auto model = start.make(context, method);
  start.verify(method, model);
  const std::vector<circles_record> records = model.record(steps);
  const std::size_t tenth = std::max<std::size_t>(1, steps / 10);
  add_timing(out, summary_of(records, 0, steps, tolerance), "agents_per_s", static_cast<double>(start.size()));
  double total = 0;
  for (const circles_record& one : records) total += one.milliseconds;
  out["steps"] = steps;
  out["mean_ms"] = total / static_cast<double>(steps);
  out["first_tenth_ms"] = summary_of(records, 0, tenth, tolerance).median_ms;
  out["last_tenth_ms"] = summary_of(records, steps - tenth, steps, tolerance).median_ms;
  out["first_neighbors"] = records.front().mean_neighbors;
  out["last_neighbors"] = records.back().mean_neighbors;
  out["first_deviation"] = records.front().neighbor_deviation;
  out["last_deviation"] = records.back().neighbor_deviation;
  out["series"] = series_of(records, tolerance);
}

template <int D, typename Context>
void run_dimension(const session& s, const Context& context) {
  const std::size_t steps = s.full() ? 1000 : 20;
  for (const experiment& wanted : experiments<D>(s)) {
    circles_parameters parameters = circles_defaults(circles_form::original);
    parameters.width = wanted.width;
    parameters.repulsion = parameters.attraction = wanted.force;
    circles_start<D> start(parameters, circles_count(parameters, D, wanted.density));
    for (const walk& method : paper_walks(s)) {
      s.attempt(start.identify("circles", method),
                [&](row& out) { follow_run<Context, D>(s, context, start, method, steps, out); });
    }
  }
}

}  // namespace

void run_circles_experiment(const session& s) {
  with_context(s, [&](const auto& context) {
    run_dimension<2>(s, context);
    run_dimension<3>(s, context);
  });
}

}  // namespace quadrat::bench
