// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "models/circles/fixed_sum.hpp"
#include "models/circles/support.hpp"
#include "models/largest_difference.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/circles.hpp"
#include "reference/circles.hpp"

// The level canonical of Circles: sums of integers.

namespace quadrat::test {

namespace {

class circles_canonical : public backend_test {};

template <typename T, int D>
[[nodiscard]] bool same_agents(const std::vector<vec<T, D>>& a, const std::vector<vec<T, D>>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

/// Over every order and cell list, from two orders in memory.
template <typename T, int D>
void expect_the_same_bits(circles_form form, double width) {
  const circles_parameters parameters = lively(form, width);
  const auto context = make_circles_context(determinism::canonical);
  const auto start = circles_initial_positions<D>(parameters, size_or(500, 150), 3);
  circles<backend_context, T, D> first(context, {parameters}, start);
  // Nothing is chosen, so that candidates do not depend on a profile.
  EXPECT_EQ(first.options().order, circles_default_order);
  EXPECT_EQ(first.options().cells_per_reach, circles_default_cells_per_reach(circles_default_order));
  auto expected = first.state();
  first.advance(12);
  const auto statistics = first.measure();
  std::reverse(expected.storage_order.begin(), expected.storage_order.end());
  for (const circles_options& options : all_options(parameters)) {
    circles<backend_context, T, D> other(context, options, start);
    other.restore(expected);
    other.advance(12);
    const auto found = other.measure();
    EXPECT_TRUE(same_agents(first.positions(), other.positions())) << name_of(options);
    EXPECT_EQ(found.mean_displacement, statistics.mean_displacement) << name_of(options);
    EXPECT_EQ(found.max_displacement, statistics.max_displacement) << name_of(options);
    EXPECT_EQ(found.neighbor_deviation, statistics.neighbor_deviation) << name_of(options);
  }
}

TEST_F(circles_canonical, orders_cell_lists_and_storage_make_no_difference) {
  expect_the_same_bits<float, 3>(circles_form::sine, 13);
  expect_the_same_bits<double, 2>(circles_form::original, 24);
}

/// Within the bound that sums in any order keep.
template <typename T, int D>
void expect_near_reference(circles_form form, double width) {
  const circles_parameters parameters = lively(form, width);
  const auto start = circles_initial_positions<D>(parameters, size_or(400, 150), 8);
  circles<backend_context, T, D> model(make_circles_context(determinism::canonical), {parameters}, start);
  for (int step = 0; step < 5; ++step) {
    const auto expected = reference::circles_step<T, D>(parameters, model.positions());
    model.advance(1);
    EXPECT_LE(largest_difference(model.positions(), expected.positions), 200 * std::numeric_limits<T>::epsilon());
  }
}

TEST_F(circles_canonical, a_step_is_that_of_the_reference) {
  expect_near_reference<float, 2>(circles_form::sine, 20);
  expect_near_reference<float, 3>(circles_form::original, 13);
  expect_near_reference<double, 3>(circles_form::sine, 13);
  expect_near_reference<double, 2>(circles_form::original, 20);
}

TEST_F(circles_canonical, records_are_what_single_steps_measure) {
  const circles_parameters parameters = lively(circles_form::sine, 12);
  const auto start = circles_initial_positions<3>(parameters, 300, 9);
  const auto context = make_circles_context(determinism::canonical);
  circles<backend_context, float, 3> recorded(context, {parameters}, start), single(context, {parameters}, start);
  for (const circles_record& one : recorded.record(4)) {
    const circles_statistics found = single.measure();
    EXPECT_EQ(one.mean_neighbors, found.mean_neighbors);
    EXPECT_EQ(one.mean_displacement, found.mean_displacement);
    single.advance(1);
  }
  EXPECT_TRUE(same_agents(recorded.positions(), single.positions()));
}

TEST_F(circles_canonical, a_crowd_costs_one_walk) {
  // All neighbors of all: sums by sorted neighbors would walk hundreds of times.
  circles_parameters parameters = lively(circles_form::sine, 10);
  const std::size_t count = size_or(3000, 300);
  auto start = circles_initial_positions<2>(parameters, count, 4);
  for (auto& position : start) position = position * 0.05;
  circles<backend_context, double, 2> model(make_circles_context(determinism::canonical), {parameters}, start);
  EXPECT_EQ(model.measure().mean_neighbors, static_cast<double>(count - 1));
  const auto expected = reference::circles_step<double, 2>(parameters, model.positions());
  model.advance(1);
  EXPECT_LE(largest_difference(model.positions(), expected.positions), 1e-13);
}

TEST(circles_fixed_sum, the_order_of_terms_makes_no_difference_and_little_is_cut) {
  for (const double bound : {1e-30, 0.05, 1.0, 3e20}) {
    circles_parameters parameters = circles_defaults(circles_form::sine);
    parameters.force = bound;
    const auto law = detail::make_fixed_law<double, 3>(parameters, make_box<double, 3>({0, 0, 0}, {1, 1, 1}, {}));
    EXPECT_EQ(law.scale * law.unit, 1.0);
    EXPECT_LE(bound * law.scale, 0x1p30);
    EXPECT_GE(bound * law.scale, 0x1p29);
    detail::circles_fixed_sum<double, 3> up, down;
    long double exact = 0;
    const int count = 10000;
    const auto term = [&](int k) { return bound * std::sin(1.0 + 3 * k); };
    for (int k = 0; k < count; ++k) {
      up.add(0, term(k) * law.scale);
      down.add(0, term(count - 1 - k) * law.scale);
      exact += term(k);
    }
    EXPECT_EQ(up.total(0), down.total(0));
    EXPECT_TRUE(up.fits);
    EXPECT_NEAR(up.total(0) * law.unit / bound, static_cast<double>(exact / bound), 1e-13);
    up.add(1, 1e3 * bound * law.scale);
    EXPECT_FALSE(up.fits);
    down.add(2, std::numeric_limits<double>::quiet_NaN());
    EXPECT_FALSE(down.fits);
  }
}

TEST_F(circles_canonical, a_run_that_blows_up_says_so) {
  circles_parameters parameters = circles_defaults(circles_form::sine);
  parameters.width = 12;
  parameters.force = 1e38;
  const auto start = circles_initial_positions<2>(parameters, 200, 4);
  circles<backend_context, float, 2> model(make_circles_context(determinism::canonical), {parameters}, start);
  model.advance(10);
  EXPECT_THROW(model.check(), data_error);
  parameters.force = 1e300;  // no number in float
  circles<backend_context, float, 2> beyond(make_circles_context(determinism::canonical), {parameters}, start);
  beyond.advance(1);
  EXPECT_THROW(beyond.check(), data_error);
}

}  // namespace

}  // namespace quadrat::test
