// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include "models/srd/support.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// Temperature, distributions, viscosity.

namespace quadrat::test {

namespace {

template <typename Kind>
class srd_physics_of : public backend_test {};
TYPED_TEST_SUITE(srd_physics_of, srd_kinds);

TYPED_TEST(srd_physics_of, has_the_temperature_of_the_thermostat_after_a_few_steps) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  srd_options<dimension> options = cube<dimension>(dimension == 2 ? 30 : 9, 0.5);
  options.mass = 4;
  options.temperature = 3;
  srd_particles<dimension> start = srd_start(options, 6000);
  for (auto& velocity : start.velocities) velocity = velocity * 2.0;
  srd<backend_context, value_type, dimension> simulation(one_thread_context(), options, start);
  EXPECT_NEAR(simulation.measure().temperature, 12, 0.6);
  simulation.advance(5);
  const int samples = static_cast<int>(size_or(20, 4));
  double temperature = 0;
  double second = 0;
  double fourth = 0;
  for (int sample = 0; sample < samples; ++sample) {
    simulation.advance(2);
    temperature += simulation.measure().temperature / samples;
    for (const auto& velocity : simulation.velocities()) {
      for (int axis = 0; axis < dimension; ++axis) {
        const double square = static_cast<double>(velocity[axis]) * static_cast<double>(velocity[axis]) * 4 / 3;
        second += square / (6000.0 * dimension * samples);
        fourth += square * square / (6000.0 * dimension * samples);
      }
    }
  }
  EXPECT_NEAR(temperature, 3, 0.05);
  // Maxwell-Boltzmann, in units of kT / m.
  EXPECT_NEAR(second, 1, 0.04);
  EXPECT_NEAR(fourth, 3, 0.25);
}

/// One cell of 5 particles: the energy relative to its mean is drawn again in each step.
TYPED_TEST(srd_physics_of, draws_the_energy_of_a_cell_from_the_gamma_distribution) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  const srd_options<dimension> options = cube<dimension>(1, 0.3);
  srd<backend_context, value_type, dimension> simulation(one_thread_context(), options, srd_start(options, 5));
  const int samples = static_cast<int>(size_or(4000, 200));
  double mean = 0;
  double square = 0;
  for (int sample = 0; sample < samples; ++sample) {
    simulation.advance(1);
    const double energy = simulation.measure().kinetic_energy;
    mean += energy / samples;
    square += energy * energy / samples;
  }
  const double shape = dimension * 4 / 2.0;
  const double spread = 5 / std::sqrt(static_cast<double>(samples));
  EXPECT_NEAR(mean / shape, 1, spread / std::sqrt(shape));
  EXPECT_NEAR((square - mean * mean) / shape, 1, spread * std::sqrt(2 + 6 / shape));
}

TYPED_TEST(srd_physics_of, brings_solutes_to_its_temperature) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  const srd_options<dimension> options = cube<dimension>(dimension == 2 ? 20 : 8, 0.5);
  const std::vector<double> masses(500, 10);
  srd_particles<dimension> start = srd_start<dimension>(options, 3000, masses);
  for (std::size_t i = 3000; i < 3500; ++i) start.velocities[i] = {};
  srd<backend_context, value_type, dimension> simulation(one_thread_context(), options, start);
  simulation.advance(60);
  const int samples = static_cast<int>(size_or(20, 4));
  double temperature = 0;
  for (int sample = 0; sample < samples; ++sample) {
    simulation.advance(5);
    const auto velocities = simulation.velocities();
    for (std::size_t i = 3000; i < 3500; ++i) {
      temperature += 10 * squared_norm(cast<double>(velocities[i])) / (500.0 * dimension * samples);
    }
  }
  EXPECT_NEAR(temperature, 1, 0.1);
}

class srd_viscosity_of_the_fluid : public backend_test {};

[[nodiscard]] srd_viscosity viscosity_of(double number, double angle, double time_step, std::size_t runs) {
  srd_options<3> options = cube<3>(20, time_step);
  options.rotation_angle = angle;
  if (small_sizes()) options.cells = {3, 20, 3};
  srd_viscosity_protocol protocol;
  protocol.runs = runs;
  return measure_viscosity<backend_context, float, 3>(one_thread_context(), options, number, protocol);
}

// One run of 20^3 cells determines the viscosity to 2.5 % with 10 particles per cell, and to 3.6 % with 5.

TEST_F(srd_viscosity_of_the_fluid, is_that_of_theory_for_long_steps) {
  const srd_viscosity found = viscosity_of(10, 130, 1, size_or(6, 2));
  EXPECT_NEAR(found.mean, 0.568, small_sizes() ? 0.5 : 0.03 * 0.568) << found.standard_error;
  EXPECT_GT(found.standard_error, 0);
}

TEST_F(srd_viscosity_of_the_fluid, is_that_of_theory_for_a_right_angle) {
  const srd_viscosity found = viscosity_of(5, 90, 1, size_or(10, 2));
  EXPECT_NEAR(found.mean, 0.595, small_sizes() ? 0.5 : 0.04 * 0.595) << found.standard_error;
}

TEST_F(srd_viscosity_of_the_fluid, is_that_of_theory_for_short_steps) {
  const srd_viscosity found = viscosity_of(10, 130, 0.1, 1);
  EXPECT_NEAR(found.mean, 0.840, small_sizes() ? 0.8 : 0.08 * 0.840);
  EXPECT_EQ(found.standard_error, 0);
}

// In 2D the theory of molecular chaos, 0.164, is far too low: 0.191 without the thermostat, 0.214 with it. A run
// determines it to 13 %.
TEST_F(srd_viscosity_of_the_fluid, has_long_time_tails_in_two_dimensions) {
  srd_options<2> options = cube<2>(24, 0.6);
  options.rotation_angle = 90;
  srd_viscosity_protocol protocol;
  protocol.runs = size_or(60, 2);
  for (const bool thermostat : {false, true}) {
    options.thermostat = thermostat;
    const srd_transport theory = srd_theory(options, 8);
    const double expected = theory.viscosity_with_thermostat + srd_long_time_tail(options, 8, 24);
    EXPECT_NEAR(expected, thermostat ? 0.2105 : 0.1915, 1e-3);
    const auto found = measure_viscosity<backend_context, float, 2>(one_thread_context(), options, 8, protocol);
    EXPECT_NEAR(found.mean / expected, 1, small_sizes() ? 0.6 : 0.08) << found.standard_error;
  }
}

TEST_F(srd_viscosity_of_the_fluid, is_refused_where_it_cannot_be_measured) {
  srd_options<3> options = cube<3>(5);
  const auto refusal = [&](const srd_viscosity_protocol& protocol) {
    return error_of<argument_error>([&] {
      static_cast<void>(measure_viscosity<backend_context, float, 3>(one_thread_context(), options, 5, protocol));
    });
  };
  srd_viscosity_protocol protocol;
  protocol.runs = 0;
  EXPECT_EQ(refusal(protocol), "a viscosity is measured in 1 run or more, not 0");
  protocol = {};
  protocol.last = 0.05;
  EXPECT_EQ(refusal(protocol),
            "the decay is to be measured from 0.1 to 0.05; the first must not be negative, and the last above it and "
            "below 100");
  options.periodic[2] = false;
  EXPECT_EQ(refusal({}), "a viscosity is measured in a box that is periodic along every axis");
}

}  // namespace

}  // namespace quadrat::test
