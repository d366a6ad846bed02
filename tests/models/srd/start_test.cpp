// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "models/srd/support.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// Initial states, and theory.

namespace quadrat::test {

namespace {

TEST(srd_start_of_a_run, has_no_momentum_and_exactly_the_temperature) {
  srd_options<3> options = cube<3>(5);
  options.cell_edge = 2;
  options.mass = 3;
  options.temperature = 0.7;
  const std::vector<double> solute_masses{10, 50};
  const srd_particles<3> start = srd_start<3>(options, 4000, solute_masses);
  const std::vector<double> masses = masses_of(options, start);
  ASSERT_EQ(start.positions.size(), 4002u);
  ASSERT_EQ(masses.size(), 4002u);
  vec<double, 3> momentum{};
  vec<double, 3> mean{};
  double energy = 0;
  double fourth = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    momentum += start.velocities[i] * masses[i];
    mean += start.positions[i] * (1 / 4002.0);
    energy += masses[i] * squared_norm(start.velocities[i]) / 2;
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_GE(start.positions[i][axis], 0);
      EXPECT_LT(start.positions[i][axis], 10);
      fourth += std::pow(masses[i] * start.velocities[i][axis] * start.velocities[i][axis] / 0.7, 2) / 12006.0;
    }
  }
  EXPECT_NEAR(energy, 1.5 * 4001 * 0.7, 1e-8);
  EXPECT_NEAR(fourth, 3, 0.45);
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_NEAR(momentum[axis], 0, 1e-9);
    EXPECT_NEAR(mean[axis], 5, 0.25);
  }
}

TEST(srd_start_of_a_run, differs_by_seed_alone) {
  srd_options<2> options = cube<2>(5);
  const auto once = srd_start(options, 100);
  const auto again = srd_start(options, 100);
  options.seed = 2;
  const auto other = srd_start(options, 100);
  EXPECT_TRUE(once.positions == again.positions && once.velocities == again.velocities);
  EXPECT_FALSE(once.positions == other.positions);
  EXPECT_FALSE(once.velocities == other.velocities);
}

TEST(srd_start_of_a_run, can_be_of_few_particles) {
  const srd_options<3> options = cube<3>(2);
  EXPECT_TRUE(srd_start(options, 0).positions.empty());
  const auto one = srd_start(options, 1);
  EXPECT_EQ(one.velocities[0], (vec<double, 3>{}));
  const auto two = srd_start(options, 2);
  EXPECT_NEAR(squared_norm(two.velocities[0]), 1.5, 1e-12);
}

TEST(srd_start_of_a_run, can_have_a_shear_wave) {
  srd_options<2> options = cube<2>(8);
  options.cell_edge = 0.5;
  srd_particles<2> start = srd_start(options, 50);
  const srd_particles<2> before = start;
  add_shear_wave(options, 0.3, start);
  for (std::size_t i = 0; i < 50; ++i) {
    const double added = 0.3 * std::sin(2 * std::numbers::pi * before.positions[i][1] / 4);
    EXPECT_NEAR(start.velocities[i][0] - before.velocities[i][0], added, 1e-14);
    EXPECT_EQ(start.velocities[i][1], before.velocities[i][1]);
  }
}

struct theory_row {
  double number;
  double angle;
  double time_step;
  double viscosity;
  double diffusion;
};

/// Table of the model's description: a = m = kT = 1.
TEST(srd_theory_of_the_fluid, gives_the_known_values) {
  for (const theory_row& row : {theory_row{5, 130, 0.1, 0.792, 0.064}, theory_row{10, 130, 0.1, 0.870, 0.051},
                                theory_row{10, 130, 1, 0.568, 0.515}, theory_row{5, 90, 1, 0.584, 1.37}}) {
    srd_options<3> options = cube<3>(20, row.time_step);
    options.rotation_angle = row.angle;
    const srd_transport found = srd_theory(options, row.number);
    EXPECT_NEAR(found.viscosity, row.viscosity, 6e-4);
    EXPECT_NEAR(found.self_diffusion, row.diffusion, row.diffusion > 1 ? 6e-3 : 6e-4);
    EXPECT_DOUBLE_EQ(found.viscosity, found.kinetic_viscosity + found.collisional_viscosity);
  }
}

TEST(srd_theory_of_the_fluid, knows_what_the_thermostat_adds) {
  // Measured on an H200 with 64 seeds each (benchmarks/results/h200/srd.json), to 0.4 to 0.7 %.
  for (const theory_row& row : {theory_row{5, 130, 0.1, 0.792, 0}, theory_row{10, 130, 0.1, 0.869, 0},
                                theory_row{10, 130, 1, 0.573, 0}, theory_row{5, 90, 1, 0.609, 0}}) {
    srd_options<3> options = cube<3>(20, row.time_step);
    options.rotation_angle = row.angle;
    const srd_transport with = srd_theory(options, row.number);
    EXPECT_NEAR(with.viscosity_with_thermostat / row.viscosity, 1, 0.006);
    options.thermostat = false;
    const srd_transport without = srd_theory(options, row.number);
    EXPECT_EQ(without.viscosity, with.viscosity);
    EXPECT_EQ(without.viscosity_with_thermostat, without.viscosity);
  }
  srd_options<2> many = cube<2>(20, 0.6);
  many.rotation_angle = 90;
  double before = 1;
  for (const double number : {1.0, 10.0, 1e3, 9e5, 1e300}) {
    const srd_transport found = srd_theory(many, number);
    const double added = found.viscosity_with_thermostat - found.viscosity;
    EXPECT_LT(added, before) << number;
    EXPECT_GE(added, 0) << number;
    before = std::max(added, 1e-300);
  }
}

TEST(srd_theory_of_the_fluid, knows_the_long_time_tails_of_two_dimensions) {
  srd_options<2> options = cube<2>(24, 0.6);
  options.rotation_angle = 90;
  options.thermostat = false;
  const double viscosity = srd_theory(options, 8).viscosity;
  EXPECT_NEAR(viscosity, 0.1644, 1e-4);
  EXPECT_NEAR(srd_long_time_tail(options, 8, 24), std::log(6) / (16 * std::numbers::pi * 8 * viscosity), 1e-12);
  EXPECT_EQ(srd_long_time_tail(options, 8, 3), 0) << "shorter than any vortex";
  EXPECT_EQ(srd_long_time_tail(cube<3>(24), 8, 24), 0);
  EXPECT_EQ(error_of<argument_error>([&] { static_cast<void>(srd_long_time_tail(options, 8, 0)); }),
            "the length is 0; it must be positive and finite");
}

/// nu = [a^2 / h] f(kT h^2 / (m a^2)).
TEST(srd_theory_of_the_fluid, keeps_to_units) {
  srd_options<2> options = cube<2>(20, 0.5);
  const srd_transport one = srd_theory(options, 8);
  options.cell_edge = 3;
  options.time_step = 2;
  options.mass = 5;
  options.temperature = 5 * 9.0 / 16;
  const srd_transport other = srd_theory(options, 8);
  EXPECT_NEAR(other.viscosity / one.viscosity, 9.0 / 4, 1e-12);
  EXPECT_NEAR(other.viscosity_with_thermostat / one.viscosity_with_thermostat, 9.0 / 4, 1e-12);
  EXPECT_NEAR(other.self_diffusion / one.self_diffusion, 9.0 / 4, 1e-12);
  EXPECT_EQ(error_of<argument_error>([&] { static_cast<void>(srd_theory(options, 0)); }),
            "there are 0 particles a cell; the number must be positive and finite");
}

}  // namespace

}  // namespace quadrat::test
