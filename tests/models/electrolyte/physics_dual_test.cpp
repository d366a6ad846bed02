// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "models/electrolyte/support.hpp"

// Conserved quantities, and what the thermostat must give.

namespace quadrat::test {

namespace {

class electrolyte_physics : public backend_test {};

/// The largest deviation of the energy from its first value, over a time of 1.
double energy_error(const electrolyte_options& options, const electrolyte_state<double>& from, double time_step) {
  electrolyte_options here = options;
  here.time_step = time_step;
  auto simulation = started<double>(here, few_ions_context());
  simulation.restore({0, from.positions, from.velocities});
  const double first = simulation.measure().total_energy;
  double sum = 0;
  const int steps = static_cast<int>(std::lround(1 / time_step));
  for (int step = 0; step < steps; ++step) {
    simulation.advance(1);
    const double off = simulation.measure().total_energy - first;
    sum += off * off;
  }
  return std::sqrt(sum / steps);
}

TEST_F(electrolyte_physics, verlet_keeps_the_energy_to_second_order) {
  electrolyte_options options = simple_ions(size_or(100, 20), 0.1, 1.68);
  options.accuracy = 1e-6;
  auto warm = started<double>(options, few_ions_context());
  warm.advance(400);
  options.dynamics = electrolyte_dynamics::verlet;
  const auto from = warm.state();
  const double coarse = energy_error(options, from, 0.01), fine = energy_error(options, from, 0.005),
               finest = energy_error(options, from, 0.0025);
  EXPECT_LT(coarse, 0.01 * static_cast<double>(warm.size()));
  // Steps of half the length: a quarter of the error.
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.5) << coarse << " " << fine;
  EXPECT_NEAR(std::log2(fine / finest), 2, 0.5) << fine << " " << finest;
}

TEST_F(electrolyte_physics, verlet_keeps_the_momentum) {
  electrolyte_options options = mixed_ions();
  options.dynamics = electrolyte_dynamics::verlet;
  auto exact = started<double>(options);
  auto rounded = started<float>(options);
  exact.advance(200);
  rounded.advance(200);
  EXPECT_LT(norm(exact.measure().momentum), 1e-10);
  EXPECT_LT(norm(rounded.measure().momentum), 1e-3);
}

/// Ions of all kinds have the same temperature along all axes, which is that of the thermostat.
TEST_F(electrolyte_physics, langevin_has_the_temperature_in_all_kinds_and_axes) {
  electrolyte_options options = mixed_ions(40);
  options.box = {9, 10, 11};
  options.temperature = 1.3;
  options.friction = 4;
  options.time_step = 0.004;
  auto simulation = started<float>(options, few_ions_context());
  simulation.advance(500);
  const int samples = static_cast<int>(size_or(250, 50));
  std::vector<vec<double, 3>> of_kind(options.species.size());
  double mean = 0;
  for (int sample = 0; sample < samples; ++sample) {
    simulation.advance(20);
    const auto velocities = simulation.velocities();
    std::size_t i = 0;
    for (std::size_t kind = 0; kind < of_kind.size(); ++kind) {
      const ion_species& it = options.species[kind];
      for (std::size_t k = 0; k < it.count; ++k, ++i) {
        for (int axis = 0; axis < 3; ++axis) {
          const double v = velocities[i][axis];
          of_kind[kind][axis] += it.mass * v * v / static_cast<double>(it.count) / samples;
        }
      }
    }
    mean += simulation.measure().temperature / samples;
  }
  // Velocities 20 steps apart are correlated by exp(-0.32), and their squares by exp(-0.64): a mean of n squares
  // scatters by about sqrt(2 / n * 3.2); five of those.
  const auto scatter = [&](double numbers) { return 5 * 1.3 * std::sqrt(2 * 3.2 / (numbers * samples)); };
  EXPECT_NEAR(mean, 1.3, scatter(3 * static_cast<double>(simulation.size())));
  for (std::size_t kind = 0; kind < of_kind.size(); ++kind) {
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(of_kind[kind][axis], 1.3, scatter(static_cast<double>(options.species[kind].count)))
          << kind << " " << axis;
    }
  }
}

/// Debye and Hueckel: the energy of a dilute electrolyte is -kappa l / 2 (1 + kappa s) kT an ion, with the Bjerrum
/// length l, the diameter s, and kappa^2 = 4 pi l times the number of ions per volume.
TEST_F(electrolyte_physics, a_dilute_electrolyte_has_the_energy_of_debye_and_hueckel) {
  electrolyte_options options = simple_ions(size_or(100, 30), 0.005, 1);
  options.friction = 0.5;
  options.time_step = 0.01;
  auto simulation = started<float>(options, few_ions_context());
  simulation.advance(1000);
  double energy = 0;
  const int samples = static_cast<int>(size_or(100, 10));
  for (int sample = 0; sample < samples; ++sample) {
    simulation.advance(30);
    energy += simulation.measure().coulomb_energy / static_cast<double>(simulation.size()) / samples;
  }
  const double kappa = std::sqrt(4 * std::numbers::pi * 0.005);
  const double expected = -kappa / 2 / (1 + kappa);
  EXPECT_NEAR(energy / expected, 1, small_sizes() ? 0.5 : 0.1) << energy << " " << expected;
}

}  // namespace

}  // namespace quadrat::test
