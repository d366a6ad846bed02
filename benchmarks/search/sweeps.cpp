// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "search/operations.hpp"
#include "search/runs.hpp"

namespace quadrat::bench {

namespace {

/// The paper's walks, and the library's own default.
[[nodiscard]] std::vector<walk> swept_walks(const session& s) {
  std::vector<walk> walks = paper_walks(s);
  if (s.wants_method(circles_default_order)) {
    walks.push_back(
        {circles_default_order, circles_default_cell_list, circles_default_cells_per_reach(circles_default_order)});
  }
  return walks;
}

template <int D, typename Context>
void run_point(const session& s, const Context& context, std::string_view operation, const char* swept,
               const circles_parameters& parameters, std::size_t n, std::size_t steps) {
  circles_start<D> start(parameters, n);
  for (const walk& method : swept_walks(s)) {
    row identity = start.identify(operation, method);
    identity["swept"] = swept;
    s.attempt(identity, [&](row& out) {
      auto model = start.make(context, method);
      start.verify(method, model);
      const timing measured = time_runs(model, steps, s.full() ? 3 : 2, s.plan().tolerance);
      const run_averages mean = average_over_run(model, steps);
      add_timing(out, measured, "agents_per_s", static_cast<double>(n));
      out["steps"] = steps;
      out["neighbors"] = mean.neighbors;
      out["candidates"] = mean.candidates;
      out["last_deviation"] = model.measure().neighbor_deviation;
    });
  }
}

template <int D, typename Context>
void sweep_original(const session& s, const Context& context) {
  constexpr double density = 0.01;
  const std::size_t steps = s.full() ? 1000 : 5;
  const auto run = [&](const char* swept, double width, double radius) {
    circles_parameters parameters = circles_defaults(circles_form::original);
    parameters.width = width;
    parameters.radius = radius;
    run_point<D>(s, context, "original", swept, parameters, circles_count(parameters, D, density), steps);
  };
  const std::vector<double> widths = s.full() ? std::vector{50., 100., 150., 200., 250., 300.} : std::vector{50.};
  for (const double width : widths) run("width", width, 5);
  const std::vector<double> radii = s.full() ? std::vector{1., 2., 3., 5., 7., 10., 12., 15.} : std::vector{5.};
  for (const double radius : radii) run("radius", 100, radius);
}

template <typename Context>
void sweep_sine(const session& s, const Context& context) {
  const std::size_t steps = !s.full() ? 5 : (s.on_cuda() ? 200 : 20);
  const auto run = [&](const char* swept, double n, double density, double reach) {
    circles_parameters parameters = circles_defaults(circles_form::sine);
    parameters.width = std::cbrt(n / density);
    parameters.radius = reach;
    run_point<3>(s, context, "sine", swept, parameters, static_cast<std::size_t>(n), steps);
  };
  if (!s.full()) {
    run("volume", 1000, 1, 2);
    run("density", 1000, 2, 2);
    run("reach", 1000, 1, 4);
    return;
  }
  const double most = s.on_cuda() ? 1e6 : 1e5;
  for (const double volume : {1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6}) {
    if (volume <= most) run("volume", volume, 1, 2);
  }
  for (const double density : {1., 2., 3., 4.}) run("density", most, density, 2);
  for (const double reach : {2., 3., 4., 5., 7., 10., 15., 20., 30., 40.}) {
    if (s.on_cuda() || reach <= 7) run("reach", 64000, 1, reach);
  }
}

}  // namespace

void run_original_sweeps(const session& s) {
  with_context(s, [&](const auto& context) {
    sweep_original<2>(s, context);
    sweep_original<3>(s, context);
  });
}

void run_sine_sweeps(const session& s) {
  with_context(s, [&](const auto& context) { sweep_sine(s, context); });
}

}  // namespace quadrat::bench
