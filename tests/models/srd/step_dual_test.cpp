// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "models/srd/support.hpp"
#include "reference/srd.hpp"

// Steps, compared with a plain serial model particle by particle, and conserved quantities.

namespace quadrat::test {

namespace {

template <typename Kind>
class srd_step_of : public backend_test {};
TYPED_TEST_SUITE(srd_step_of, srd_kinds);

/// The distance of two positions, possibly on a periodic axis of this length.
[[nodiscard]] double distance(double a, double b, double length, bool periodic) {
  const double d = std::fabs(a - b);
  return periodic ? std::min(d, std::fabs(length - d)) : d;
}

/// The tolerance between two computations of a step. Fixed sums hold about 12 digits.
template <typename T>
[[nodiscard]] double rounding(srd_sums sums) {
  const double floating = 2000 * static_cast<double>(std::numeric_limits<T>::epsilon());
  return sums == srd_sums::fixed ? std::max(floating, 1e-10) : floating;
}

/// The reference restarts from every state, so that rounding does not accumulate.
template <typename T, int D>
void follow(const srd_options<D>& asked, const srd_particles<D>& start, int steps, const std::string& what) {
  const determinism level = asked.sums == srd_sums::floating ? determinism::none : determinism::run_to_run;
  srd<backend_context, T, D> simulation(srd_context(level), asked, start);
  const srd_options<D> options = simulation.options();
  const std::vector<double> masses = masses_of(options, start);
  const double bound = rounding<T>(options.sums);
  for (int step = 0; step < steps; ++step) {
    const srd_state<T, D> before = simulation.state();
    simulation.advance(1);
    const srd_state<T, D> after = simulation.state();
    std::vector<vec<double, D>> velocities;
    double worst = 0;
    for (std::size_t i = 0; i < masses.size(); ++i) {
      vec<double, D> x = cast<double>(before.positions[i]);
      vec<double, D> v = cast<double>(before.velocities[i]);
      reference::srd_stream(options, options.time_step, x, v);
      velocities.push_back(v);
      for (int axis = 0; axis < D; ++axis) {
        const double size = options.cells[axis] * options.cell_edge;
        if (options.periodic[axis]) x[axis] -= size * std::floor(x[axis] / size);
        worst = std::max(worst, distance(x[axis], after.positions[i][axis], size, options.periodic[axis]));
      }
    }
    ASSERT_LE(worst, bound) << what << ", positions, step " << step;
    reference::srd_collide<T, D>(options, masses, before.step, after.positions, velocities);
    for (std::size_t i = 0; i < masses.size(); ++i) {
      for (int axis = 0; axis < D; ++axis) {
        ASSERT_NEAR(after.velocities[i][axis], velocities[i][axis], bound)
            << what << ", step " << step << ", particle " << i;
      }
    }
  }
}

/// About five particles per cell.
template <int D>
[[nodiscard]] srd_particles<D> some(const srd_options<D>& options, std::span<const double> solute_masses = {}) {
  std::size_t cells = 1;
  for (int axis = 0; axis < D; ++axis) cells *= static_cast<std::size_t>(options.cells[axis]);
  return srd_start(options, 5 * cells, solute_masses);
}

TYPED_TEST(srd_step_of, is_that_of_the_reference_in_a_periodic_box) {
  constexpr int dimension = TypeParam::dimension;
  for (const bool thermostat : {false, true}) {
    for (const double time_step : {0.1, 1.0, 7.0}) {
      srd_options<dimension> options = cube<dimension>(6, time_step);
      options.cells[0] = 9;
      options.thermostat = thermostat;
      options.acceleration[1] = 0.1;
      follow<typename TypeParam::value_type>(options, some(options), 3, thermostat ? "thermostat" : "plain");
    }
  }
}

TYPED_TEST(srd_step_of, is_that_of_the_reference_between_walls) {
  constexpr int dimension = TypeParam::dimension;
  for (const bool thermostat : {false, true}) {
    srd_options<dimension> options = channel<dimension>(6);
    options.thermostat = thermostat;
    follow<typename TypeParam::value_type>(options, some(options), 4, "channel");
    options.wall_velocity = {};
    options.periodic[0] = false;
    options.acceleration = {};
    options.particles_per_cell = 7.25;
    follow<typename TypeParam::value_type>(options, some(options), 4, "corners");
  }
}

TYPED_TEST(srd_step_of, is_that_of_the_reference_with_solutes) {
  constexpr int dimension = TypeParam::dimension;
  const std::vector<double> masses{10, 0.5, 3, 100, 2.5};
  for (const bool thermostat : {false, true}) {
    srd_options<dimension> options = channel<dimension>(5);
    options.thermostat = thermostat;
    follow<typename TypeParam::value_type>(options, some<dimension>(options, masses), 4, "solutes");
  }
}

TYPED_TEST(srd_step_of, is_that_of_the_reference_with_floating_sums) {
  constexpr int dimension = TypeParam::dimension;
  srd_options<dimension> options = channel<dimension>(6);
  options.sums = srd_sums::floating;
  const std::vector<double> masses{10, 0.5};
  follow<typename TypeParam::value_type>(options, some<dimension>(options, masses), 4, "floating");
}

TYPED_TEST(srd_step_of, is_that_of_the_reference_in_boxes_of_one_cell) {
  constexpr int dimension = TypeParam::dimension;
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{20}}) {
    srd_options<dimension> options = cube<dimension>(1, 0.5);
    follow<typename TypeParam::value_type>(options, srd_start(options, count), 3, "one cell");
    options.periodic = vec<bool, dimension>::filled(false);
    follow<typename TypeParam::value_type>(options, srd_start(options, count), 3, "one cell with walls");
    options.cells = vec<int, dimension>::filled(4);
    follow<typename TypeParam::value_type>(options, srd_start(options, count), 3, "mostly empty");
  }
}

