// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "mesh/random_case.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/mesh/make_spread_plan.hpp"
#include "quadrat/spectral/density.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "reference/density.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

class density_weights_test : public backend_test {};

/// Weights of points, and how they were found.
template <typename T>
struct found_density {
  std::vector<T> weights;
  density_result result;
};

template <typename T, int D>
found_density<T> density_of(spread_plan<backend_context, T, D>& plan, const std::vector<vec<T, D>>& points,
                            const density_options& options = {}) {
  const backend_context& context = plan.context();
  const auto there = to_device(context, points);
  plan.set_points(points_of(there));
  array<T, backend_context> weights(context, points.size());
  const density_result result = density_weights(plan, weights.data(), options);
  return {to_host(context, weights), result};
}

template <typename T, int D>
spread_plan<backend_context, T, D> periodic_plan(int extent, int order, const backend_context& context = {}) {
  const box<T, D> domain{vec<T, D>::filled(T(0)), vec<T, D>::filled(T(1)), vec<bool, D>::filled(true)};
  return make_spread_plan(context, domain, vec<int, D>::filled(extent), order);
}

template <typename T, int D>
void expect_reference(double tolerance) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    auto it = random_spread_case<T, D>(seed).make();
    SCOPED_TRACE(describe(it));
    const auto wanted = reference::density_weights(problem_of(it), 4, 1);
    auto plan = make_spread_plan(backend_context(), it.domain, it.mesh, it.order, it.options);
    const auto found = density_of(plan, it.points, {4, 0}).weights;
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto weight = static_cast<double>(wanted[i]);
      EXPECT_NEAR(found[i], weight, tolerance * weight) << i;
    }
  }
}

TEST_F(density_weights_test, weights_are_those_of_the_reference) {
  expect_reference<float, 1>(1e-3);
  expect_reference<float, 2>(1e-3);
  expect_reference<double, 2>(1e-10);
  expect_reference<double, 3>(1e-10);
}

TEST_F(density_weights_test, points_on_the_mesh_have_equal_weights) {
  for (const int order : {1, 2, 4, 7}) {
    auto plan = periodic_plan<double, 2>(12, order);
    std::vector<vec<double, 2>> points;
    for (int i = 0; i < 144; ++i) points.push_back({i % 12 / 12.0, i / 12 / 12.0});
    const auto found = density_of(plan, points);
    EXPECT_LE(found.result.iterations, 2);
    for (const double w : found.weights) EXPECT_NEAR(w, 1.0 / 144, 1e-14) << order;
  }
}

/// Twice as many points in one half: half the weight, away from the border.
TEST_F(density_weights_test, weights_are_shares_of_the_volume) {
  for (const int width : {4, 7}) {
    const auto window = named_window<double>(window_shape::prolate, width);
    const box<double, 1> domain{{-2}, {4}, {true}};
    auto plan = make_spread_plan(backend_context(), domain, {64}, window);
    std::vector<vec<double, 1>> points;
    for (int i = 0; i < 192; ++i) points.push_back({i < 64 ? -2 + i / 32.0 : (i - 64) / 64.0});
    const auto weights = density_of(plan, points, {100, 1e-3}).weights;
    for (std::size_t i = 12; i < 52; ++i) EXPECT_NEAR(weights[i], 1.0 / 128, 1e-2 / 128) << i;
    for (std::size_t i = 88; i < 168; ++i) EXPECT_NEAR(weights[i], 1.0 / 256, 1e-2 / 256) << i;
    double sum = 0;
    for (const double w : weights) sum += w;
    EXPECT_NEAR(sum, 1, 0.01);
  }
}

/// Area per sample grows with the radius.
TEST_F(density_weights_test, radial_samples_have_a_ramp_away_from_the_center) {
  const backend_context context;
  constexpr int spokes = 100, samples = 64;
  std::vector<vec<double, 2>> points;
  for (int i = 0; i < spokes * samples; ++i) {
    const double angle = std::numbers::pi * (i / samples) / spokes;
    const double r = std::numbers::pi * (i % samples - samples / 2) / (samples / 2);
    points.push_back({r * std::cos(angle), r * std::sin(angle)});
  }
  const auto there = to_device(context, points);
  array<double, backend_context> memory(context, points.size());
  // Narrower meshes, as by default, take some more iterations.
  nufft_plan<backend_context, double, 2> usual(context, {samples, samples}, 1e-4);
  usual.set_points(points_of(there));
  EXPECT_LE(usual.density_weights(memory.data(), {.iterations = 40}).change, 1e-3);
  nufft_options options;
  options.oversampling = 2;
  nufft_plan<backend_context, double, 2> plan(context, {samples, samples}, 1e-4, options);
  plan.set_points(points_of(there));
  const density_result result = plan.density_weights(memory.data());
  EXPECT_LE(result.change, 1e-3);
  EXPECT_LE(result.iterations, 30);
  const auto weights = to_host(context, memory);
  const double step = 2.0 / samples;  // in units of half a period
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double r = std::fabs(static_cast<double>(i % samples) - samples / 2) * step;
    sum += weights[i];
    EXPECT_GT(weights[i], 0);
    if (r < 0.1 || r > 0.8) continue;  // at the edge nothing follows
    EXPECT_NEAR(weights[i] / (r * step * std::numbers::pi / spokes / 4), 1, 0.06) << r;
  }
  EXPECT_NEAR(sum, std::numbers::pi / 4, 0.03) << "the disk's part of the square";
}

