// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>

#include "models/circles/support.hpp"
#include "models/granular/support.hpp"
#include "models/largest_difference.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "support/counting_memory.hpp"

// Models that time their steps, and models that do not.

namespace quadrat::test {

namespace {

constexpr bool models_on_cuda = std::is_same_v<backend_context, cuda_context>;

/// How the engine is chosen.
enum class engine_by { profile, times, name };

struct circles_that_choose {
  using model = circles<backend_context, double, 2>;

  [[nodiscard]] static model make(const backend_context& context, engine_by by, std::size_t count = size_or(900, 200),
                                  double density = 1) {
    circles_parameters parameters;
    parameters.width = std::sqrt(static_cast<double>(count) / density);
    circles_options options{parameters};
    options.autotune = by == engine_by::times;
    if (by == engine_by::name) options.order = "strips";
    return {context, options, circles_initial_positions<2>(parameters, count, 5)};
  }
};

/// A gas of grains, likewise.
struct grains_that_choose {
  using model = granular<backend_context, double>;

  [[nodiscard]] static model make(const backend_context& context, engine_by by,
                                  std::size_t count = size_or(3000, 300)) {
    granular_options options;
    options.parameters.radius = 0.7 / std::cbrt(static_cast<double>(count));
    options.autotune = by == engine_by::times;
    if (by == engine_by::name) options.method = "counting";
    return {context, options, scattered(count, 5)};
  }
};

class model_autotune : public backend_test {};

/// Each eight steps against those of a named engine from the same state.
template <typename Scene>
void expect_steps_of_a_named_engine() {
  const backend_context context = context_at(determinism::none, 1);
  auto tuned = Scene::make(context, engine_by::times), named = Scene::make(context, engine_by::name);
  for (std::size_t k = 0; k < 40; ++k) {
    named.advance(8);
    tuned.advance(8);
    ASSERT_LT(largest_difference(tuned.positions(), named.positions()), 1e-9) << k << tuned.explanation().text();
    ASSERT_EQ(tuned.step(), named.step());
  }
  const explanation why = tuned.explanation();
  EXPECT_LE(why.changes.size(), 1u);
  EXPECT_FALSE(tuned.state().variant.empty()) << "nothing is tried any more";
}

TEST_F(model_autotune, agents_move_as_by_a_named_order) { expect_steps_of_a_named_engine<circles_that_choose>(); }
TEST_F(model_autotune, grains_move_as_by_a_named_method) { expect_steps_of_a_named_engine<grains_that_choose>(); }

/// A run in calls of all lengths. It goes on from its state.
template <typename Scene>
void expect_a_run_that_goes_on() {
  const backend_context context = context_at(determinism::none, 1);
  auto model = Scene::make(context, engine_by::times);
  for (const std::size_t steps : {1, 15, 16, 50, 500}) model.advance(steps);
  for (int k = 0; k < 30; ++k) model.advance(7);
  model.check();
  EXPECT_EQ(model.step(), 792u);
  const auto state = model.state();
  auto named = Scene::make(context, engine_by::name);
  named.restore(state);
  model.restore(state);
  model.advance(20);
  named.advance(20);
  EXPECT_LT(largest_difference(model.positions(), named.positions()), 1e-9);
}

TEST_F(model_autotune, leaves_runs_right_in_calls_of_any_length) {
  expect_a_run_that_goes_on<circles_that_choose>();
  expect_a_run_that_goes_on<grains_that_choose>();
}

TEST_F(model_autotune, does_not_disturb_records_of_single_steps) {
  auto model = circles_that_choose::make(context_at(determinism::none, 1), engine_by::times);
  for (std::size_t k = 0; k < 20; ++k) {
    model.advance(5);
    const auto records = model.record(3);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records.back().step, model.step());
  }
  EXPECT_EQ(model.step(), 160u);
}

template <typename Scene>
void expect_the_first_engine_without_memory() {
  counting_memory memory;
  auto model = Scene::make(memory.context(determinism::none), engine_by::times);
  model.advance(8);
  memory.allow(0);
  for (std::size_t k = 0; k < 40; ++k) model.advance(8);
  model.check();
  memory.allow_all();
  EXPECT_EQ(model.step(), 328u);
}

TEST_F(model_autotune, goes_on_without_memory_for_another_engine) {
  expect_the_first_engine_without_memory<circles_that_choose>();
  expect_the_first_engine_without_memory<grains_that_choose>();
}

/// Nothing is timed, and steps between looks allocate nothing.
template <typename Scene>
void expect_an_engine_that_stays(engine_by by, determinism level) {
  counting_memory memory;
  auto model = Scene::make(memory.context(level), by);
  const std::string chosen = model.explanation().chosen;
  model.advance(40);
  const std::size_t allocations = memory.allocations();
  for (std::size_t k = 0; k < 10; ++k) model.advance(40);
  model.check();
  EXPECT_EQ(memory.allocations(), allocations);
  EXPECT_EQ(model.explanation().chosen, chosen);
  EXPECT_TRUE(model.explanation().changes.empty());
}

TEST_F(model_autotune, without_it_and_with_named_engines_steps_allocate_nothing_and_the_engine_stays) {
  for (const engine_by by : {engine_by::profile, engine_by::name}) {
    for (const determinism level : {determinism::none, determinism::run_to_run}) {
      expect_an_engine_that_stays<circles_that_choose>(by, level);
      expect_an_engine_that_stays<grains_that_choose>(by, level);
    }
  }
}

TEST_F(model_autotune, is_refused_where_runs_must_be_repeatable) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    EXPECT_THROW(static_cast<void>(circles_that_choose::make(context_at(level), engine_by::times)), argument_error);
    EXPECT_THROW(static_cast<void>(grains_that_choose::make(context_at(level), engine_by::times)), argument_error);
  }
}