TYPED_TEST(srd_step_of, conserves_momentum_and_without_thermostat_energy) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  const std::vector<double> masses{10, 0.5, 3};
  srd_options<dimension> options = cube<dimension>(8, 0.3);
  options.thermostat = false;
  srd_particles<dimension> start = srd_start<dimension>(options, size_or(2000, 300), masses);
  for (auto& velocity : start.velocities) velocity[0] += 0.5;
  srd<backend_context, value_type, dimension> simulation(srd_context(), options, start);
  const auto before = simulation.measure();
  simulation.advance(100);
  const auto after = simulation.measure();
  // Each velocity is rounded a few times in every step, either way.
  const double bound = rounding<value_type>(srd_sums::fixed) / 20;
  EXPECT_GT(before.momentum[0], 100);
  EXPECT_NEAR(after.kinetic_energy / before.kinetic_energy, 1, bound);
  for (int axis = 0; axis < dimension; ++axis) {
    EXPECT_NEAR(after.momentum[axis], before.momentum[axis], bound * before.momentum[0]) << axis;
  }
}

/// For a short step, the largest possible speed is far above that of any particle.
TYPED_TEST(srd_step_of, measures_energies_however_short_the_step_is) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  for (const double time_step : {1.0, 1e-4, 1e-7}) {
    const srd_options<dimension> options = cube<dimension>(8, time_step);
    const auto start = srd_start<dimension>(options, 2000);
    srd<backend_context, value_type, dimension> simulation(srd_context(), options, start);
    const auto found = simulation.measure();
    EXPECT_NEAR(found.kinetic_energy, 0.5 * dimension * 1999, 0.01) << time_step;
    EXPECT_NEAR(found.temperature, 1, 0.2) << time_step;
    double wave = 0;
    for (std::size_t i = 0; i < 2000; ++i) {
      wave += start.velocities[i][0] * std::sin(2 * std::numbers::pi / 8 * start.positions[i][1]) / 1000;
    }
    EXPECT_NEAR(simulation.shear_amplitude(), wave, 1e-5) << time_step;
  }
}

TYPED_TEST(srd_step_of, leaves_a_particle_that_is_alone_in_its_cell_as_it_is) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  const srd_options<dimension> options = cube<dimension>(10, 0.25);
  srd_particles<dimension> start;
  start.positions = {vec<double, dimension>::filled(1), vec<double, dimension>::filled(6)};
  start.velocities = {vec<double, dimension>::filled(0.3), vec<double, dimension>::filled(0.3)};
  srd<backend_context, value_type, dimension> simulation(srd_context(), options, start);
  simulation.advance(11);
  const value_type expected = static_cast<value_type>(0.3);
  for (const auto& velocity : simulation.velocities()) {
    EXPECT_EQ(velocity, (vec<value_type, dimension>::filled(expected)));
  }
  EXPECT_NEAR(simulation.positions()[0][0], 1 + 11 * 0.25 * 0.3, 1e-5);
}

TYPED_TEST(srd_step_of, can_be_made_without_particles) {
  constexpr int dimension = TypeParam::dimension;
  srd<backend_context, typename TypeParam::value_type, dimension> simulation(srd_context(), channel<dimension>(3), {});
  simulation.advance(40);
  simulation.check();
  EXPECT_EQ(simulation.step(), 40u);
  EXPECT_EQ(simulation.measure().kinetic_energy, 0);
  EXPECT_EQ(simulation.measure().temperature, 0);
  EXPECT_EQ(simulation.shear_amplitude(), 0);
  EXPECT_TRUE(simulation.positions().empty());
  for (const auto& bin : simulation.velocity_profile(0, 3)) EXPECT_EQ(bin.count, 0u);
}

}  // namespace

}  // namespace quadrat::test
