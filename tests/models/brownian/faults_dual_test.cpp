// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "models/brownian/support.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/brownian.hpp"
#include "support/errors.hpp"

// Impossible options and data, and runs that blow up.

namespace quadrat::test {

namespace {

class brownian_faults : public backend_test {};

using brownian_in_double = brownian<backend_context, double>;

[[nodiscard]] std::string brownian_refusal(const std::function<void(brownian_options&)>& spoil) {
  brownian_options options = suspension(8, 0.1);
  const auto start = brownian_positions(options, brownian_start::lattice, 8);
  spoil(options);
  return error_of<argument_error>([&] { const brownian_in_double simulation(brownian_context(), options, start); });
}

TEST_F(brownian_faults, impossible_options_are_refused_by_name_and_value) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  expect_words(brownian_refusal([&](auto& o) { o.box[1] = 0; }), {"box", "0", "positive"});
  expect_words(brownian_refusal([&](auto& o) { o.box[1] = nan; }), {"box", "nan"});
  expect_words(brownian_refusal([&](auto& o) { o.radius = -1; }), {"radius", "-1"});
  expect_words(brownian_refusal([&](auto& o) { o.viscosity = infinity; }), {"viscosity", "inf"});
  expect_words(brownian_refusal([&](auto& o) { o.temperature = -0.5; }), {"temperature", "-0.5"});
  expect_words(brownian_refusal([&](auto& o) { o.time_step = 0; }), {"time step", "0"});
  expect_words(brownian_refusal([&](auto& o) { o.force[2] = nan; }), {"force", "nan"});
  expect_words(brownian_refusal([&](auto& o) { o.repulsion = -1; }), {"repulsion", "-1"});
  expect_words(brownian_refusal([&](auto& o) { o.spring = nan; }), {"springs", "nan"});
  expect_words(brownian_refusal([&](auto& o) { o.method = "splt"; }), {"splt", "split"});
  expect_words(brownian_refusal([&](auto& o) { o.accuracy = 0; }), {"accuracy"});
  expect_words(brownian_refusal([&](auto& o) { o.bonds = {{1, 8}}; }), {"bond", "8"});
  expect_words(brownian_refusal([&](auto& o) { o.bonds = {{3, 3}}; }), {"bond", "3", "itself"});
  expect_words(brownian_refusal([&](auto& o) {
                 o.repulsion = 1;
                 o.repulsion_range = 1e3;
               }),
               {"cutoff", "half"});
  expect_words(brownian_refusal([&](auto& o) { o.time_step = 1e-30; }), {"time step 1e-30", "longer"});
  const auto canonical = [] {
    const brownian_in_double simulation(brownian_context(determinism::canonical), brownian_options{}, {});
  };
  expect_words(error_of<argument_error>(canonical), {"canonical", "run_to_run"});
}

TEST_F(brownian_faults, a_position_that_is_not_finite_is_named) {
  const brownian_options options = suspension(8, 0.1);
  auto start = brownian_positions(options, brownian_start::lattice, 8);
  start[5][1] = std::numeric_limits<double>::quiet_NaN();
  expect_words(error_of<data_error>([&] { const brownian_in_double simulation(brownian_context(), options, start); }),
               {"sphere 5", "not finite"});
}

TEST_F(brownian_faults, any_image_of_a_position_will_do) {
  const brownian_options options = suspension(8, 0.1);
  auto start = brownian_positions(options, brownian_start::lattice, 8);
  brownian_in_double simulation(brownian_context(), options, start);
  start[3][0] += 7 * options.box[0];
  start[4][2] -= 3 * options.box[2];
  brownian_in_double moved(brownian_context(), options, start);
  for (std::size_t i = 0; i < 8; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(moved.positions()[i][axis], simulation.positions()[i][axis], 1e-12);
    }
  }
}

TEST_F(brownian_faults, a_run_that_blows_up_names_step_and_sphere_and_can_be_restored) {
  for (const brownian_scheme scheme : {brownian_scheme::euler_maruyama, brownian_scheme::midpoint}) {
    brownian_options options = suspension(8, 0.1);
    options.scheme = scheme;
    options.method = "free";
    options.temperature = 0;
    options.spring = 1e4;
    options.spring_length = 4;
    options.bonds = {{2, 6}};
    const auto start = brownian_positions(options, brownian_start::lattice, 8);
    brownian_in_double simulation(brownian_context(), options, start);
    const auto state = simulation.state();
    simulation.advance(50);
    expect_words(error_of<data_error>([&] { simulation.check(); }), {"blew up in step", "sphere 2", "time step"});
    expect_words(error_of<data_error>([&] { static_cast<void>(simulation.measure()); }), {"blew up"});
    simulation.restore(state);
    simulation.check();
    EXPECT_TRUE(simulation.positions() == state.positions);
  }
}

TEST_F(brownian_faults, states_that_do_not_fit_are_refused) {
  const brownian_options options = suspension(8, 0.1);
  brownian_in_double simulation(brownian_context(), options, brownian_positions(options, brownian_start::lattice, 8));
  auto state = simulation.state();
  state.images.pop_back();
  expect_words(error_of<argument_error>([&] { simulation.restore(state); }), {"7 images", "8 spheres"});
  state = simulation.state();
  state.positions[2][0] = options.box[0];
  expect_words(error_of<data_error>([&] { simulation.restore(state); }), {"position of sphere 2", "not in the box"});
  state = simulation.state();
  state.origins[2][0] = std::numeric_limits<double>::infinity();
  expect_words(error_of<data_error>([&] { simulation.restore(state); }), {"origin of sphere 2"});
}

TEST_F(brownian_faults, a_force_must_be_there) {
  const brownian_options options = suspension(8, 0.1);
  brownian_in_double simulation(brownian_context(), options, brownian_positions(options, brownian_start::lattice, 8));
  expect_words(error_of<argument_error>([&] { simulation.add_force(nullptr); }), {"null"});
}

}  // namespace

}  // namespace quadrat::test
