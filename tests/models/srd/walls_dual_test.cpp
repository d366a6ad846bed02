// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include "models/srd/support.hpp"

// Solid walls: single particles that bounce back, and flows.

namespace quadrat::test {

namespace {

class srd_walls : public backend_test {};

template <typename Kind>
class srd_ghosts_of : public backend_test {};
TYPED_TEST_SUITE(srd_ghosts_of, srd_kinds);

/// One particle between walls along y, in cells without ghosts.
[[nodiscard]] srd_options<2> bare_channel() {
  srd_options<2> options = cube<2>(4, 1);
  options.periodic[1] = false;
  options.particles_per_cell = 1e-9;
  return options;
}

[[nodiscard]] srd_state<double, 2> flown(const srd_options<2>& options, const vec<double, 2>& position,
                                         const vec<double, 2>& velocity, std::size_t steps = 1) {
  srd_particles<2> one;
  one.positions = {position};
  one.velocities = {velocity};
  srd<backend_context, double, 2> simulation(srd_context(), options, one);
  simulation.advance(steps);
  return simulation.state();
}

void expect_at(const srd_state<double, 2>& state, const vec<double, 2>& position, const vec<double, 2>& velocity) {
  for (int axis = 0; axis < 2; ++axis) {
    EXPECT_NEAR(state.positions[0][axis], position[axis], 1e-12) << axis;
    EXPECT_NEAR(state.velocities[0][axis], velocity[axis], 1e-12) << axis;
  }
}

TEST_F(srd_walls, turn_a_particle_back_on_its_way) {
  // Half a step to the wall, half a step back.
  expect_at(flown(bare_channel(), {1, 0.5}, {0.4, -1}), {1, 0.5}, {-0.4, 1});
  expect_at(flown(bare_channel(), {1, 3.5}, {0.4, 2}), {0.8, 2.5}, {-0.4, -2});
  // Three walls in sequence.
  expect_at(flown(bare_channel(), {1, 2}, {0.55, 11}), {1.05, 3}, {-0.55, -11});
}

TEST_F(srd_walls, that_move_take_a_particle_along) {
  srd_options<2> options = bare_channel();
  options.wall_velocity[1][0] = {0.25, 0};
  expect_at(flown(options, {1, 0.5}, {0.4, -1}), {1.25, 0.5}, {0.1, 1});
}

TEST_F(srd_walls, are_met_by_the_parabola_of_a_force) {
  srd_options<2> options = bare_channel();
  options.acceleration = {0.8, 0};
  // To the wall: x + 0.4 0.5 + 0.8 0.125, v = 0.8; back: - 0.8 0.5 + 0.1, v = -0.8 + 0.4.
  expect_at(flown(options, {1, 0.5}, {0.4, -1}), {1.0, 0.5}, {-0.4, 1});
}

TEST_F(srd_walls, hold_a_particle_that_a_force_presses_on_them) {
  srd_options<2> options = bare_channel();
  options.acceleration = {0, -0.7};
  const srd_state<double, 2> state = flown(options, {1, 0.5}, {0, 0}, 500);
  EXPECT_GE(state.positions[0][1], 0);
  EXPECT_LE(state.positions[0][1], 0.6);
  EXPECT_LE(std::fabs(state.velocities[0][1]), 1.5);
}

/// Mean velocities along x in 8 slices across the channel, averaged over `samples` snapshots; at mid-step.
template <int D>
[[nodiscard]] std::vector<double> mean_flow(const srd_options<D>& options, const srd_particles<D>& start, int warm_up,
                                            int samples) {
  srd<backend_context, float, D> simulation(one_thread_context(), options, start);
  simulation.advance(static_cast<std::size_t>(warm_up));
  std::vector<double> flow(static_cast<std::size_t>(options.cells[1]), 0);
  for (int sample = 0; sample < samples; ++sample) {
    simulation.advance(3);
    const auto profile = simulation.velocity_profile(1, options.cells[1]);
    for (std::size_t bin = 0; bin < flow.size(); ++bin) {
      flow[bin] += (profile[bin].velocity[0] - options.acceleration[0] * options.time_step / 2) / samples;
    }
  }
  return flow;
}

/// u(y) = g y (L - y) / (2 nu). The run starts with that profile, so that it can be short.
TEST_F(srd_walls, make_the_parabola_of_poiseuille) {
  srd_options<3> options = cube<3>(10);
  options.cells[1] = 20;
  options.periodic[1] = false;
  options.acceleration[0] = 0.01;
  const double viscosity = srd_theory(options, 10).viscosity;
  const auto parabola = [&](double y) { return 0.01 / (2 * viscosity) * y * (20 - y); };
  srd_particles<3> start = srd_start(options, 20'000);
  for (std::size_t i = 0; i < start.positions.size(); ++i) start.velocities[i][0] += parabola(start.positions[i][1]);
  const std::vector<double> flow = mean_flow(options, start, 30, static_cast<int>(size_or(100, 3)));
  double above = 0;
  double below = 0;
  const double bound = small_sizes() ? 0.3 : 0.04;
  for (std::size_t bin = 0; bin < flow.size(); ++bin) {
    const double expected = parabola(static_cast<double>(bin) + 0.5);
    above += flow[bin] * expected;
    below += expected * expected;
    EXPECT_NEAR(flow[bin], expected, bound * parabola(10)) << bin;
  }
  EXPECT_NEAR(above / below, 1, bound * 0.75);
}

/// Without ghosts the cells at walls would let the fluid slip.
TEST_F(srd_walls, shear_the_fluid_between_them_evenly) {
  srd_options<2> options = cube<2>(10);
  options.cells[0] = 60;
  options.periodic[1] = false;
  options.wall_velocity[1][0][0] = -0.5;
  options.wall_velocity[1][1][0] = 0.5;
  srd_particles<2> start = srd_start(options, 6000);
  for (std::size_t i = 0; i < start.positions.size(); ++i) {
    start.velocities[i][0] += start.positions[i][1] / 10 - 0.5;
  }
  const std::vector<double> flow = mean_flow(options, start, 20, static_cast<int>(size_or(300, 3)));
  const double bound = small_sizes() ? 0.2 : 0.03;
  for (std::size_t bin = 0; bin < flow.size(); ++bin) {
    EXPECT_NEAR(flow[bin], (static_cast<double>(bin) + 0.5) / 10 - 0.5, bound) << bin;
  }
}

/// Half a ghost in every cell with one particle, none in other cells.
TYPED_TEST(srd_ghosts_of, that_are_less_than_one_do_not_cool_the_fluid) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  srd_options<dimension> options = cube<dimension>(1);
  options.cells[0] = 1000;
  options.periodic[1] = false;
  options.particles_per_cell = 1.5;
  srd<backend_context, value_type, dimension> simulation(one_thread_context(), options, srd_start(options, 1000));
  const int samples = static_cast<int>(size_or(60, 10));
  double temperature = 0;
  for (int sample = 0; sample < samples; ++sample) {
    simulation.advance(3);
    temperature += 2 * simulation.measure().kinetic_energy / (1000.0 * dimension * samples);
  }
  EXPECT_NEAR(temperature, 1, small_sizes() ? 0.1 : 0.04);
}

}  // namespace

}  // namespace quadrat::test
