// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/electrolyte/support.hpp"
#include "reference/electrolyte.hpp"

// Steps, compared with a plain serial model; repeated, stopped and continued runs.

namespace quadrat::test {

namespace {

template <typename T>
class electrolyte_step_of : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(electrolyte_step_of, precisions);

/// The reference restarts from every state, so that rounding does not accumulate.
template <typename T>
void follow(const electrolyte_options& options, int steps) {
  auto simulation = started<T>(options);
  const double bound = sizeof(T) == 4 ? 3e-5 : 1e-8;
  for (int step = 0; step < steps; ++step) {
    const electrolyte_state<T> before = simulation.state();
    reference::electrolyte_system system;
    for (std::size_t i = 0; i < simulation.size(); ++i) {
      system.positions.push_back(cast<double>(before.positions[i]));
      system.velocities.push_back(cast<double>(before.velocities[i]));
    }
    reference::electrolyte_step(options, before.step, system);
    simulation.advance(1);
    const electrolyte_state<T> after = simulation.state();
    EXPECT_EQ(after.step, before.step + 1);
    for (std::size_t i = 0; i < simulation.size(); ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        const double d = static_cast<double>(after.positions[i][axis]) - system.positions[i][axis];
        ASSERT_NEAR(d - options.box[axis] * std::round(d / options.box[axis]), 0, bound) << step << " ion " << i;
        ASSERT_NEAR(after.velocities[i][axis], system.velocities[i][axis], bound) << step << " ion " << i;
        ASSERT_GE(after.positions[i][axis], 0);
        ASSERT_LT(after.positions[i][axis], options.box[axis]);
      }
    }
  }
}

TYPED_TEST(electrolyte_step_of, is_that_of_the_reference) {
  electrolyte_options options = mixed_ions();
  options.accuracy = sizeof(TypeParam) == 4 ? 1e-5 : 1e-9;
  follow<TypeParam>(options, 3);
  options.dynamics = electrolyte_dynamics::verlet;
  options.equilibration = 2;
  follow<TypeParam>(options, 4);
  options.background = true;
  options.species[0].charge = 1.7;
  options.time_step = 0.001;
  follow<TypeParam>(options, 2);
}

TYPED_TEST(electrolyte_step_of, measures_what_the_reference_finds) {
  electrolyte_options options = mixed_ions();
  options.accuracy = sizeof(TypeParam) == 4 ? 1e-5 : 1e-9;
  auto simulation = started<TypeParam>(options);
  simulation.advance(20);
  const auto state = simulation.state();
  std::vector<vec<double, 3>> positions;
  for (const auto& x : state.positions) positions.push_back(cast<double>(x));
  const reference::electrolyte_forces expected = reference::electrolyte_forces_of(options, positions);
  const electrolyte_statistics found = simulation.measure();
  const double bound = sizeof(TypeParam) == 4 ? 1e-4 : 1e-7;
  const auto masses = reference::electrolyte_values(options, &ion_species::mass);
  double energy = 0, mass = 0;
  vec<double, 3> momentum{};
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const auto v = cast<double>(state.velocities[i]);
    energy += masses[i] * squared_norm(v) / 2;
    momentum += v * masses[i];
    mass += masses[i];
  }
  const double count = static_cast<double>(masses.size()), volume = options.box[0] * options.box[1] * options.box[2];
  const double temperature = (2 * energy - squared_norm(momentum) / mass) / (3 * count - 3);
  EXPECT_NEAR(found.kinetic_energy, energy, bound * energy);
  EXPECT_NEAR(found.coulomb_energy, expected.coulomb_energy, bound * count);
  EXPECT_NEAR(found.repulsion_energy, expected.repulsion_energy, bound * count);
  EXPECT_NEAR(found.temperature, temperature, bound);
  EXPECT_NEAR(found.pressure, (count * temperature + expected.virial / 3) / volume, bound * count / volume);
  EXPECT_EQ(found.total_energy, found.kinetic_energy + found.potential_energy);
  EXPECT_EQ(found.step, 20u);
  const auto forces = simulation.forces();
  for (std::size_t i = 0; i < masses.size(); ++i) {
    ASSERT_LT(norm(cast<double>(forces[i]) - expected.all[i]), 10 * bound * (1 + norm(expected.all[i]))) << i;
  }
}

TYPED_TEST(electrolyte_step_of, has_the_same_bits_with_any_threads_and_any_calls) {
  const electrolyte_options options = mixed_ions();
  auto first = started<TypeParam>(options, context_at(determinism::run_to_run));
  first.advance(40);
  const auto expected = first.state();
  const auto measured = first.measure();
  for (const int threads : {1, 2, 3}) {
    auto simulation = started<TypeParam>(options, context_at(determinism::run_to_run, threads));
    for (const std::size_t steps : {1, 18, 0, 21}) {
      simulation.advance(steps);
      static_cast<void>(simulation.measure());
      static_cast<void>(simulation.forces());
    }
    expect_same(simulation.state(), expected, std::to_string(threads));
    EXPECT_EQ(simulation.measure().total_energy, measured.total_energy);
    EXPECT_EQ(simulation.measure().pressure, measured.pressure);
  }
}

TYPED_TEST(electrolyte_step_of, goes_on_from_a_state_with_the_same_bits) {
  electrolyte_options options = mixed_ions();
  options.dynamics = electrolyte_dynamics::verlet;
  options.equilibration = 25;  // inside the part that is repeated
  const backend_context context = context_at(determinism::run_to_run);
  auto simulation = started<TypeParam>(options, context);
  simulation.advance(17);
  const auto halfway = simulation.state();
  simulation.advance(20);
  const auto expected = simulation.state();
  for (const std::size_t before : {0, 3}) {
    auto other = started<TypeParam>(options, context);
    other.advance(before);
    other.restore(halfway);
    expect_same(other.state(), halfway, "restored");
    EXPECT_EQ(other.step(), 17u);
    other.advance(20);
    expect_same(other.state(), expected, "continued");
  }
}

}  // namespace

}  // namespace quadrat::test
