// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>

#include "models/circles/support.hpp"
#include "models/granular/support.hpp"
#include "models/largest_difference.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "support/counting_memory.hpp"

// Models that choose their way try others as they go, by the times of steps.

namespace quadrat::test {

namespace {

constexpr bool trials_on_cuda = std::is_same_v<backend_context, cuda_context>;

/// Of fifty steps, after which a trial has begun if there are any, unless sizes are to be small.
[[nodiscard]] std::size_t calls() { return trials_on_cuda ? size_or(120, 12) : 12; }

/// Circles, and the same with a named way.
struct circles_that_choose {
  using model = circles<backend_context, double, 2>;

  [[nodiscard]] static model make(const backend_context& context, bool named = false,
                                  std::size_t count = size_or(900, 200), double density = 1) {
    circles_parameters parameters;
    parameters.width = std::sqrt(static_cast<double>(count) / density);
    circles_options options{parameters};
    if (named) options.order = "strips";
    return {context, options, circles_initial_positions<2>(parameters, count, 5)};
  }
};

/// A gas of grains, likewise.
struct grains_that_choose {
  using model = granular<backend_context, double>;

  [[nodiscard]] static model make(const backend_context& context, bool named = false,
                                  std::size_t count = size_or(3000, 300)) {
    granular_options options;
    options.parameters.radius = 0.7 / std::cbrt(static_cast<double>(count));
    if (named) options.method = "counting";
    return {context, options, scattered(count, 5)};
  }
};

/// Whether another way was tried.
template <typename Model>
[[nodiscard]] bool has_tried(const Model& model) {
  return model.explanation().text().find("when tried last") != std::string::npos ||
         !model.explanation().changes.empty();
}

class way_trials : public backend_test {};

/// Each fifty steps against those of a named way from the same state.
template <typename Scene>
void expect_steps_of_a_named_way() {
  auto model = Scene::make(context_at(determinism::none, 1));
  auto named = Scene::make(context_at(determinism::none, 1), true);
  const std::size_t most = size_or(600, 40);
  std::size_t after = 0;
  for (std::size_t k = 0; k < most && after < 8; ++k) {
    const auto before = model.state();
    model.advance(50);
    named.restore(before);
    named.advance(50);
    ASSERT_LT(largest_difference(model.positions(), named.positions()), 1e-9) << k << "\n"
                                                                              << model.explanation().text();
    ASSERT_EQ(model.step(), named.step());
    after += has_tried(model) ? 1 : 0;
  }
  EXPECT_TRUE(small_sizes() || after == 8) << model.explanation().text();
}

TEST_F(way_trials, agents_move_as_by_a_named_way) { expect_steps_of_a_named_way<circles_that_choose>(); }
TEST_F(way_trials, grains_move_as_by_a_named_method) { expect_steps_of_a_named_way<grains_that_choose>(); }

/// A run whose calls nobody waits for, or few.
template <typename Scene>
void expect_a_run_that_goes_on() {
  auto model = Scene::make(context_at(determinism::none, 1));
  const std::size_t many = trials_on_cuda ? size_or(5000, 500) : 500;
  for (const std::size_t steps : {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{50}, many}) {
    model.advance(steps);
  }
  for (std::size_t k = 0; k < 3 * calls(); ++k) model.advance(7);
  model.check();
  EXPECT_EQ(model.step(), 82 + many + 21 * calls());
  const auto state = model.state();
  auto named = Scene::make(context_at(determinism::none, 1), true);
  named.restore(state);
  model.restore(state);
  EXPECT_EQ(model.state().way, state.way);
  model.advance(20);
  named.advance(20);
  EXPECT_LT(largest_difference(model.positions(), named.positions()), 1e-9);
}

TEST_F(way_trials, leave_runs_right_that_nobody_waits_for) {
  expect_a_run_that_goes_on<circles_that_choose>();
  expect_a_run_that_goes_on<grains_that_choose>();
}

TEST_F(way_trials, do_not_disturb_records_of_single_steps) {
  auto model = circles_that_choose::make(context_at(determinism::none, 1));
  const std::size_t times = size_or(100, 10);
  for (std::size_t k = 0; k < times; ++k) {
    model.advance(30);
    const auto records = model.record(3);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records.back().step, model.step());
  }
  EXPECT_EQ(model.step(), 33 * times);
}

template <typename Scene>
void expect_the_first_way_without_memory() {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  auto model = Scene::make(context);
  model.advance(40);
  const auto start = model.state();
  memory.allow(0);
  for (std::size_t k = 0; k < calls(); ++k) model.advance(50);
  model.check();
  memory.allow_all();
  EXPECT_FALSE(has_tried(model));
  // On a CPU not even a look at the load is possible.
  const bool refused = model.explanation().text().find("memory") != std::string::npos;
  EXPECT_TRUE(small_sizes() || refused == trials_on_cuda) << model.explanation().text();
  EXPECT_EQ(model.step(), 40 + 50 * calls());
  EXPECT_EQ(model.state().way, start.way);
}

TEST_F(way_trials, are_not_made_without_memory) {
  expect_the_first_way_without_memory<circles_that_choose>();
  expect_the_first_way_without_memory<grains_that_choose>();
}

template <typename Scene>
void expect_no_trials_by(const backend_context& context, bool named) {
  auto model = Scene::make(context, named);
  const std::string chosen = model.explanation().chosen;
  for (std::size_t k = 0; k < calls(); ++k) model.advance(50);
  model.check();
  EXPECT_FALSE(has_tried(model));
  EXPECT_EQ(model.explanation().chosen, chosen);
}

TEST_F(way_trials, are_not_made_by_named_ways_or_where_runs_are_repeatable) {
  expect_no_trials_by<circles_that_choose>(context_at(determinism::none, 1), true);
  expect_no_trials_by<grains_that_choose>(context_at(determinism::none, 1), true);
  if (!trials_on_cuda) return;
  // So few are not even looked at.
  expect_no_trials_by<circles_that_choose>(context_at(determinism::run_to_run), false);
  expect_no_trials_by<grains_that_choose>(context_at(determinism::run_to_run), false);
}

/// Only contexts of CUDA can capture.
template <typename Context>
void expect_no_trials_after_a_capture(const Context& context) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    auto model = grains_that_choose::make(context);
    model.advance(30);
    cuda_graph graph;
    graph.capture(context, [&] { model.advance(1); });
    for (std::size_t k = 0; k < calls(); ++k) model.advance(50);
    model.check();
    EXPECT_FALSE(has_tried(model));
  }
}

