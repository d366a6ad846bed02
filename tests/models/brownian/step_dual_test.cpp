// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "models/brownian/support.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/models/brownian.hpp"

// One step and the forces, against plain loops; forces of one's own.

namespace quadrat::test {

namespace {

template <typename T>
class brownian_step : public backend_test {};
TYPED_TEST_SUITE(brownian_step, brownian_precisions);

template <typename T>
[[nodiscard]] double brownian_rounding(double in_float, double in_double) {
  return std::is_same_v<T, float> ? in_float : in_double;
}

template <typename T>
[[nodiscard]] std::vector<double> brownian_moves(brownian<backend_context, T>& simulation, std::size_t steps) {
  simulation.advance(steps);
  std::vector<double> result;
  for (const vec<double, 3>& one : simulation.displacements()) {
    for (int axis = 0; axis < 3; ++axis) result.push_back(one[axis]);
  }
  return result;
}

TYPED_TEST(brownian_step, forces_and_energy_are_those_of_plain_loops) {
  using T = TypeParam;
  brownian_options options = crowd(120);
  options.method = "free";
  const auto start = brownian_positions(options, brownian_start::uniform_random, 120);
  brownian<backend_context, T> simulation(brownian_context(), options, start);
  double energy = 0;
  const auto positions = simulation.positions();
  const std::vector<double> expected = reference_forces(options, positions, &energy);
  const auto forces = simulation.forces();
  const double tolerance = brownian_rounding<T>(1e-4, 1e-12);
  double largest = 0;
  for (const double force : expected) largest = std::max(largest, std::fabs(force));
  for (std::size_t i = 0; i < forces.size(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(static_cast<double>(forces[i][static_cast<int>(axis)]), expected[3 * i + axis], tolerance * largest);
    }
  }
  EXPECT_NEAR(simulation.measure().energy, energy, tolerance * energy);
}

TYPED_TEST(brownian_step, without_noise_it_is_mobility_times_force) {
  using T = TypeParam;
  for (const char* const method : {"split", "krylov", "direct", "free"}) {
    brownian_options options = crowd(24);
    options.method = method;
    options.temperature = 0;
    const auto start = brownian_positions(options, brownian_start::uniform_random, 24);
    brownian<backend_context, T> simulation(brownian_context(), options, start);
    const auto positions = simulation.positions();
    const std::vector<double> forces = reference_forces(options, positions);
    std::vector<double> expected = forces;
    if (options.method == "free") {
      for (double& one : expected) one *= free_mobility_of(options);
    } else {
      expected = reference::product(reference::mobility_matrix(reference_of(options, positions)), forces);
    }
    const std::vector<double> moved = brownian_moves(simulation, 1);
    double squares = 0, errors = 0;
    for (std::size_t k = 0; k < moved.size(); ++k) {
      squares += std::pow(forces[k] * free_mobility_of(options) * options.time_step, 2);
      errors += std::pow(moved[k] - expected[k] * options.time_step, 2);
    }
    // Positions have the precision of the run.
    const double places = brownian_rounding<T>(1e-6, 1e-15) * options.box[0] * std::sqrt(72.0);
    EXPECT_LT(std::sqrt(errors), options.accuracy * std::sqrt(squares) + places) << method;
  }
}

TYPED_TEST(brownian_step, a_midpoint_step_without_noise_takes_the_force_of_the_middle) {
  using T = TypeParam;
  brownian_options options = crowd(24);
  options.method = "free";
  options.temperature = 0;
  options.time_step = 0.4;
  options.scheme = brownian_scheme::midpoint;
  const auto start = brownian_positions(options, brownian_start::uniform_random, 24);
  brownian<backend_context, T> simulation(brownian_context(), options, start);
  const auto positions = simulation.positions();
  const double half = options.time_step / 2 * free_mobility_of(options);
  std::vector<double> forces = reference_forces(options, positions);
  std::vector<vec<double, 3>> middle(24);
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      middle[i][static_cast<int>(axis)] =
          static_cast<double>(positions[i][static_cast<int>(axis)]) + half * forces[3 * i + axis];
    }
  }
  forces = reference_forces(options, middle);
  const std::vector<double> moved = brownian_moves(simulation, 1);
  for (std::size_t k = 0; k < moved.size(); ++k) {
    EXPECT_NEAR(moved[k], 2 * half * forces[k], brownian_rounding<T>(1e-4, 1e-12));
  }
}

