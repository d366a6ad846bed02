// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "mesh/interpolate/warps.hpp"
#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/random.hpp"

// GPUs interpolate few points by a warp each, and many by a thread each.

namespace quadrat::test {

namespace {

class few_points_test : public backend_test {};

template <typename T>
struct interpolated {
  std::vector<std::complex<T>> values, gradients;
};

/// Of the first `count` points.
template <typename T, int D>
[[nodiscard]] interpolated<T> interpolate_first(const backend_context& context, const mesh_window<T>& window,
                                                const std::vector<vec<T, D>>& points, std::size_t count,
                                                const array<std::complex<T>, backend_context>& mesh) {
  auto domain = make_box<T, D>(vec<T, D>::filled(T(0)), vec<T, D>::filled(T(1)), vec<bool, D>::filled(true));
  domain.periodic[0] = false;
  spread_options options;
  options.clip = true;
  options.method = "particle";
  spread_plan<backend_context, T, D> plan(context, domain, vec<int, D>::filled(18), window, options);
  const auto there = to_device(context, std::vector<vec<T, D>>(points.begin(), points.begin() + count));
  plan.set_points(points_of(there));
  array<std::complex<T>, backend_context> values(context, count), gradients(context, D * count);
  plan.interpolate_with_gradient(mesh.data(), values.data(), gradients.data());
  array<std::complex<T>, backend_context> alone(context, count);
  plan.interpolate(mesh.data(), alone.data());
  interpolated<T> found{to_host(context, values), to_host(context, gradients)};
  const auto again = to_host(context, alone);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_LT(std::abs(again[i] - found.values[i]), 2000 * std::numeric_limits<T>::epsilon()) << i;
  }
  return found;
}

template <typename T>
void expect_same_start(const std::vector<std::complex<T>>& few, const std::vector<std::complex<T>>& many,
                       double scale) {
  for (std::size_t i = 0; i < few.size(); ++i) {
    ASSERT_LT(std::abs(few[i] - many[i]), scale * std::numeric_limits<T>::epsilon()) << i;
  }
}

template <typename T, int D>
void expect_that_few_are_as_many(const backend_context& context, int width) {
  SCOPED_TRACE(message(D, " dimensions, width ", width, ", ", sizeof(T), " bytes"));
  constexpr std::size_t few = 300, many = 17000;
  EXPECT_TRUE(detail::reads_by_warps(width, D, few, false));
  EXPECT_EQ(detail::reads_by_warps(width, D, many, false), width > 8 && D > 1);
  EXPECT_EQ(detail::reads_by_warps(width, D, few, true), width > 8 && D > 1) << "a rank has fewer points";
  const auto window = named_window<T>(window_shape::prolate, width);
  std::mt19937_64 random(7);
  std::vector<vec<T, D>> points(many);
  for (auto& point : points) point = make_vec<T, D>([&](int) { return random_unit<T>(random); });
  std::size_t nodes = 1;
  for (int axis = 0; axis < D; ++axis) nodes *= 18;
  std::vector<std::complex<T>> values(nodes);
  for (auto& value : values) value = {random_unit<T>(random) - T(0.5), random_unit<T>(random) - T(0.5)};
  const auto mesh = to_device(context, values);
  const auto of_few = interpolate_first<T, D>(context, window, points, few, mesh);
  const auto of_many = interpolate_first<T, D>(context, window, points, many, mesh);
  expect_same_start(of_few.values, of_many.values, 2000);
  expect_same_start(of_few.gradients, of_many.gradients, 2000 * 18);
}

TEST_F(few_points_test, are_interpolated_as_many_are) {
  const backend_context context;
  for (const int width : {2, 3, 5, 6, 7, 8}) {
    expect_that_few_are_as_many<float, 3>(context, width);
    expect_that_few_are_as_many<double, 3>(context, width);
  }
  for (const int width : {9, 16}) {
    expect_that_few_are_as_many<float, 1>(context, width);
    expect_that_few_are_as_many<double, 1>(context, width);
    expect_that_few_are_as_many<double, 2>(context, width);
    expect_that_few_are_as_many<double, 3>(context, width);
  }
}

}  // namespace

}  // namespace quadrat::test
