// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "models/friction/support.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// Walls, openings, impossible arguments, and failing runs.

namespace quadrat::test {

namespace {

class granular_friction_walls : public backend_test {};

constexpr double radius = 0.005;

/// A plate at y = 0 with an opening around the origin, above a floor at y = -0.1.
granular_friction_options plate_and_floor(double opening) {
  granular_friction_options options;
  options.walls = {{{0, 0, 0}, {0, 2, 0}, round_opening{{0, 0.3, 0}, opening}}, {{0, -0.1, 0}, {0, 1, 0}}};
  options.material.restitution = 0.3;
  return options;
}

friction_simulation drop(const granular_friction_options& options, const vec<double, 3>& from, double duration) {
  const points positions{from};
  friction_simulation grain(make_context(), options, std::vector<double>{radius}, positions);
  grain.advance(static_cast<std::size_t>(duration / grain.options().time_step));
  return grain;
}

TEST_F(granular_friction_walls, a_grain_falls_through_an_opening_and_rests_on_the_floor) {
  friction_simulation grain = drop(plate_and_floor(0.02), {0.01, 0.02, 0}, 1);
  EXPECT_NEAR(grain.positions()[0][1], -0.1 + radius, 1e-4);
  EXPECT_EQ(grain.measure().passed, 1u);
}

TEST_F(granular_friction_walls, a_grain_beside_the_opening_rests_on_the_plate) {
  friction_simulation grain = drop(plate_and_floor(0.02), {0.03, 0.02, 0.001}, 1);
  EXPECT_NEAR(grain.positions()[0][1], radius, 1e-4);
  EXPECT_NEAR(grain.positions()[0][0], 0.03, 1e-6);
  EXPECT_EQ(grain.measure().passed, 0u);
}

TEST_F(granular_friction_walls, a_box_may_be_much_thinner_than_long) {
  granular_friction_options options = plate_and_floor(0.02);
  options.lower = {-0.5, -0.5, -0.00725};
  options.upper = {0.5, 0.5, 0.00725};
  const points positions{{0.03, 0.02, 0.001}};
  granular_friction<backend_context, float> grain(make_context(), options, std::vector<double>{radius}, positions);
  grain.advance(static_cast<std::size_t>(0.5 / grain.options().time_step));
  EXPECT_NEAR(grain.positions()[0][1], radius, 1e-4);
}

TEST_F(granular_friction_walls, a_grain_on_the_rim_tips_over_it) {
  friction_simulation grain = drop(plate_and_floor(0.02), {0.0195, 0.006, 0}, 1);
  EXPECT_NEAR(grain.positions()[0][1], -0.1 + radius, 1e-4);
  EXPECT_EQ(grain.measure().passed, 1u);
}

TEST_F(granular_friction_walls, a_plate_acts_from_below_too) {
  granular_friction_options options = plate_and_floor(0.02);
  options.gravity = {0, 9.81, 0};
  friction_simulation grain = drop(options, {0.03, -0.02, 0}, 1);
  EXPECT_NEAR(grain.positions()[0][1], -radius, 1e-4);
}

TEST_F(granular_friction_walls, the_rim_pushes_from_its_nearest_point) {
  // A grain that is pulled sideways, in the plane of the plate, stops at the rim.
  granular_friction_options options = plate_and_floor(0.02);
  options.gravity = {3, 0, 4};
  friction_simulation grain = drop(options, {0, 0, 0}, 1);
  EXPECT_NEAR(grain.positions()[0][0], 0.6 * (0.02 - radius), 1e-4);
  EXPECT_NEAR(grain.positions()[0][1], 0, 1e-6);
  EXPECT_NEAR(grain.positions()[0][2], 0.8 * (0.02 - radius), 1e-4);
}

TEST_F(granular_friction_walls, walls_of_a_box_hold_grains_in) {
  const loose_grains grains(size_or(6, 3), 1.5, 1);
  auto simulation = grains.simulate<float>(grains.in_box(without_gravity()));
  simulation.advance(1500);
  for (const vec<float, 3>& position : simulation.positions()) {
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_GT(position[axis], 0.002f);
      EXPECT_LT(position[axis], static_cast<float>(grains.upper[0]) - 0.002f);
    }
  }
}

template <typename Error>
std::string construction_error(const granular_friction_options& options, const std::vector<double>& radii,
                               const points& positions, const points& velocities = {}) {
  return error_of<Error>([&] { friction_simulation(make_context(), options, radii, positions, velocities); });
}

template <typename Change>
void expect_refused(Change&& change, const std::vector<std::string>& words) {
  granular_friction_options options;
  change(options);
  expect_words(construction_error<argument_error>(options, {radius}, {{0, 0, 0}}), words);
}

TEST_F(granular_friction_walls, impossible_options_are_refused) {
  expect_refused([](auto& o) { o.material.density = 0; }, {"density", "0", "positive"});
  expect_refused([](auto& o) { o.material.restitution = 0; }, {"restitution", "above 0 and at most 1"});
  expect_refused([](auto& o) { o.material.restitution = 1.1; }, {"restitution", "1.1"});
  expect_refused([](auto& o) { o.material.poisson_ratio = 0.6; }, {"Poisson", "0.6", "0.5"});
  expect_refused([](auto& o) { o.material.friction = -0.1; }, {"friction", "-0.1"});
  expect_refused([](auto& o) { o.material.young_modulus = std::nan(""); }, {"Young", "nan"});
  expect_refused([](auto& o) { o.material.normal_spring = -1; }, {"normal spring"});
  expect_refused([](auto& o) { o.gravity = {0, std::nan(""), 0}; }, {"gravity"});
  expect_refused([](auto& o) { o.time_step = 1; }, {"time step", "1", "at most"});
  expect_refused([](auto& o) { o.time_step = -1e-5; }, {"time step", "positive"});
  expect_refused([](auto& o) { o.skin = -0.1; }, {"skin", "-0.1"});
  expect_refused([](auto& o) { o.upper = {1, -2, 1}; }, {"box length along axis 1"});
  expect_refused([](auto& o) { o.walls = {{{0, -1, 0}, {0, 0, 0}}}; }, {"normal of wall 0"});
  expect_refused([](auto& o) { o.walls = plate_and_floor(0.004).walls; }, {"opening of wall 0", "0.004", "0.005"});
  expect_refused([](auto& o) { o.walls.resize(33); }, {"33 walls", "32"});
}

TEST_F(granular_friction_walls, grains_that_cannot_be_are_named) {
  const granular_friction_options options = plate_and_floor(0.02);
  const points two{{0, 0, 0}, {0, 0.1, 0}};
  expect_words(construction_error<argument_error>(options, {radius, -1}, two), {"radius of grain 1", "-1"});
  expect_words(construction_error<argument_error>(options, {radius, radius, radius}, two), {"2 positions", "3 radii"});
  expect_words(construction_error<argument_error>(options, {1e-70}, {{0, 0, 0}}),
               {"radius of grain 0", "1e-70", "moment of inertia"});
  expect_words(construction_error<argument_error>(options, {radius}, two, {{0, 0, 0}}), {"1 velocities"});
  expect_words(construction_error<data_error>(options, {radius}, {{0, 0, 0}, {0, -0.2, 0}}),
               {"grain 1", "behind wall 1", "0.1"});
  expect_words(construction_error<data_error>(options, {radius}, {{0, 0, 0}, {0, std::nan(""), 0}}),
               {"position of grain 1", "not finite"});
}

TEST_F(granular_friction_walls, a_run_that_blows_up_names_step_and_grain_and_can_be_restored) {
  granular_friction_options options = plate_and_floor(0.02);
  points positions;
  points velocities;
  for (int i = 0; i < 100; ++i) {
    positions.push_back({0.02 * i + 0.05, 0.1, 0});
    velocities.push_back({0, 0, 0});
  }
  const double step = longest_granular_time_step(options, radius) / 10;
  velocities[70][0] = 0.6 * radius / step;
  friction_simulation grains(make_context(), options, std::vector<double>{radius}, positions);
  const auto sound = grains.state();
  auto fast = sound;
  fast.velocities[70] = velocities[70];
  grains.restore(fast);
  grains.advance(40);
  expect_words(error_of<data_error>([&] { grains.check(); }), {"step 1:", "grain 70", "time step"});
  EXPECT_THROW(static_cast<void>(grains.measure()), data_error);
  grains.advance(40);
  EXPECT_THROW(grains.check(), data_error);
  grains.restore(sound);
  grains.advance(40);
  EXPECT_NO_THROW(grains.check());
  EXPECT_EQ(grains.step(), 40u);
}

TEST_F(granular_friction_walls, a_grain_that_is_shot_through_a_wall_is_named) {
  granular_friction_options options = without_gravity();
  options.walls = {{{0, 0, 0}, {0, 1, 0}}};
  options.material.young_modulus = 1e4;
  const points positions{{0, 0.1, 0}, {0.1, 0.02, 0}};
  const points velocities{{0, 0, 0}, {0, -20, 0}};
  friction_simulation grains(make_context(), options, std::vector<double>{radius}, positions, velocities);
  grains.advance(2000);
  expect_words(error_of<data_error>([&] { grains.check(); }), {"grain 1", "wall"});
}

TEST_F(granular_friction_walls, states_that_do_not_fit_are_refused) {
  const granular_friction_options options = plate_and_floor(0.02);
  const points positions{{0, 0.1, 0}, {0.1, 0.1, 0}};
  friction_simulation grains(make_context(), options, std::vector<double>{radius}, positions);
  const auto sound = grains.state();
  auto state = sound;
  state.velocities.pop_back();
  EXPECT_THROW(grains.restore(state), argument_error);
  state = sound;
  for (const particle_id second : {2u, first_plane + 2, first_plane - 1}) {
    state.contacts = {{0, second, {0, 0, 0}, 1}};
    expect_words(error_of<argument_error>([&] { grains.restore(state); }),
                 {"0 and " + std::to_string(second), "2 grains, from 0", "2 walls, from 2147483648"});
  }
  state.contacts = {{0, first_plane + 1, {0, 0, 0}, 1}};
  EXPECT_NO_THROW(grains.restore(state));
  state.contacts = {{0, 1, {0, 0, 0}, 1}, {0, 1, {0, 0, 0}, 1}};
  EXPECT_THROW(grains.restore(state), argument_error);
  state = sound;
  state.positions[1][2] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(grains.restore(state), data_error);
  EXPECT_NO_THROW(grains.restore(sound));
}

}  // namespace

}  // namespace quadrat::test
