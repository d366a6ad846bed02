// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/granular/support.hpp"
#include "models/largest_difference.hpp"
#include "quadrat/core/error.hpp"
#include "reference/granular.hpp"

// Every method, compared with a plain serial model.

namespace quadrat::test {

namespace {

template <typename T>
class granular_step : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(granular_step, precisions);

struct start {
  std::string name;
  points positions;
  points velocities;
};

[[nodiscard]] std::vector<start> starts() {
  const std::size_t many = size_or(1500, 300);
  std::vector<start> result;
  result.push_back({"no grain", {}, {}});
  result.push_back({"one grain in a corner", scattered(1, 1, 0, 0), random_velocities(1, 2, 0.1)});
  result.push_back({"two grains in touch", {{0, 0, 0}, {0.02, 0.01, 0}}, random_velocities(2, 3, 0.01)});
  result.push_back({"two grains in one place", {{0.1, 0.2, 0.3}, {0.1, 0.2, 0.3}}, random_velocities(2, 4, 0.001)});
  result.push_back({"a gas", scattered(many, 5), random_velocities(many, 6, 0.05)});
  result.push_back({"a cluster", scattered(many, 7, 0.4, 0.55), random_velocities(many, 8, 0.02)});
  result.push_back({"a heap in a corner", scattered(many, 9, 0, 0.15), random_velocities(many, 10, 0.02)});
  result.push_back({"all in two cells", scattered(100, 11, 0.5, 0.515), random_velocities(100, 12, 0.01)});
  return result;
}

/// Terms that are 0 in Green's defaults, and cells that are not cubes.
[[nodiscard]] granular_options full_options() {
  granular_options options;
  options.parameters.attraction = 0.03;
  options.parameters.global_damping = 0.99;
  options.parameters.gravity = {1e-4, -3e-4, 2e-4};
  options.parameters.collider = granular_collider{{-0.6, -0.7, -0.5}, 0.2};
  options.cells = {64, 50, 21};
  return options;
}

/// The reference restarts from every state, so that rounding does not accumulate.
template <typename T>
void follow(const granular_options& options, const start& from, int steps) {
  granular<backend_context, T> simulation(make_context(), options, from.positions, from.velocities);
  const double epsilon = std::numeric_limits<T>::epsilon();
  for (int step = 0; step < steps; ++step) {
    const granular_state<T> before = simulation.state();
    reference::grains<T> expected{before.positions, before.velocities};
    reference::step(options, expected);
    simulation.advance(1);
    const granular_state<T> after = simulation.state();
    EXPECT_EQ(after.step, static_cast<std::uint64_t>(step) + 1);
    const std::string where = options.method + ", " + from.name + ", step " + std::to_string(step);
    EXPECT_LE(largest_difference(after.positions, expected.positions), 4 * epsilon) << where;
    // Forces are sums of up to a hundred terms below 0.02; r is the difference of positions near 1.
    EXPECT_LE(largest_difference(after.velocities, expected.velocities), 100 * epsilon) << where;
  }
}

TYPED_TEST(granular_step, equals_the_reference) {
  for (const std::string& method : available_methods()) {
    granular_options options = with_method({}, method);
    options.capacity = 256;  // clusters exceed the default capacity of fixed cells
    for (const start& from : starts()) follow<TypeParam>(options, from, 3);
  }
}

TYPED_TEST(granular_step, equals_the_reference_with_every_term) {
  for (const std::string& method : available_methods()) {
    granular_options options = with_method(full_options(), method);
    options.capacity = 512;
    for (const start& from : starts()) follow<TypeParam>(options, from, 2);
  }
}

TYPED_TEST(granular_step, works_in_a_box_of_few_cells) {
  granular_options options;
  options.parameters.radius = 0.25;
  options.lower = {0, 0, 0};
  options.upper = {1.2, 0.5, 2.1};  // 2 x 1 x 4 cells
  options.capacity = 64;
  const points positions{{0.3, 0.25, 0.4}, {0.7, 0.25, 0.5}, {0.5, 0.25, 1.8}, {0.6, 0.3, 1.5}};
  for (const std::string& method : available_methods()) {
    follow<TypeParam>(with_method(options, method), {"few cells", positions, random_velocities(4, 1, 0.01)}, 5);
  }
}

/// Pairs that collide head-on along x, each in the middle of a separate cell and at a different phase of the step.
template <typename T>
std::vector<double> restitutions(double speed, int phases) {
  granular_options options;
  options.parameters.gravity = {0, 0, 0};
  points positions;
  points velocities;
  for (int k = 0; k < phases; ++k) {
    const vec<double, 3> middle{-0.75 + 0.25 * (k % 7), -0.75 + 0.25 * (k / 7 % 7), -0.75 + 0.25 * (k / 49)};
    const double approach = 2 * speed * options.parameters.time_step;  // per step
    const double gap = approach * (3 + (k + 0.5) / phases);
    const vec<double, 3> half{options.parameters.radius + gap / 2, 0, 0};
    positions.insert(positions.end(), {middle - half, middle + half});
    velocities.insert(velocities.end(), {{speed, 0, 0}, {-speed, 0, 0}});
  }
  granular<backend_context, T> simulation(make_context(), options, positions, velocities);
  simulation.advance(40);
  const auto after = simulation.velocities();
  std::vector<double> result;
  for (std::size_t k = 0; k < after.size(); k += 2) {
    result.push_back(static_cast<double>(after[k + 1][0] - after[k][0]) / (2 * speed));
  }
  return result;
}

TYPED_TEST(granular_step, restitution_of_a_pair_is_that_of_the_model) {
  for (const double speed : {1e-4, 1e-3, 4e-3}) {
    const auto all = restitutions<TypeParam>(speed, 343);
    double sum = 0;
    for (const double e : all) sum += e;
    EXPECT_NEAR(sum / 343, 0.918, 0.002) << "at speed " << speed;
    EXPECT_NEAR(*std::min_element(all.begin(), all.end()), 0.840, 0.003) << "at speed " << speed;
    EXPECT_NEAR(*std::max_element(all.begin(), all.end()), 0.983, 0.003) << "at speed " << speed;
  }
}

TYPED_TEST(granular_step, momentum_is_conserved_away_from_walls) {
  granular_options options;
  options.parameters.gravity = {0, 0, 0};
  const std::size_t count = size_or(3000, 300);
  const auto positions = scattered(count, 21, 0.4, 0.6);
  const auto velocities = random_velocities(count, 22, 0.01);
  vec<double, 3> before{};
  for (const auto& v : velocities) before += v;
  for (const std::string& method : available_methods()) {
    granular<backend_context, TypeParam> simulation(make_context(), with_method(options, method), positions,
                                                    velocities);
    simulation.advance(20);
    vec<double, 3> after{};
    for (const auto& v : simulation.velocities()) after += cast<double>(v);
    const double bound = 20 * std::numeric_limits<TypeParam>::epsilon() * static_cast<double>(count) * 0.1;
    for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(after[axis], before[axis], bound) << method;
  }
}

TYPED_TEST(granular_step, grain_falls_freely_and_bounces_off_the_floor) {
  granular_options options;
  options.parameters.gravity = {0, -1e-3, 0};
  granular<backend_context, TypeParam> simulation(make_context(), options, points{{0, 0, 0}});
  simulation.advance(40);  // v = -n g dt; y = -g dt^2 n (n + 1) / 2
  EXPECT_NEAR(simulation.positions()[0][1], -1e-3 * 0.25 * 40 * 41 / 2, 1e-5);
  EXPECT_NEAR(simulation.velocities()[0][1], -1e-3 * 0.5 * 40, 1e-7);
  double last = 0;
  for (int step = 0; step < 100; ++step) {
    simulation.advance(1);
    const double now = static_cast<double>(simulation.velocities()[0][1]);
    if (now > 0) {
      EXPECT_NEAR(now, 0.5 * (5e-4 - last), 1e-7);  // half of the value just before
      EXPECT_EQ(simulation.positions()[0][1], static_cast<TypeParam>(-1 + 1.0 / 64));
      return;
    }
    last = now;
  }
  FAIL() << "the grain never met the floor";
}

TYPED_TEST(granular_step, coinciding_grains_stay_numbers) {
  for (const std::string& method : available_methods()) {
    granular<backend_context, TypeParam> simulation(make_context(), with_method({}, method),
                                                    points{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}});
    simulation.advance(5);
    EXPECT_NO_THROW(simulation.check()) << method;
  }
}

}  // namespace

}  // namespace quadrat::test
