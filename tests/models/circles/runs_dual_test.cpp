// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "models/circles/support.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/circles.hpp"
#include "support/errors.hpp"

// Whole runs of Circles: records, reproducibility, the steady state; bad arguments and failing runs.

namespace quadrat::test {

namespace {

class circles_runs : public backend_test {};

template <typename State>
[[nodiscard]] bool same_bits(const State& a, const State& b) {
  return a.positions.size() == b.positions.size() &&
         std::memcmp(a.positions.data(), b.positions.data(), a.positions.size() * sizeof(a.positions[0])) == 0;
}

TEST_F(circles_runs, records_are_what_single_steps_measure) {
  const circles_parameters parameters = lively(circles_form::sine, 12);
  const auto start = circles_initial_positions<3>(parameters, 600, 9);
  const auto context = make_circles_context(determinism::run_to_run);
  circles<backend_context, float, 3> recorded(context, {parameters, "", "", 0}, start);
  circles<backend_context, float, 3> single(context, {parameters, "", "", 0}, start);
  const auto records = recorded.record(7);
  ASSERT_EQ(records.size(), 7u);
  for (std::size_t k = 0; k < records.size(); ++k) {
    const circles_statistics found = single.measure();
    EXPECT_EQ(records[k].step, k + 1);
    EXPECT_GT(records[k].milliseconds, 0);
    EXPECT_EQ(records[k].mean_neighbors, found.mean_neighbors);
    EXPECT_EQ(records[k].neighbor_deviation, found.neighbor_deviation);
    EXPECT_EQ(records[k].mean_displacement, found.mean_displacement);
    single.advance(1);
  }
  // Recorded or not, in one call or many: the same bits.
  EXPECT_TRUE(same_bits(recorded.state(), single.state()));
  circles<backend_context, float, 3> at_once(context, {parameters, "", "", 0}, start);
  at_once.advance(7);
  EXPECT_TRUE(same_bits(recorded.state(), at_once.state()));
}

TEST_F(circles_runs, run_to_run_gives_the_same_bits_with_any_context) {
  const circles_parameters parameters = lively(circles_form::original, 20);
  const auto start = circles_initial_positions<2>(parameters, 400, 11);
  for (const circles_options& options : all_options(parameters)) {
    circles<backend_context, float, 2> first(make_circles_context(determinism::run_to_run), options, start);
    first.advance(37);
    circles<backend_context, float, 2> again(make_circles_context(determinism::run_to_run), options, start);
    again.advance(20);
    // A state goes through the host into a run that was in another state.
    const auto middle = again.state();
    circles<backend_context, float, 2> other(make_circles_context(determinism::run_to_run), options, start);
    other.advance(3);
    other.restore(middle);
    other.advance(17);
    EXPECT_TRUE(same_bits(first.state(), other.state())) << name_of(options);
    EXPECT_EQ(other.step(), 37u);
  }
}

struct settling {
  circles_statistics first, late, last;
};

/// Statistics at the start, after this many steps, and after half as many more. Repeatable: runs are chaotic, and
/// another order of sums can let two circles merge at another time.
template <int D>
[[nodiscard]] settling settle(const circles_parameters& parameters, double density, std::size_t steps) {
  const std::size_t count = circles_count(parameters, D, density);
  circles<backend_context, float, D> simulation(make_circles_context(determinism::run_to_run), {parameters, "", "", 0},
                                                circles_initial_positions<D>(parameters, count, 13));
  settling result;
  result.first = simulation.measure();
  simulation.advance(steps);
  result.late = simulation.measure();
  simulation.advance(steps / 2);
  result.last = simulation.measure();
  return result;
}

/// Agents gather, so that neighborhoods become uneven, and stay gathered. They jitter, because the force jumps from
/// repulsion to attraction at the distance r.
template <int D>
void expect_steady_circles(double width, double density) {
  circles_parameters parameters = circles_defaults(circles_form::original);
  parameters.width = width;
  parameters.repulsion = parameters.attraction = 4e-3;
  const settling seen = settle<D>(parameters, density, 800);
  EXPECT_GT(seen.late.neighbor_deviation, 3 * seen.first.neighbor_deviation) << D;
  EXPECT_NEAR(seen.last.neighbor_deviation, seen.late.neighbor_deviation, 0.15 * seen.late.neighbor_deviation) << D;
}

TEST_F(circles_runs, original_form_reaches_a_steady_state) {
  if (small_sizes()) GTEST_SKIP() << "a thousand steps are too many under a checker";
  expect_steady_circles<2>(100, 0.16);
  expect_steady_circles<3>(50, 0.01);
}

/// In the sine form the force is continuous, and motion dies out.
template <int D>
void expect_rest(double width, std::size_t steps) {
  circles_parameters parameters = circles_defaults(circles_form::sine);
  parameters.width = width;
  const settling seen = settle<D>(parameters, 1, steps);
  EXPECT_GT(seen.late.neighbor_deviation, 2 * seen.first.neighbor_deviation) << D;
  EXPECT_LT(seen.last.mean_displacement, 0.1 * seen.first.mean_displacement) << D;
}

TEST_F(circles_runs, sine_form_comes_to_rest) {
  if (small_sizes()) GTEST_SKIP() << "a thousand steps are too many under a checker";
  expect_rest<2>(30, 1500);
  expect_rest<3>(12, 600);
}

TEST_F(circles_runs, candidates_are_those_of_the_grid) {
  // 27 cells of 8 agents, minus those outside the box.
  circles_parameters parameters = circles_defaults(circles_form::sine);
  parameters.width = 20;
  const auto start = circles_initial_positions<3>(parameters, 8000, 15);
  const double inside = 8 * std::pow(3.0 - 2.0 / 10, 3);
  for (const char* order : {"default", "strips", "modular", "hybrid"}) {
    circles<backend_context, float, 3> simulation(make_circles_context(), {parameters, order, "sorted", 1}, start);
    EXPECT_NEAR(simulation.measure().candidates_per_agent, inside, 0.03 * inside) << order;
  }
  circles<backend_context, float, 3> trimmed(make_circles_context(), {parameters, "trimmed", "counting", 2}, start);
  EXPECT_LT(trimmed.measure().candidates_per_agent, 0.6 * inside);
}

using small_run = circles<backend_context, float, 2>;

[[nodiscard]] std::string construction_error(const circles_options& options, determinism level = determinism::none) {
  return error_of<argument_error>([&] { small_run(make_circles_context(level), options, agents<2>{}); });
}

TEST_F(circles_runs, impossible_options_are_refused) {
  const circles_parameters parameters = lively(circles_form::sine, 10);
  expect_words(construction_error({parameters, "strip", "", 0}), {"strip", "strips", "modular"});
  expect_words(construction_error({parameters, "", "linked_loose", 0}), {"linked_loose", "counting", "sorted"});
  expect_words(construction_error({parameters, "strips", "sorted_morton", 0}),
               {"strips", "sorted_morton", "counting, sorted"});
  expect_words(construction_error({parameters, "", "", 9}), {"9", "1 to 8"});
  expect_words(construction_error({parameters, "", "", 0, 0, true}, determinism::canonical), {"canonical"});
  expect_words(construction_error({parameters, "strips", "", 0, 0, true}), {"trimmed", "strips"});
  circles_parameters wrong = parameters;
  wrong.radius = 0;
  expect_words(construction_error({wrong, "", "", 0}), {"radius", "positive"});
  wrong = circles_defaults(circles_form::original);
  wrong.width = 1;
  expect_words(construction_error({wrong, "", "", 0}), {"width", "more than 1"});
  wrong.width = 10;
  wrong.attraction = NAN;
  expect_words(construction_error({wrong, "", "", 0}), {"attraction", "finite"});
  EXPECT_THROW(static_cast<void>(circles_count(parameters, 3, 1e12)), argument_error);
  EXPECT_EQ(circles_count(circles_defaults(circles_form::original), 3, 0.01), 10000u);
}

TEST_F(circles_runs, agents_that_cannot_be_are_named) {
  const circles_parameters parameters = lively(circles_form::sine, 10);
  agents<2> start = circles_initial_positions<2>(parameters, 10, 1);
  start[7][1] = NAN;
  start[9][0] = NAN;
  const auto make = [&] { small_run(make_circles_context(), {parameters, "", "", 0}, start); };
  expect_words(error_of<data_error>(make), {"agent 7", "not finite"});
  start[7][1] = 0;
  start[9][0] = 6;
  expect_words(error_of<data_error>(make), {"agent 9", "outside"});
}

TEST_F(circles_runs, run_that_blows_up_names_step_and_agent) {
  circles_parameters parameters = lively(circles_form::sine, 10);
  parameters.force = 3e38;  // whose product with a slope is beyond float
  const agents<2> start{{-4, -4}, {1, 1}, {1.5, 1}, {1.5, 1.5}};
  for (const circles_options& options : all_options(parameters)) {
    small_run simulation(make_circles_context(), options, start);
    const auto good = simulation.state();
    simulation.advance(20);
    for (int call = 0; call < 2; ++call) {
      expect_words(error_of<data_error>([&] { simulation.check(); }), {"step 1", "agent 0"});
    }
    EXPECT_THROW(static_cast<void>(simulation.positions()), data_error);
    EXPECT_THROW(static_cast<void>(simulation.record(1)), data_error);
    simulation.restore(good);
    EXPECT_NO_THROW(simulation.check());
  }
}

TEST_F(circles_runs, state_of_another_run_is_refused) {
  const circles_parameters parameters = lively(circles_form::original, 10);
  small_run simulation(make_circles_context(), {parameters, "", "", 0},
                       circles_initial_positions<2>(parameters, 10, 1));
  auto state = simulation.state();
  state.positions.pop_back();
  EXPECT_THROW(simulation.restore(state), argument_error);
  state = simulation.state();
  state.storage_order.assign(10, 3);
  expect_words(error_of<argument_error>([&] { simulation.restore(state); }), {"agent 3", "twice"});
  state = simulation.state();
  state.positions[2][0] = 9.5F;
  expect_words(error_of<data_error>([&] { simulation.restore(state); }), {"agent 2", "outside"});
}

}  // namespace

}  // namespace quadrat::test
