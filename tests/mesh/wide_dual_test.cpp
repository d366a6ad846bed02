// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "mesh/exact_window.hpp"
#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/errors.hpp"

// Windows wider than those that methods have loops of their own for.

namespace quadrat::test {

namespace {

class wide_window_test : public backend_test {};

/// The methods that serve windows of this width here.
template <typename T>
std::vector<std::string> methods_for(const backend_context& context, int width) {
  const auto domain = make_box<T, 1>({0}, {1}, {true});
  std::vector<std::string> names;
  for (const std::string& method : methods_here()) {
    spread_options options;
    options.method = method;
    const auto window = named_window<T>(window_shape::prolate, width);
    const std::string text = error_of<argument_error>(
        [&] { (void)spread_plan<backend_context, T, 1>(context, domain, {32}, window, options); });
    if (text == "no error") {
      names.push_back(method);
    } else {
      expect_words(text, {method, std::to_string(width), "these do", "particle"});
    }
  }
  return names;
}

/// A few points on a mesh as small as the window, or a little larger; half of the axes open, with clipped footprints.
template <typename T, int D>
spread_case<T, D> wide_case(std::uint64_t seed, int width, std::size_t components) {
  spread_case<T, D> it = uniform_case<T, D>(seed, D == 3 ? 40 : 150, width + static_cast<int>(seed % 3) * 7 - 2);
  it.domain.periodic[static_cast<int>(seed % D)] = seed % 2 == 0;
  it.options.clip = true;
  it.components = components;
  it.vectors = 1 + seed % 2;
  it.accumulate = seed % 4 == 1;
  it.signed_values = true;
  return it;
}

template <typename T, int D>
void expect_wide_windows(const backend_context& context) {
  std::uint64_t seed = 1;
  for (const int width : {9, 12, 13, 16}) {
    const auto window = named_window<T>(window_shape::prolate, width);
    for (const std::string& method : methods_for<T>(context, width)) {
      for (const std::size_t components : {1u, 2u}) {
        const spread_case<T, D> it = wide_case<T, D>(++seed, width, components);
        SCOPED_TRACE(message(method, " width ", width, " ", describe(it)));
        const spread_input<T, D> input(it);
        const auto found = run_method(context, it, input, method, window);
        expect_agreement(found, wanted_of(it, input, problem_of(it, exact_window(window))), 2 * spread_tolerance<T>);
      }
    }
  }
}

TEST_F(wide_window_test, are_spread_and_interpolated_by_every_method_that_serves_them) {
  for (const backend_context& context : all_contexts()) {
    expect_wide_windows<float, 1>(context);
    expect_wide_windows<double, 2>(context);
  }
  const backend_context context;
  expect_wide_windows<float, 3>(context);
  expect_wide_windows<double, 3>(context);
}

TEST_F(wide_window_test, have_methods_at_every_level_of_determinism) {
  const auto window = named_window<double>(window_shape::prolate, 13);
  const auto domain = make_box<double, 2>({0, 0}, {1, 1}, {true, true});
  for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
    const backend_context context = context_at(level);
    spread_plan<backend_context, double, 2> plan(context, domain, {32, 24}, window);
    const std::vector<vec<double, 2>> points{{0.1, 0.7}, {0.99, 0.2}};
    const auto there = to_device(context, points);
    plan.set_points(points_of(there));
    const auto values = to_device(context, std::vector<double>{1, 2});
    array<double, backend_context> mesh(context, plan.mesh_size());
    plan.spread(values.data(), mesh.data());
    double total = 0;
    for (const double x : to_host(context, mesh)) total += x;
    const double one = window.transform(0, 1);
    EXPECT_NEAR(total, 3 * one * one, 1e-7 * one * one) << plan.method();
  }
}

/// A float cannot hold 2 pi: without the exact length positions would be off by 2^-25 of the box.
TEST_F(wide_window_test, positions_follow_the_exact_length_of_a_box) {
  const backend_context context;
  constexpr double length = 6.283185307179586;
  spread_options options;
  options.exact_lengths = {length, 0, 0};
  const box<float, 1> domain{{0}, {static_cast<float>(length)}, {true}};
  const auto window = bspline_window<float>(2);
  spread_plan<backend_context, float, 1> plan(context, domain, {1 << 22}, window, options);
  for (const float x : {3.0f, 6.25f, -3.0f, 40.0f}) {
    const auto there = to_device(context, std::vector<vec<float, 1>>{{x}});
    plan.set_points(points_of(there));
    const auto value = to_device(context, std::vector<float>{1});
    array<float, backend_context> mesh(context, plan.mesh_size());
    plan.spread(value.data(), mesh.data());
    const std::vector<float> found = to_host(context, mesh);
    const double turns = static_cast<double>(x) / length;
    const double u = (turns - std::floor(turns)) * (1 << 22);
    const auto below = static_cast<std::size_t>(u);
    EXPECT_NEAR(found[below], 1 - (u - std::floor(u)), 1e-5) << x;
    EXPECT_NEAR(found[(below + 1) % found.size()], u - std::floor(u), 1e-5) << x;
  }
}

}  // namespace

}  // namespace quadrat::test
