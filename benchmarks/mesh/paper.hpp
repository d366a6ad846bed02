// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/problem.hpp"

/// The tests of particle-mesh-spreading: uniform random points, B-splines of order 6, a periodic mesh of K^3 points,
/// real values, single precision.
namespace quadrat::bench {

inline constexpr int paper_order = 6;

/// Contributions to a mesh point, on average: N p^3 / K^3.
[[nodiscard]] constexpr double contributions_per_mesh_point(std::size_t n, int mesh) {
  return static_cast<double>(n) * static_cast<double>(cube_of(paper_order)) / static_cast<double>(cube_of(mesh));
}

struct paper_case {
  std::string_view method;
  std::size_t n;
  int mesh;
  detail::plan_details details{};
  bool building = true;  ///< whether set_points is timed, too
};

struct paper_times {
  timing set_points;
  timing spread;
  std::size_t bytes = 0;
};

struct paper_sizes {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> decades;  ///< a subset of the counts, for slow cases
  std::vector<int> meshes;
};

[[nodiscard]] paper_sizes paper_sizes_for(const session& s);
/// The selected methods of the paper that run on this device.
[[nodiscard]] std::vector<std::string_view> paper_methods(const session& s);
/// The mesh of a figure; the smallest one in a quick run.
[[nodiscard]] int figure_mesh(const session& s, int mesh);

/// Fewer samples than usual: there are hundreds of rows.
[[nodiscard]] inline timing_plan paper_plan(const session& s) {
  timing_plan plan = s.plan();
  plan.least = 5;
  plan.seconds = std::min(plan.seconds, 0.05);
  return plan;
}

/// Measures a case, or returns the result of an earlier operation. Throws what a plan throws, and disagreement (methods
/// with wrong results are not checked).
template <typename Context>
const paper_times& measure_paper_case(const session& s, const Context& context, const paper_case& what) {
  const detail::plan_details& how = what.details;
  const std::string key = message("paper case ", what.method, ", ", what.n, " on ", what.mesh, ", ", how.compute_unit,
                                  ", ", how.group_size, ", ", static_cast<int>(how.reduction), ", ", what.building);
  return s.once<paper_times>(key, [&] {
    const auto& problem = make_problem<Context, float>(s, context, paper_sizes_for(s).counts.back(), "uniform");
    spread_options options;
    options.method = what.method;
    auto plan = make_spread_plan<Context, float>(context, what.mesh, paper_order, options, how);
    paper_times times;
    if (what.building) {
      times.set_points = time_set_points(context, problem, plan, what.n, paper_plan(s));
    } else {
      plan.set_points(problem.points(what.n));
    }
    array<float, Context> mesh(context, plan.mesh_size());
    const auto methods = spread_methods();
    if (!std::ranges::find(methods, what.method, &spread_method::name)->wrong_results) {
      check_spread(context, problem, make_probe(s, problem, what.mesh, paper_order, "uniform"), plan, 1, mesh);
    }
    times.spread = time_repeated(context, paper_plan(s), [&] { plan.spread_async(problem.values(), mesh.data()); });
    times.bytes = plan.bytes();
    return times;
  });
}

}  // namespace quadrat::bench