TEST_F(way_trials, are_not_made_after_a_call_was_captured) {
  expect_no_trials_after_a_capture(context_at(determinism::none));
}

TEST_F(way_trials, at_run_to_run_the_load_decides_at_a_fixed_step) {
  // Fewer are not looked at on CUDA.
  if (trials_on_cuda && small_sizes()) return;
  constexpr std::size_t count = trials_on_cuda ? 100000 : 3000;
  const auto make = [&] { return circles_that_choose::make(context_at(determinism::run_to_run), false, count, 50); };
  auto first = make();
  auto state = first.state();
  state.step = 500;
  // Walks most cells, which costs most where they are crowded.
  state.way = "strips_1";
  first.restore(state);
  first.advance(8);
  const auto middle = first.state();
  EXPECT_EQ(middle.way, "strips_1");
  first.advance(20);
  ASSERT_EQ(first.explanation().changes.size(), 1u) << first.explanation().text();
  EXPECT_NE(first.explanation().changes[0].find("step 512: strips_1 -> "), std::string::npos);
  auto second = make();
  second.restore(middle);
  second.advance(7);
  second.advance(13);
  const auto a = first.state(), b = second.state();
  EXPECT_NE(a.way, "strips_1");
  EXPECT_EQ(a.way, b.way);
  EXPECT_EQ(largest_difference(a.positions, b.positions), 0);
}

}  // namespace

}  // namespace quadrat::test
