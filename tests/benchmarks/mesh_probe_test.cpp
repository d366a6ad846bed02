// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/points.hpp"
#include "harness/session.hpp"
#include "mesh/problem.hpp"

namespace quadrat::bench {
namespace {

constexpr int extent = 20;

/// Points, values and the mesh that results from spreading them.
template <typename T>
struct spread_case {
  explicit spread_case(int order) : probe(extent, order) {
    plan.set_points(problem.points(problem.size()));
    plan.spread(values.data(), mesh.data());
  }

  [[nodiscard]] double deviation() const {
    const probe_sum expected =
        sum_over_points(problem.values_on_host(), 1, 0, probe.at_points(problem.coordinates_on_host()), problem.size());
    return require_agreement(probe.over_mesh(mesh, 1, 0), expected, sizeof(T) == 4);
  }

  cpu_context context;
  mesh_probe probe;
  spread_problem<cpu_context, T> problem{context, clustered_points<T>(2000)};
  spread_plan<cpu_context, T, 3> plan =
      make_spread_plan<cpu_context, T>(context, extent, probe.order(), spread_options{});
  std::vector<T> values = problem.values_on_host();
  std::vector<T> mesh = std::vector<T>(cube_of(extent));
};

TEST(mesh_probe, agrees_with_spreading) {
  for (int order = 1; order <= 8; ++order) {
    EXPECT_LT(spread_case<float>(order).deviation(), 1e-6) << "order " << order;
    EXPECT_LT(spread_case<double>(order).deviation(), 1e-14) << "order " << order;
  }
}

TEST(mesh_probe, notices_a_point_that_was_left_out) {
  spread_case<float> with(6);
  with.values[77] = 0;
  with.plan.spread(with.values.data(), with.mesh.data());
  EXPECT_THROW(static_cast<void>(with.deviation()), disagreement);
}

TEST(mesh_probe, notices_a_mesh_that_is_shifted_by_a_point) {
  spread_case<float> with(6);
  std::rotate(with.mesh.begin(), with.mesh.begin() + 1, with.mesh.end());
  EXPECT_THROW(static_cast<void>(with.deviation()), disagreement);
}

TEST(mesh_probe, interpolated_is_what_a_plan_interpolates) {
  spread_case<double> with(6);
  const std::vector<double> g = with.probe.at_points(with.problem.coordinates_on_host());
  const std::vector<double> mesh = with.probe.on_mesh<double>(1);
  std::vector<double> values(g.size()), gradients(3 * g.size());
  with.plan.interpolate(mesh.data(), values.data());
  with.plan.interpolate_gradient(mesh.data(), gradients.data());
  for (std::size_t i = 0; i < g.size(); ++i) ASSERT_NEAR(values[i], g[i], 1e-13) << "point " << i;
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<double> slope = with.probe.at_points(with.problem.coordinates_on_host(), axis);
    for (std::size_t i = 0; i < g.size(); ++i) {
      ASSERT_NEAR(gradients[3 * i + static_cast<std::size_t>(axis)], slope[i], 1e-11) << "point " << i;
    }
  }
}

TEST(clustered_points, half_stand_in_a_hundredth_of_the_volume) {
  constexpr std::size_t n = 10'000;
  const std::vector<double> points = clustered_points<double>(n);
  const double half = 0.5 * std::cbrt(0.01);
  std::size_t inside = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bool in = true;
    for (std::size_t axis = 0; axis < 3; ++axis) in = in && std::abs(points[3 * i + axis]) <= half;
    inside += in ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(inside), 0.505 * n, 0.02 * n);
}

}  // namespace
}  // namespace quadrat::bench
