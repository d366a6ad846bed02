// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/granular/support.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// Impossible arguments, and failing runs.

namespace quadrat::test {

namespace {

class granular_faults : public backend_test {};

using simulation_type = granular<backend_context, float>;

template <typename Error>
std::string construction_error(const granular_options& options, const points& positions,
                               const points& velocities = {}) {
  return error_of<Error>([&] { simulation_type(make_context(), options, positions, velocities); });
}

TEST_F(granular_faults, impossible_options_are_refused) {
  granular_options options;
  options.method = "linked_lose";
  expect_words(construction_error<argument_error>(options, {}), {"linked_lose", "linked_loose", "counting"}, "name");
  options = {};
  options.cells = {64, 65, 64};
  expect_words(construction_error<argument_error>(options, {}), {"65", "axis 1", "64"}, "cells");
  options = {};
  options.upper = {1, 1, -1.5};
  EXPECT_THROW(simulation_type(make_context(), options, {}, {}), argument_error);
  options = {};
  options.upper = {1, -0.98, 1};
  expect_words(construction_error<argument_error>(options, {}), {"axis 1", "does not fit"}, "thin box");
  options = {};
  options.parameters.time_step = -1;
  expect_words(construction_error<argument_error>(options, {}), {"time step"}, "time step");
  const points one(1), two(2);
  EXPECT_THROW(simulation_type(make_context(), {}, one, two), argument_error);
}

TEST_F(granular_faults, grains_that_cannot_be_are_named) {
  points positions = scattered(10, 1);
  positions[7][1] = NAN;
  positions[9][1] = NAN;
  expect_words(construction_error<data_error>({}, positions), {"grain 7", "not finite"}, "position");
  positions = scattered(10, 1);
  positions[3] = {0, 0, 1.001};
  expect_words(construction_error<data_error>({}, positions), {"grain 3", "outside"}, "outside");
  points velocities(10, vec<double, 3>{});
  velocities[4][2] = INFINITY;
  expect_words(construction_error<data_error>({}, scattered(10, 1), velocities), {"grain 4", "velocity"}, "velocity");
}

TEST_F(granular_faults, grains_on_the_faces_are_inside_in_every_precision) {
  granular_options options;
  options.lower = {0.1, -0.7, 1.3};
  options.upper = {1.1, 0.9, 3.7};
  const points corners{{0.1, -0.7, 1.3}, {1.1, 0.9, 3.7}};
  for (const std::string& method : available_methods()) {
    simulation_type simulation(make_context(), with_method(options, method), corners);
    simulation.advance(2);
    EXPECT_NO_THROW(simulation.check()) << method;
  }
}

/// Grain 2 reaches grain 1 in step 5, and the spring throws them across the box in the move of the next.
struct collision {
  granular_options options;
  points positions{{-0.5, 0, 0}, {0, 0, 0}, {-2.0 / 64 - 4.5e-3, 0, 0}};
  points velocities{{0, 0, 0}, {0, 0, 0}, {2e-3, 0, 0}};

  explicit collision(const std::string& method) {
    options.method = method;
    options.parameters.gravity = {0, 0, 0};
    options.parameters.spring = 1e5;
  }
};

TEST_F(granular_faults, run_that_blows_up_names_step_and_grain) {
  for (const std::string& method : available_methods()) {
    const collision scene(method);
    simulation_type simulation(make_context(), scene.options, scene.positions, scene.velocities);
    simulation.advance(5);
    EXPECT_NO_THROW(simulation.check()) << method;
    simulation.advance(60);
    for (int call = 0; call < 2; ++call) {
      expect_words(error_of<data_error>([&] { simulation.check(); }), {"step 6", "grain 1"}, method);
    }
    EXPECT_THROW(static_cast<void>(simulation.positions()), data_error) << method;
    EXPECT_THROW(static_cast<void>(simulation.measure()), data_error) << method;
    simulation.advance(1);
    EXPECT_THROW(static_cast<void>(simulation.state()), data_error) << method;
  }
}

TEST_F(granular_faults, velocity_that_overflows_is_noticed_in_its_step) {
  for (const std::string& method : available_methods()) {
    granular_options options = with_method({}, method);
    options.parameters.gravity = {0, 0, 0};
    const points velocities{{0, 0, 0}, {0.5, 0, 0}, {0, 0, 0}};
    const points positions{{-0.8, 0, 0}, {0, 0, 0}, {0.3, 0, 0}};
    options.parameters.time_step = 0.1;
    options.parameters.damping = 3e38;
    options.parameters.shear = 3e38;  // their sum is beyond float
    simulation_type simulation(make_context(), options, positions, velocities);
    simulation.advance(20);  // the grains touch when x > 0.3 - 2 / 64 = 0.269: step 6, at x = 0.3 in all precisions
    expect_words(error_of<data_error>([&] { simulation.check(); }), {"step 6", "grain 1"}, method);
  }
}

TEST_F(granular_faults, restore_makes_a_failed_run_usable) {
  for (const std::string& method : available_methods()) {
    const collision scene(method);
    simulation_type simulation(make_context(), scene.options, scene.positions, scene.velocities);
    simulation.advance(3);
    const auto good = simulation.state();
    simulation.advance(20);
    EXPECT_THROW(simulation.check(), data_error) << method;
    simulation.restore(good);
    EXPECT_TRUE(same_bits(simulation.state(), good)) << method;
    simulation.advance(2);
    EXPECT_NO_THROW(simulation.check()) << method;
    simulation.advance(1);
    expect_words(error_of<data_error>([&] { simulation.check(); }), {"step 6"}, method);
  }
}

TEST_F(granular_faults, crowd_in_a_fixed_cell_says_what_would_suffice) {
  for (const char* method : {"fixed", "fixed_row_major"}) {
    granular_options options = with_method({}, method);
    options.capacity = 4;
    const points crowd = scattered(50, 3, 0.5, 0.505);
    simulation_type simulation(make_context(), options, crowd);
    simulation.advance(1);
    std::uint64_t needed = 0;
    try {
      simulation.check();
    } catch (const overflow_error& e) {
      needed = e.needed();
    }
    EXPECT_GT(needed, 4u) << method;
    EXPECT_THROW(static_cast<void>(simulation.velocities()), overflow_error) << method;
    options.capacity = 50;
    simulation_type wider(make_context(), options, crowd);
    wider.advance(1);
    EXPECT_NO_THROW(wider.check()) << method;
  }
}

TEST_F(granular_faults, state_of_another_run_is_refused) {
  simulation_type simulation(make_context(), {}, scattered(10, 1));
  auto state = simulation.state();
  state.positions.pop_back();
  EXPECT_THROW(simulation.restore(state), argument_error);
  state = simulation.state();
  state.storage_order.assign(10, 3);
  expect_words(error_of<argument_error>([&] { simulation.restore(state); }), {"grain 3", "twice"}, "order");
  state = simulation.state();
  state.velocities[2][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(simulation.restore(state), data_error);
}

}  // namespace

}  // namespace quadrat::test