TEST_F(density_weights_test, no_points_are_no_work) {
  auto plan = periodic_plan<float, 3>(8, 4);
  const auto found = density_of(plan, {});
  EXPECT_TRUE(found.weights.empty());
  EXPECT_EQ(found.result.change, 0);
}

TEST_F(density_weights_test, points_in_one_place_share_what_one_point_has) {
  auto plan = periodic_plan<double, 3>(10, 5);
  const auto one = density_of(plan, {{0.52, 0.31, 0.99}}).weights;
  EXPECT_GT(one[0], 1e-3);
  EXPECT_LT(one[0], 1);
  const auto many = density_of(plan, std::vector<vec<double, 3>>(50, {0.52, 0.31, 0.99})).weights;
  for (const double w : many) EXPECT_NEAR(w, one[0] / 50, 1e-12 * one[0]);
}

TEST_F(density_weights_test, points_that_miss_the_mesh_have_no_weight) {
  const box<float, 1> domain{{0}, {1}, {false}};
  spread_options options;
  options.clip = true;
  options.accept_outside = true;
  auto plan = make_spread_plan(backend_context(), domain, {16}, 4, options);
  const auto found = density_of(plan, {{-3.0f}, {0.5f}, {0.7f}, {9.0f}});
  EXPECT_EQ(found.weights[0], 0);
  EXPECT_GT(found.weights[1], 0);
  EXPECT_GT(found.weights[2], 0);
  EXPECT_EQ(found.weights[3], 0);
  EXPECT_TRUE(std::isfinite(found.result.change));
}

TEST_F(density_weights_test, ends_at_its_tolerance_or_after_its_iterations) {
  auto plan = periodic_plan<double, 2>(16, 4);
  std::mt19937_64 random(4);
  std::vector<vec<double, 2>> points;
  for (int i = 0; i < 1000; ++i) points.push_back({random_unit<double>(random), random_unit<double>(random)});
  EXPECT_EQ(density_of(plan, points, {7, 0}).result.iterations, 7);
  const density_result ended = density_of(plan, points, {1000, 1e-2}).result;
  EXPECT_LE(ended.change, 1e-2);
  EXPECT_LT(ended.iterations, 1000);
  EXPECT_GT(density_of(plan, points, {ended.iterations - 1, 0}).result.change, 1e-2);
}

TEST_F(density_weights_test, is_the_same_in_every_run_where_the_context_asks_for_it) {
  std::mt19937_64 random(4);
  std::vector<vec<float, 2>> points;
  for (int i = 0; i < 20'000; ++i) points.push_back({random_unit<float>(random), random_unit<float>(random)});
  std::vector<float> first;
  for (const int threads : {1, 3, 1}) {
    const backend_context context = context_at(determinism::run_to_run, threads);
    auto plan = periodic_plan<float, 2>(32, 4, context);
    const auto weights = density_of(plan, points, {5, 0}).weights;
    if (first.empty()) first = weights;
    EXPECT_EQ(weights, first) << threads;
  }
}

TEST_F(density_weights_test, says_what_is_impossible) {
  const backend_context context;
  auto plan = periodic_plan<double, 1>(8, 2);
  array<double, backend_context> weights(context, 1);
  const auto error = [&](double* to, const density_options& options = {}) {
    return error_of<argument_error>([&] { (void)density_weights(plan, to, options); });
  };
  expect_words(error(weights.data()), {"no points are set"});
  const auto points = to_device(context, std::vector<vec<double, 1>>{{0.5}});
  plan.set_points(points_of(points));
  expect_words(error(nullptr), {"weights", "null"});
  expect_words(error(weights.data(), {0, 0.1}), {"0 iterations"});
  expect_words(error(weights.data(), {1, -1}), {"tolerance is -1"});
  expect_words(error(weights.data(), {1, std::nan("")}), {"tolerance is nan"});
  EXPECT_EQ(error(weights.data()), "no error");
  nufft_plan<backend_context, double, 1> transform(context, {8}, 1e-3);
  expect_words(error_of<argument_error>([&] { (void)transform.density_weights(weights.data()); }),
               {"no points are set"});
}

}  // namespace

}  // namespace quadrat::test