/// Only contexts of CUDA can capture.
template <typename Context>
void expect_the_engine_of_a_capture(const Context& context) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    auto model = grains_that_choose::make(context, engine_by::times);
    model.advance(30);
    cuda_graph graph;
    graph.capture(context, [&] { model.advance(1); });
    const std::string method(model.options().method);
    for (std::size_t k = 0; k < 40; ++k) model.advance(8);
    model.check();
    EXPECT_EQ(model.options().method, method);
  }
}

TEST_F(model_autotune, ends_when_a_call_is_captured) { expect_the_engine_of_a_capture(context_at(determinism::none)); }

TEST_F(model_autotune, without_it_the_load_decides_at_a_fixed_step) {
  // Fewer are not looked at on CUDA.
  if (models_on_cuda && small_sizes()) return;
  constexpr std::size_t count = models_on_cuda ? 100000 : 3000;
  const auto make = [&] {
    return circles_that_choose::make(context_at(determinism::run_to_run), engine_by::profile, count, 50);
  };
  auto first = make();
  auto state = first.state();
  state.step = 500;
  // Walks most cells, which costs most where they are crowded.
  state.variant = "strips_1";
  first.restore(state);
  first.advance(8);
  const auto middle = first.state();
  EXPECT_EQ(middle.variant, "strips_1");
  first.advance(20);
  ASSERT_EQ(first.explanation().changes.size(), 1u) << first.explanation().text();
  EXPECT_NE(first.explanation().changes[0].find("step 512: strips_1 -> "), std::string::npos);
  auto second = make();
  second.restore(middle);
  second.advance(7);
  second.advance(13);
  const auto a = first.state(), b = second.state();
  EXPECT_NE(a.variant, "strips_1");
  EXPECT_EQ(a.variant, b.variant);
  EXPECT_EQ(largest_difference(a.positions, b.positions), 0);
}

}  // namespace

}  // namespace quadrat::test
