// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "mesh/support.hpp"

namespace quadrat::test {

namespace {

class mesh_gradient_test : public backend_test {};

TEST_F(mesh_gradient_test, gradients_are_the_slopes_of_the_values) {
  const backend_context context;
  constexpr double step = 1e-5;
  for (const std::string& method : methods_here()) {
    auto it = uniform_case<double, 3>(4, 200, 9);  // order 5
    const spread_input<double, 3> input(it);
    const auto middle = run_method(context, it, input, method);
    for (int axis = 0; axis < 3; ++axis) {
      auto above = it, below = it;
      for (auto& point : above.points) point[axis] += step;
      for (auto& point : below.points) point[axis] -= step;
      const auto high = run_method(context, above, input, method), low = run_method(context, below, input, method);
      for (std::size_t i = 0; i < it.points.size(); ++i) {
        const double slope = (high.values[i] - low.values[i]) / (2 * step);
        EXPECT_NEAR(middle.gradients_in_pass[3 * i + static_cast<std::size_t>(axis)], slope, 1e-6) << method;
      }
    }
  }
}

/// Gradients of linear functions are exact: they show which number belongs to which axis, vector and component.
TEST_F(mesh_gradient_test, gradients_have_the_order_vector_point_axis_component) {
  const backend_context context;
  for (const std::string& method : methods_here()) {
    for (const std::size_t components : {std::size_t{1}, std::size_t{2}}) {
      spread_case<double, 3> it;
      it.domain = make_box<double, 3>({0, 0, 0}, {8, 9, 20}, {false, false, false});
      it.mesh = {8, 9, 10};
      it.points = {{3, 4, 5}, {3.25, 4.5, 6.75}};
      it.vectors = 2;
      it.components = components;
      spread_input<double, 3> input(it);
      const auto factor = [&](std::size_t vector, std::size_t c) { return 1.0 + static_cast<double>(2 * vector + c); };
      for (std::size_t i = 0; i < input.mesh.size(); ++i) {
        const std::size_t node = i / components % 720;
        input.mesh[i] = factor(i / components / 720, i % components) *
                        (2.0 * static_cast<double>(node / 90) + 3.0 * static_cast<double>(node / 10 % 9) +
                         10.0 * static_cast<double>(node % 10));
      }
      const auto found = run_method(context, it, input, method);
      for (std::size_t i = 0; i < found.gradients.size(); ++i) {
        const std::size_t vector = i / components / 6, axis = i / components % 3;
        const double wanted = factor(vector, i % components) * (axis == 0 ? 2 : axis == 1 ? 3 : 5);
        EXPECT_NEAR(found.gradients[i], wanted, 1e-12) << method << " " << i;
        EXPECT_NEAR(found.gradients_in_pass[i], wanted, 1e-12) << method << " " << i;
      }
    }
  }
}

/// What charges do to each other through a mesh: their sum vanishes if the field is differentiated on the mesh, but not
/// if the interpolation is.
TEST_F(mesh_gradient_test, only_fields_differentiated_on_the_mesh_conserve_momentum) {
  const backend_context context;
  auto it = uniform_case<double, 1>(3, 40, 29);  // order 4, 32 mesh points
  const spread_input<double, 1> input(it);
  auto plan = make_plan(context, it, "auto", it.order);
  set_points(context, plan, it);
  const auto charges = to_device(context, input.values);
  array<double, backend_context> mesh(context, 32), at_points(context, 40);
  const auto total = [&] {
    double sum = 0;
    const auto forces = to_host(context, at_points);
    for (std::size_t i = 0; i < 40; ++i) sum += input.values[i] * forces[i];
    return sum;
  };
  plan.spread(charges.data(), mesh.data());
  const auto density = to_host(context, mesh);
  plan.interpolate_gradient(mesh.data(), at_points.data());
  EXPECT_GT(std::fabs(total()), 1e-3);
  std::vector<double> field(32);
  for (std::size_t k = 0; k < 32; ++k) field[k] = density[(k + 1) % 32] - density[(k + 31) % 32];
  const auto there = to_device(context, field);
  plan.interpolate(there.data(), at_points.data());
  EXPECT_NEAR(total(), 0, 1e-12);
}

}  // namespace

}  // namespace quadrat::test
