// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/session.hpp"
#include "harness/stopwatch.hpp"
#include "harness/timing.hpp"
#include "quadrat/models/circles.hpp"
#include "search/walks.hpp"

namespace quadrat::bench {

/// One initial state of Circles, for all walks. Checks their neighbors against each other.
template <int D>
class circles_start {
 public:
  circles_start(const circles_parameters& parameters, std::size_t n)
      : parameters_(parameters), positions_(circles_initial_positions<D>(parameters, n, 1)) {}

  [[nodiscard]] const circles_parameters& parameters() const { return parameters_; }
  [[nodiscard]] std::size_t size() const { return positions_.size(); }
  [[nodiscard]] row identify(std::string_view operation, const walk& method) const {
    return identify_run(operation, method, parameters_, D, size());
  }

  template <typename Context>
  [[nodiscard]] circles<Context, float, D> make(const Context& context, const walk& method) const {
    return {context,
            {parameters_, std::string(method.order), std::string(method.cell_list), method.cells_per_reach,
             method.cells_per_reach_x, method.queue_neighbors},
            positions_};
  }

  /// Throws disagreement unless the neighbor counts at the start equal those of earlier walks.
  template <typename Context>
  circles_statistics verify(const walk& method, circles<Context, float, D>& model) {
    const circles_statistics now = model.measure();
    if (!first_) first_ = {std::string(method.order), now};
    const circles_statistics& first = first_->second;
    if (now.mean_neighbors != first.mean_neighbors || now.neighbor_deviation != first.neighbor_deviation) {
      throw disagreement(message(method.order, " over ", method.cell_list, " finds ", now.mean_neighbors,
                                 " neighbors an agent, ", first_->first, " finds ", first.mean_neighbors));
    }
    return now;
  }

 private:
  circles_parameters parameters_;
  std::vector<vec<double, D>> positions_;
  std::optional<std::pair<std::string, circles_statistics>> first_;
};

/// Runs from the start once per sample, `runs` times after a warm-up run: the mean time of a step.
template <typename Context, int D>
[[nodiscard]] timing time_runs(circles<Context, float, D>& model, std::size_t steps, int runs, double tolerance) {
  const auto start = model.state();
  stopwatch<Context> watch(model.context());
  std::vector<double> samples;
  for (int run = 0; run <= runs; ++run) {
    model.restore(start);
    watch.start();
    model.advance(steps);
    const double spent = watch.stop_ms() / static_cast<double>(steps);
    if (run > 0) samples.push_back(spent);
    model.check();
  }
  model.restore(start);
  return summarize(samples, tolerance);
}

/// Mean numbers of neighbors and candidates per agent over the steps of a run (by the trapezoid rule over ten
/// intervals).
struct run_averages {
  double neighbors = 0;
  double candidates = 0;
};
template <typename Context, int D>
[[nodiscard]] run_averages average_over_run(circles<Context, float, D>& model, std::size_t steps) {
  const std::size_t stretches = steps < 10 ? 1 : 10;
  run_averages sum;
  for (std::size_t k = 0; k <= stretches; ++k) {
    const circles_statistics now = model.measure();
    const double weight = (k == 0 || k == stretches ? 0.5 : 1.0) / static_cast<double>(stretches);
    sum.neighbors += weight * now.mean_neighbors;
    sum.candidates += weight * now.candidates_per_agent;
    if (k < stretches) model.advance(steps * (k + 1) / stretches - steps * k / stretches);
  }
  return sum;
}

}  // namespace quadrat::bench
