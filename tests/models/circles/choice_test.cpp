// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "models/circles/variants.hpp"
#include "models/occupancy.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/circles.hpp"
#include "quadrat/tune/device_profile.hpp"

// Circles where nothing is named: the model chooses how it walks.

namespace quadrat::test {

namespace {

using chosen_circles = circles<cpu_context, float, 2>;

[[nodiscard]] cpu_context one_thread(determinism level) {
  return cpu_context({.threads = 1, .reproducibility = level});
}

/// So many agents that walking little pays.
[[nodiscard]] circles_parameters crowded() {
  circles_parameters parameters;
  parameters.width = 4.5;
  return parameters;
}
[[nodiscard]] std::vector<vec<double, 2>> crowd() { return circles_initial_positions<2>(crowded(), 1000, 5); }

template <typename State>
[[nodiscard]] bool equal_bits(const State& a, const State& b) {
  return a.positions.size() == b.positions.size() && a.variant == b.variant &&
         std::memcmp(a.positions.data(), b.positions.data(), a.positions.size() * sizeof(a.positions[0])) == 0;
}

TEST(circles_choice, every_variant_finds_the_same_neighbors) {
  chosen_circles model(one_thread(determinism::none), {crowded()}, crowd());
  auto state = model.state();
  const auto neighbors = model.neighbors();
  for (const detail::circles_variant& one : detail::circles_variants(false)) {
    state.variant = one.name;
    model.restore(state);
    EXPECT_EQ(model.options().order, one.order);
    EXPECT_EQ(model.options().cells_per_reach_x, one.cells_per_reach_x);
    EXPECT_EQ(model.explanation().chosen, one.name);
    EXPECT_EQ(model.neighbors(), neighbors) << one.name;
  }
}

TEST(circles_choice, auto_is_no_name) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    const chosen_circles unnamed(one_thread(level), {crowded()}, crowd());
    const chosen_circles named(one_thread(level), {crowded(), "auto", "auto"}, crowd());
    EXPECT_EQ(named.options().order, unnamed.options().order);
    EXPECT_EQ(named.options().cell_list, unnamed.options().cell_list);
    EXPECT_EQ(named.explanation().chosen, unnamed.explanation().chosen);
  }
}

TEST(circles_choice, goes_by_how_crowded_agents_are) {
  const auto load = [](double occupancy, int dimension) {
    const auto times =
        detail::expected_circles_ms({1000, dimension, occupancy, 1.0 * dimension, 1}, shipped_profile(false));
    return detail::circles_variants(false)[static_cast<std::size_t>(std::ranges::min_element(times) - times.begin())]
        .name;
  };
  for (const int dimension : {2, 3}) {
    EXPECT_EQ(load(2, dimension), "strips_1");
    EXPECT_EQ(load(500, dimension), "trimmed_2x4");
  }
  // The volume that is walked: all of the cells around, or hardly more than the circle or ball.
  EXPECT_DOUBLE_EQ(detail::walked_volume(detail::circles_variants(false)[0], 3), 27);
  EXPECT_NEAR(detail::walked_volume({"", "trimmed", 64, 64}, 2), 3.14159, 0.15);
  EXPECT_NEAR(detail::walked_volume({"", "trimmed", 32, 32}, 3), 4.18879, 0.5);
}

TEST(circles_choice, walks_read_as_many_agents_as_their_crowd_has_room_for) {
  circles_parameters parameters;
  parameters.width = 30;
  const box<double, 3> domain = circles_box<3>(parameters);
  constexpr std::size_t count = 2000;
  std::vector<vec<double, 3>> line, sheet, cube, heap(count, {0.5, 0.5, 0.5});
  for (const vec<double, 3>& x : circles_initial_positions<3>(parameters, count, 4)) {
    line.push_back({x[0], 0.5, 0.5});
    sheet.push_back({x[0], x[1], 0.5});
    cube.push_back(x);
  }
  const auto found = [&](const std::vector<vec<double, 3>>& agents, double edge) {
    return detail::growing_occupancy_of(detail::taken_of(agents), agents.size(), domain, edge);
  };
  EXPECT_NEAR(found(line, 1).growth, 1, 0.1);
  EXPECT_NEAR(found(line, 1).occupancy, count / 30.0, 5);
  EXPECT_NEAR(found(sheet, 1).growth, 2, 0.2);
  EXPECT_NEAR(found(cube, 3).growth, 3, 0.3);
  EXPECT_NEAR(found(heap, 1).growth, 0, 1e-12);
  EXPECT_NEAR(found(heap, 1).occupancy, count - 1, 1e-6);
  EXPECT_EQ(found({}, 1).occupancy, 0);
  EXPECT_EQ(found({{1, 1, 1}}, 1).growth, 3);
  EXPECT_EQ(found(cube, 40).growth, 3);  // there is one cell
  // What all walks read of a heap is the heap, and 27 cubes if agents fill space.
  const detail::circles_variant strips = detail::circles_variants(false)[0];
  EXPECT_DOUBLE_EQ(detail::expected_candidates(strips, {1000, 3, 50, 0}), 50);
  EXPECT_DOUBLE_EQ(detail::expected_candidates(strips, {1000, 3, 50, 3}), 50 * 27);
}

