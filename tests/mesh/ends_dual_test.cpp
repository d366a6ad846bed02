// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "mesh/support.hpp"
#include "support/errors.hpp"

// Mesh points on both faces of open axes, and points on the upper face.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct ends_setting {
  using value_type = T;
  static constexpr int dimension = D;
};
template <typename Setting>
class open_ends_test : public backend_test {};
using ends_settings = testing::Types<ends_setting<float, 1>, ends_setting<float, 2>, ends_setting<float, 3>,
                                     ends_setting<double, 1>, ends_setting<double, 2>, ends_setting<double, 3>>;
TYPED_TEST_SUITE(open_ends_test, ends_settings);

/// The first axis is periodic in more than one dimension; the others are open.
template <typename T, int D>
spread_case<T, D> open_case(int order, int extent) {
  auto it = uniform_case<T, D>(static_cast<std::uint64_t>(order - 1), 0, extent);
  it.domain.lower = vec<T, D>::filled(T(0.3));
  it.domain.length = vec<T, D>::filled(T(0.7));  // the upper face is rounded
  for (int axis = D == 1 ? 0 : 1; axis < D; ++axis) it.domain.periodic[axis] = false;
  it.options.ends = open_ends::both;
  std::mt19937_64 random(9);
  for (int i = 0; i < 150; ++i) {
    it.points.push_back(make_vec<T, D>([&](int) { return T(0.3) + T(0.69) * random_unit<T>(random); }));
  }
  return it;
}

/// For the reference, whose axes have as many cells as mesh points.
template <typename T, int D>
reference::mesh_problem stretched_problem(const spread_case<T, D>& it) {
  auto problem = problem_of(it);
  for (int axis = 0; axis < D; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const long double points = it.mesh[axis];
    if (!it.domain.periodic[axis]) problem.length[a] *= points / (points - 1);
  }
  return problem;
}

TYPED_TEST(open_ends_test, both_have_a_mesh_point) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const int order : {2, 4, 7}) {
    for (const int extent : {9, 2}) {
      auto it = open_case<T, D>(order, extent);
      it.options.clip = true;
      const spread_input<T, D> input(it);
      const wanted_results wanted = wanted_of(it, input, stretched_problem(it));
      for (const std::string& method : methods_here()) {
        SCOPED_TRACE(method + ", " + describe(it));
        expect_agreement(run_method(context, it, input, method), wanted);
      }
    }
  }
}

/// With linear weights all of the box is between mesh points, its faces too: no footprint leaves the mesh.
TYPED_TEST(open_ends_test, belong_to_a_mesh_of_linear_weights) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  auto it = open_case<T, D>(2, 9);
  it.points.push_back(make_vec<T, D>(
      [&](int axis) { return it.domain.periodic[axis] ? it.domain.lower[axis] : it.domain.upper(axis); }));
  it.points.push_back(it.domain.lower);
  const spread_input<T, D> input(it);
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    auto plan = make_plan(context, it, method, it.order);
    set_points(context, plan, it);
    EXPECT_EQ(plan.left_out().clipped, 0U);
    const auto found = run_plan(context, plan, it, input);
    const auto total = [](const std::vector<T>& of) { return std::accumulate(of.begin(), of.end(), 0.0); };
    EXPECT_NEAR(total(found.mesh), total(input.values), 100 * spread_tolerance<T>);
    // The last mesh point of open axes, the first of the periodic one.
    std::size_t corner = 0;
    for (int axis = 0; axis < D; ++axis) {
      const auto extent = static_cast<std::size_t>(it.mesh[axis]);
      corner = corner * extent + (it.domain.periodic[axis] ? 0 : extent - 1);
    }
    EXPECT_NEAR(found.values[it.points.size() - 2], input.mesh[corner], 10 * spread_tolerance<T>);
    EXPECT_NEAR(found.values[it.points.size() - 1], input.mesh[0], 10 * spread_tolerance<T>);
  }
}

/// A window is zero at its ends.
TYPED_TEST(open_ends_test, are_reached_by_the_last_footprint_inside) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const int order : {3, 4, 8}) {
    auto it = open_case<T, D>(order, 17);
    it.mesh[0] = 17;
    it.options.ends = open_ends::lower;
    it.domain.lower = vec<T, D>::filled(1);
    it.domain.length = vec<T, D>::filled(17);  // mesh units
    it.points.assign(20, vec<T, D>::filled(T(1) + T(0.5) * T(order) + T(3.25)));
    for (std::size_t i = 0; i < 10; ++i) it.points[i][D - 1] = T(1) + T(17) - T(0.5) * T(order);
    const spread_input<T, D> input(it);
    const wanted_results wanted = wanted_of(it, input, problem_of(it));
    for (const std::string& method : methods_here()) {
      SCOPED_TRACE(method + ", " + describe(it));
      expect_agreement(run_method(context, it, input, method), wanted);
    }
  }
}

TYPED_TEST(open_ends_test, need_two_mesh_points) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  auto it = open_case<T, D>(4, 9);
  it.options.clip = true;
  it.mesh[D - 1] = 1;
  const std::string text =
      error_of<argument_error>([&] { const auto plan = make_plan(backend_context(), it, "auto", it.order); });
  expect_words(text, {"1 point", "open axis", "2"});
}

}  // namespace

}  // namespace quadrat::test
