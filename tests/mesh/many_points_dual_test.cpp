// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/random.hpp"

// More points than GPUs sort in one pass.

namespace quadrat::test {

namespace {

class many_points_test : public backend_test {};

/// All values are spread, and none twice.
template <typename T, int D>
void expect_that_many_points_are_spread(const backend_context& context) {
  auto domain = make_box<T, D>(vec<T, D>::filled(T(0)), vec<T, D>::filled(T(1)), vec<bool, D>::filled(true));
  domain.periodic[0] = false;
  spread_options options;
  options.clip = true;
  spread_plan<backend_context, T, D> plan(context, domain, vec<int, D>::filled(32), bspline_window<T>(4), options);
  std::mt19937_64 random(3);
  std::vector<vec<T, D>> points(210'000);
  for (vec<T, D>& point : points) {
    point = make_vec<T, D>([&](int) { return T(0.25) + T(0.5) * random_unit<T>(random); });
  }
  const auto there = to_device(context, points);
  plan.set_points(points_of(there));
  const auto values = to_device(context, std::vector<T>(points.size(), T(1)));
  array<T, backend_context> mesh(context, plan.mesh_size());
  plan.spread(values.data(), mesh.data());
  double total = 0;
  for (const T x : to_host(context, mesh)) total += static_cast<double>(x);
  EXPECT_NEAR(total / static_cast<double>(points.size()), 1, 1e-4) << D << " dimensions, " << plan.method();
}

TEST_F(many_points_test, are_spread_in_any_dimension) {
  const backend_context context;
  expect_that_many_points_are_spread<float, 1>(context);
  expect_that_many_points_are_spread<float, 2>(context);
  expect_that_many_points_are_spread<float, 3>(context);
  expect_that_many_points_are_spread<double, 1>(context);
  expect_that_many_points_are_spread<double, 2>(context);
}

}  // namespace

}  // namespace quadrat::test