TEST(circles_choice, at_run_to_run_changes_at_a_fixed_step_and_goes_on_with_the_same_bits) {
  const auto start = crowd();
  chosen_circles first(one_thread(determinism::run_to_run), {crowded()}, start);
  auto state = first.state();
  // As if the run had come from another load, shortly before it is looked at anew.
  state.step = 500;
  state.variant = "strips_1";
  first.restore(state);
  first.advance(8);
  EXPECT_EQ(first.explanation().chosen, "strips_1");
  const auto middle = first.state();
  first.advance(20);
  EXPECT_NE(first.explanation().chosen, "strips_1");
  ASSERT_EQ(first.explanation().changes.size(), 1u);
  EXPECT_NE(first.explanation().changes[0].find("step 512: strips_1 -> "), std::string::npos);
  // Resumed in other pieces, recorded, and with another number of threads.
  const cpu_context two({.threads = 2, .reproducibility = determinism::run_to_run});
  chosen_circles second(two, {crowded()}, start);
  second.restore(middle);
  const auto records = second.record(7);
  EXPECT_EQ(records.back().step, 515u);
  second.advance(13);
  EXPECT_EQ(second.step(), 528u);
  EXPECT_TRUE(equal_bits(first.state(), second.state()));
}

TEST(circles_choice, whatever_is_named_stays) {
  for (const circles_options& options :
       {circles_options{crowded(), "strips"}, circles_options{crowded(), "", "sorted"},
        circles_options{crowded(), "", "", 1}, circles_options{crowded(), "", "", 0, 4}}) {
    chosen_circles model(one_thread(determinism::none), options, crowd());
    const circles_options before = model.options();
    model.advance(250);
    EXPECT_EQ(model.options().order, before.order);
    EXPECT_TRUE(model.explanation().candidates.empty());
    EXPECT_TRUE(model.state().variant.empty());
  }
}

TEST(circles_choice, a_run_is_right_while_its_steps_are_timed_and_is_told) {
  circles_parameters parameters;
  parameters.width = 10;
  const auto start = circles_initial_positions<2>(parameters, 200, 6);
  circles_options options{parameters};
  options.autotune = true;
  chosen_circles model(one_thread(determinism::none), options, start);
  // Steps one by one, in pieces and in one call: all are counted.
  for (int k = 0; k < 130; ++k) model.advance(1);
  model.advance(700);
  const auto records = model.record(300);
  EXPECT_EQ(records.size(), 300u);
  EXPECT_EQ(records.front().step, 831u);
  EXPECT_EQ(model.step(), 1130u);
  EXPECT_EQ(model.explanation().candidates.size(), detail::circles_variants(false).size());
  // Rounding aside, agents come to where they come by a named one.
  chosen_circles fixed(one_thread(determinism::none), {parameters, "strips"}, start);
  fixed.advance(1130);
  EXPECT_NEAR(model.measure().mean_neighbors, fixed.measure().mean_neighbors, 0.05 * fixed.measure().mean_neighbors);
}

TEST(circles_choice, a_variant_that_does_not_exist_is_refused_and_changes_nothing) {
  chosen_circles model(one_thread(determinism::run_to_run), {crowded()}, crowd());
  const auto good = model.state();
  auto bad = good;
  bad.variant = "spiral";
  try {
    model.restore(bad);
    FAIL() << "the variant was taken";
  } catch (const argument_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("\"spiral\""), std::string::npos);
  }
  EXPECT_TRUE(equal_bits(model.state(), good));
}

TEST(circles_choice, a_run_that_blows_up_says_so_and_can_be_restored) {
  circles_parameters parameters = crowded();
  parameters.force = 3e38;
  chosen_circles model(one_thread(determinism::none), {parameters}, crowd());
  const auto good = model.state();
  model.advance(300);
  EXPECT_THROW(model.check(), data_error);
  EXPECT_EQ(model.step(), 300u);
  model.restore(good);
  EXPECT_NO_THROW(model.check());
}

TEST(circles_choice, no_agents_or_one) {
  for (const std::size_t count : {0u, 1u}) {
    for (const determinism level : {determinism::none, determinism::run_to_run}) {
      chosen_circles model(one_thread(level), {crowded()}, circles_initial_positions<2>(crowded(), count, 1));
      model.advance(1100);
      model.check();
      EXPECT_EQ(model.step(), 1100u);
    }
  }
}

}  // namespace

}  // namespace quadrat::test