/// A force along y on one sphere of the pairs.
template <typename T>
struct pull_of_one {
  particle_id pulled;

  QUADRAT_HD interaction<T, 3> operator()(particle_id i, particle_id, const vec<T, 3>&, T) const {
    interaction<T, 3> result{};
    if (i == pulled) result.force[1] = T(1);
    result.energy = T(0.25);
    return result;
  }
};

TYPED_TEST(brownian_step, forces_can_be_functors_of_ones_own) {
  using T = TypeParam;
  brownian_options options = suspension(30, 0.3);
  options.temperature = 0;
  const auto start = brownian_positions(options, brownian_start::lattice, 30);
  brownian<backend_context, T> simulation(brownian_context(), options, start);
  const std::vector<brownian_bond> bonds{{3, 4}, {4, 5}};
  using law = pull_of_one<T>;
  simulation.add_force(std::make_unique<brownian_bond_force<backend_context, T, law>>(
      simulation.context(), simulation.domain(), 30, bonds, law{3}));
  EXPECT_NEAR(simulation.measure().energy, 1, 1e-6);
  // A sphere that is pulled alone moves by its self-mobility, whatever the others' places.
  const std::vector<double> moved = brownian_moves(simulation, 1);
  const double expected =
      options.time_step * free_mobility_of(options) * reference::self_mobility_in_cube(options.radius, options.box[0]);
  EXPECT_NEAR(moved[3 * 3 + 1], expected, 3e-3 * expected);
  EXPECT_LT(std::fabs(moved[3 * 3]), 3e-3 * expected);
  EXPECT_GT(std::fabs(moved[3 * 4 + 1]), 0.05 * expected);

  const T near = static_cast<T>(options.box[0] / 2);
  simulation.add_force(std::make_unique<brownian_pair_force<backend_context, T, law>>(
      simulation.context(), simulation.domain(), near, law{7}));
  EXPECT_GT(simulation.measure().energy, 10);
  EXPECT_GT(simulation.forces()[7][1], T(5));
}

TYPED_TEST(brownian_step, displacements_go_on_across_the_boundaries) {
  using T = TypeParam;
  brownian_options options = suspension(5, 0.1);
  options.method = "free";
  options.temperature = 0;
  options.force = {0, 20, -30};
  const auto start = brownian_positions(options, brownian_start::uniform_random, 5);
  brownian<backend_context, T> simulation(brownian_context(), options, start);
  simulation.advance(1000);
  const double each = free_mobility_of(options) * options.time_step * 1000;
  for (const vec<double, 3>& moved : simulation.displacements()) {
    EXPECT_EQ(moved[0], 0);
    EXPECT_NEAR(moved[1], 20 * each, brownian_rounding<T>(0.05, 1e-9));
    EXPECT_NEAR(moved[2], -30 * each, brownian_rounding<T>(0.05, 1e-9));
  }
  const brownian_statistics now = simulation.measure();
  EXPECT_NEAR(now.mean_displacement[1], 20 * each, 0.05);
  EXPECT_NEAR(now.mean_square_displacement, 1300 * each * each, 1);
  for (const auto& place : simulation.positions()) {
    EXPECT_TRUE(simulation.domain().wrap(place) == place);
  }
}

TYPED_TEST(brownian_step, works_with_no_sphere_and_with_one) {
  using T = TypeParam;
  for (const char* const method : {"auto", "free"}) {
    for (const brownian_scheme scheme : {brownian_scheme::euler_maruyama, brownian_scheme::midpoint}) {
      brownian_options options = suspension(1, 0.05);
      options.method = method;
      options.scheme = scheme;
      options.force = {1, 0, 0};
      brownian<backend_context, T> none(brownian_context(), options, {});
      none.advance(3);
      EXPECT_EQ(none.measure().mean_square_displacement, 0);
      EXPECT_TRUE(none.positions().empty());
      const auto start = brownian_positions(options, brownian_start::lattice, 1);
      brownian<backend_context, T> one(brownian_context(), options, start);
      one.advance(3);
      EXPECT_GT(one.measure().mean_square_displacement, 0);
    }
  }
}

}  // namespace

}  // namespace quadrat::test
