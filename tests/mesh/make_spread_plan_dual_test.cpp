// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/mesh/make_spread_plan.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

class make_spread_plan_test : public backend_test {};

/// A point on a mesh point, with B-splines of order 2, by name and as a window.
TEST_F(make_spread_plan_test, deduces_the_type_from_its_arguments) {
  const backend_context context;
  const auto domain = make_box<float, 2>({0, 0}, {1, 1}, {true, true});
  auto plan = make_spread_plan(context, domain, {4, 4}, 2);
  EXPECT_TRUE((std::is_same_v<decltype(plan), spread_plan<backend_context, float, 2>>));
  auto fitted = make_spread_plan(context, domain, {4, 4}, bspline_window<float>(2), {.uses = 3});
  const auto points = to_device(context, std::vector<vec<float, 2>>{{0.25f, 0.5f}});
  const auto values = to_device(context, std::vector<float>{3});
  array<float, backend_context> mesh(context, 16);
  for (auto* each : {&plan, &fitted}) {
    each->set_points(points_of(points));
    each->spread(values.data(), mesh.data());
    EXPECT_EQ(to_host(context, mesh)[1 * 4 + 2], 3.0f);
  }
}

}  // namespace

}  // namespace quadrat::test
