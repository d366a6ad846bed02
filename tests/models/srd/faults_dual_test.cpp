// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "models/srd/support.hpp"
#include "quadrat/core/error.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"

// Refused arguments, and the message of a run that blows up.

namespace quadrat::test {

namespace {

using fluid = srd<backend_context, float, 3>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

class srd_faults : public backend_test {};

[[nodiscard]] std::string refusal(const std::function<void(srd_options<3>&)>& spoil) {
  srd_options<3> options = cube<3>(4);
  spoil(options);
  return error_of<argument_error>([&] { fluid(srd_context(), options, {}); });
}

TEST_F(srd_faults, name_the_option_that_is_impossible) {
  EXPECT_EQ(refusal([](auto& o) { o.cells[1] = 0; }), "there are 0 cells along y; at least 1 is needed");
  EXPECT_EQ(refusal([](auto& o) {
              o.cells = {1 << 15, 1 << 15, 2};
            }),
            "there are 2147483648 cells, with those of walls; at most 2147483647 are possible");
  EXPECT_EQ(refusal([](auto& o) { o.cell_edge = 0; }), "the edge of a cell is 0; it must be positive and finite");
  EXPECT_EQ(refusal([](auto& o) { o.time_step = -1; }), "the time step is -1; it must be positive and finite");
  EXPECT_EQ(refusal([](auto& o) { o.time_step = not_a_number; }),
            "the time step is nan; it must be positive and finite");
  EXPECT_EQ(refusal([](auto& o) { o.rotation_angle = 0; }),
            "the angle of rotation is 0 degrees; it must be above 0 and at most 180");
  EXPECT_EQ(refusal([](auto& o) { o.rotation_angle = 180.5; }),
            "the angle of rotation is 180.5 degrees; it must be above 0 and at most 180");
  EXPECT_EQ(refusal([](auto& o) { o.mass = infinite; }),
            "the mass of a particle is inf; it must be positive and finite");
  EXPECT_EQ(refusal([](auto& o) { o.temperature = -1; }),
            "the temperature kT is -1; it must be finite and not negative");
  EXPECT_EQ(refusal([](auto& o) { o.temperature = 0; }),
            "the temperature kT is 0; with the thermostat it must be positive");
  EXPECT_EQ(refusal([](auto& o) { o.acceleration[2] = infinite; }),
            "the acceleration is (0, 0, inf); it must be finite");
  EXPECT_EQ(refusal([](auto& o) { o.wall_velocity[1][0][0] = 1; }),
            "the axis y is periodic, but one of its walls has a velocity");
  EXPECT_EQ(refusal([](auto& o) {
              o.periodic[1] = false;
              o.wall_velocity[1][1][1] = 1;
            }),
            "the velocity of a wall of y is (0, 1, 0); walls can move along themselves only, so that component must be "
            "0");
  EXPECT_EQ(refusal([](auto& o) { o.particles_per_cell = -3; }),
            "ghosts are to fill cells up to -3 particles; 0 to 2147483647 are possible");
  EXPECT_EQ(refusal([](auto& o) { o.time_step = 1e-45; }),
            "lengths, times and temperature are out of the range of numbers of 4 bytes");
  EXPECT_EQ(refusal([](auto& o) { o.acceleration[2] = 1e39; }),
            "the acceleration or the velocity of a wall is out of the range of numbers of 4 bytes");
}

TEST_F(srd_faults, name_the_particle_that_cannot_be) {
  const srd_options<3> options = cube<3>(4);
  srd_particles<3> good = srd_start(options, 50);
  const auto with = [&](const std::function<void(srd_particles<3>&)>& spoil) {
    srd_particles<3> particles = good;
    spoil(particles);
    return error_of<data_error>([&] { fluid(srd_context(), options, particles); });
  };
  EXPECT_EQ(with([](auto& p) {
              p.positions[7] = {1, 2, 4.5};
            }),
            "the position of particle 7 is (1, 2, 4.5), which is outside the box");
  EXPECT_EQ(with([](auto& p) {
              p.positions[7] = {1, not_a_number, 1};
            }),
            "the position of particle 7 is (1, nan, 1), which is not finite");
  EXPECT_EQ(with([](auto& p) {
              p.velocities[0] = {0, -infinite, 1};
            }),
            "the velocity of particle 0 is (0, -inf, 1), which is not finite; components up to 36 are possible");
  EXPECT_EQ(with([](auto& p) {
              p.velocities[3] = {0, 36.5, 1};
            }),
            "the velocity of particle 3 is (0, 36.5, 1), which would carry it too far in one step; components up to 36 "
            "are possible");
  good.solute_masses = {1, 2, -1};
  EXPECT_EQ(error_of<argument_error>([&] { fluid(srd_context(), options, good); }),
            "the mass of solute 2 is -1; it must be positive and finite");
  good.solute_masses = {1e-39};
  EXPECT_EQ(error_of<argument_error>([&] { fluid(srd_context(), options, good); }),
            "the mass of solute 0 is 1e-39, and that of a particle of the fluid 1; their ratio is out of the range of "
            "numbers of 4 bytes");
  good.velocities.pop_back();
  EXPECT_EQ(error_of<argument_error>([&] { fluid(srd_context(), options, good); }),
            "there are 50 positions, but 49 velocities");
}

/// All cells share one scale: contributions of the lightest particle must not be lost in it.
TEST_F(srd_faults, refuse_fixed_sums_that_are_coarse_beside_the_fluid) {
  srd_options<3> options = cube<3>(4);
  const auto refused = [&](const std::vector<double>& solute_masses, determinism level = determinism::run_to_run) {
    const auto start = srd_start<3>(options, 50, solute_masses);
    return error_of<argument_error>([&] { fluid(srd_context(level), options, start); });
  };
  EXPECT_EQ(refused({1e6}), "no error");
  expect_words(refused({2, 1e13}), {"fixed sums resolve the mass of the lightest particle to 0.00390625 of it"});
  expect_words(refused({1e8}), {"the thermal energy of the lightest particle"});
  options.thermostat = false;
  expect_words(refused({1e9}), {"the thermal momentum of the lightest particle"});
  options.sums = srd_sums::floating;
  EXPECT_EQ(refused({1e9}, determinism::none), "no error");
  options = cube<3>(4, 1e-11);
  expect_words(refused({}), {"Take a longer time step"});
}

TEST_F(srd_faults, refuse_states_and_solutes_of_another_number) {
  const srd_options<3> options = cube<3>(4);
  const std::vector<double> masses{5, 6};
  fluid simulation(srd_context(), options, srd_start<3>(options, 50, masses));
  srd_state<float, 3> state = simulation.state();
  state.velocities.pop_back();
  EXPECT_EQ(error_of<argument_error>([&] { simulation.restore(state); }),
            "the state has 51 particles; the simulation has 52");
  const std::vector<vec<float, 3>> one(1, vec<float, 3>{});
  EXPECT_EQ(error_of<argument_error>([&] { simulation.set_solutes(one, one); }),
            "there are 1 positions and 1 velocities for 2 solutes");
  const std::vector<vec<float, 3>> outside(2, vec<float, 3>{5, 5, 5});
  EXPECT_EQ(error_of<data_error>([&] { simulation.set_solutes(outside, outside); }),
            "the position of solute 0 is (5, 5, 5), which is outside the box");
  EXPECT_EQ(error_of<argument_error>([&] { static_cast<void>(simulation.velocity_profile(3, 5)); }),
            "there is no axis 3; 0 to 2 are possible");
  EXPECT_EQ(error_of<argument_error>([&] { static_cast<void>(simulation.velocity_profile(1, 0)); }),
            "the profile has 0 bins; 1 to 65536 are possible");
}

/// A force that moves all particles too far in the third step.
TEST_F(srd_faults, stop_a_run_that_blows_up_until_it_is_restored) {
  srd_options<3> options = cube<3>(4);
  options.acceleration = {15, 0, 0};
  options.thermostat = false;
  srd_particles<3> start = srd_start(options, 300);
  for (auto& velocity : start.velocities) velocity[0] = velocity[0] / 100;
  fluid simulation(srd_context(), options, start);
  simulation.advance(2);
  const srd_state<float, 3> good = simulation.state();
  simulation.advance(30);
  const std::string problem = error_of<data_error>([&] { simulation.check(); });
  EXPECT_EQ(problem.substr(0, 40), "the run blew up in step 4: particle 0 go") << problem;
  EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(simulation.measure()); }), problem);
  EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(simulation.state()); }), problem);
  simulation.restore(good);
  simulation.check();
  EXPECT_EQ(simulation.step(), 2u);
  EXPECT_TRUE(simulation.state().velocities == good.velocities);
}

TEST_F(srd_faults, tell_of_a_cell_that_is_too_full_for_its_sums) {
  const srd_options<3> options = cube<3>(5);
  srd_particles<3> start = srd_start(options, 1100);
  for (auto& position : start.positions) position = {2.5, 2.5, 2.5};
  for (auto& velocity : start.velocities) velocity = {};
  fluid simulation(srd_context(), options, start);
  simulation.advance(1);
  const std::string problem = error_of<data_error>([&] { simulation.check(); });
  EXPECT_NE(problem.find("the run blew up in step 1: cell "), std::string::npos) << problem;
  EXPECT_NE(problem.find("of the shifted grid has more particles than its sums have room for"), std::string::npos);
  start.positions.resize(1000);
  start.velocities.resize(1000);
  fluid fuller(srd_context(), options, start);
  fuller.advance(1);
  fuller.check();
}

TEST_F(srd_faults, allocate_nothing_while_steps_are_taken) {
  counting_memory memory;
  {
    srd_options<3> options = cube<3>(4);
    options.sort_every = 3;
    const backend_context context = memory.context(determinism::run_to_run);
    fluid simulation(context, options, srd_start(options, 500));
    simulation.advance(20);
    const std::size_t before = memory.allocations();
    simulation.advance(40);
    EXPECT_EQ(memory.allocations(), before);
    EXPECT_EQ(memory.live_bytes(), simulation.bytes());
  }
  EXPECT_EQ(memory.live_bytes(), 0u);
}

}  // namespace

}  // namespace quadrat::test
