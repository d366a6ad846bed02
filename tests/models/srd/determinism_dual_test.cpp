// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <type_traits>
#include <vector>

#include "models/srd/support.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// The guarantees of fixed sums; stopping and continuing a run.

namespace quadrat::test {

namespace {

template <typename Kind>
class srd_determinism : public backend_test {};
TYPED_TEST_SUITE(srd_determinism, srd_kinds);

template <int D>
[[nodiscard]] srd_particles<D> mixed_start(const srd_options<D>& options) {
  const std::vector<double> masses{20, 1, 7};
  return srd_start<D>(options, size_or(2000, 500), masses);
}

template <typename T, int D>
void expect_same(const srd_state<T, D>& a, const srd_state<T, D>& b, const std::string& what) {
  EXPECT_EQ(a.step, b.step) << what;
  EXPECT_TRUE(a.positions == b.positions) << what;
  EXPECT_TRUE(a.velocities == b.velocities) << what;
}

TYPED_TEST(srd_determinism, gives_the_same_bits_with_any_threads_and_any_sorting) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  srd_options<dimension> options = channel<dimension>(8);
  options.sums = srd_sums::fixed;
  const auto start = mixed_start(options);
  srd<backend_context, value_type, dimension> first(srd_context(), options, start);
  first.advance(30);
  const auto expected = first.state();
  const auto measured = first.measure();
  for (const backend_context& context : all_contexts()) {
    for (const std::size_t sort_every : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
      options.sort_every = sort_every;
      srd<backend_context, value_type, dimension> simulation(context, options, start);
      // In pieces, so that captured and other steps mix on CUDA.
      for (const std::size_t steps : {1, 18, 0, 11}) simulation.advance(steps);
      expect_same(simulation.state(), expected, "sorted every " + std::to_string(sort_every));
      const auto found = simulation.measure();
      EXPECT_EQ(found.kinetic_energy, measured.kinetic_energy);
      EXPECT_EQ(found.temperature, measured.temperature);
      EXPECT_EQ(found.momentum, measured.momentum);
    }
  }
}

TYPED_TEST(srd_determinism, goes_on_from_a_state_with_the_same_bits) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  const srd_options<dimension> options = channel<dimension>(8);
  const auto start = mixed_start(options);
  srd<backend_context, value_type, dimension> simulation(srd_context(), options, start);
  simulation.advance(17);
  const auto halfway = simulation.state();
  simulation.advance(20);
  const auto expected = simulation.state();
  srd<backend_context, value_type, dimension> other(srd_context(), options, start);
  other.advance(3);
  other.restore(halfway);
  expect_same(other.state(), halfway, "restored");
  other.advance(20);
  expect_same(other.state(), expected, "continued");
}

TYPED_TEST(srd_determinism, is_not_disturbed_by_looking) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  const srd_options<dimension> options = channel<dimension>(8);
  const auto start = mixed_start(options);
  srd<backend_context, value_type, dimension> simulation(srd_context(), options, start);
  srd<backend_context, value_type, dimension> looked_at(srd_context(), options, start);
  for (int i = 0; i < 5; ++i) {
    simulation.advance(2);
    looked_at.advance(2);
    static_cast<void>(looked_at.measure());
    static_cast<void>(looked_at.velocity_profile(1, 5));
    static_cast<void>(looked_at.shear_amplitude());
    // Sets solutes to their present state.
    const auto state = looked_at.state();
    const std::size_t fluid = looked_at.size() - looked_at.solutes();
    looked_at.set_solutes(std::span(state.positions).subspan(fluid), std::span(state.velocities).subspan(fluid));
  }
  expect_same(looked_at.state(), simulation.state(), "looked at");
}

TYPED_TEST(srd_determinism, differs_with_another_seed) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  srd_options<dimension> options = channel<dimension>(8);
  const auto start = mixed_start(options);
  srd<backend_context, value_type, dimension> simulation(srd_context(), options, start);
  options.seed += std::uint64_t{1} << 32;
  srd<backend_context, value_type, dimension> other(srd_context(), options, start);
  simulation.advance(1);
  other.advance(1);
  EXPECT_TRUE(simulation.positions() == other.positions());
  EXPECT_FALSE(simulation.velocities() == other.velocities());
}

/// Every reported number agrees with the state.
TYPED_TEST(srd_determinism, shows_the_state_that_it_measures) {
  using value_type = typename TypeParam::value_type;
  constexpr int dimension = TypeParam::dimension;
  const srd_options<dimension> options = channel<dimension>(8);
  const auto start = mixed_start(options);
  const std::vector<double> masses = masses_of(options, start);
  srd<backend_context, value_type, dimension> simulation(srd_context(), options, start);
  simulation.advance(9);
  const auto state = simulation.state();
  EXPECT_TRUE(state.positions == simulation.positions());
  EXPECT_TRUE(state.velocities == simulation.velocities());
  const double length = simulation.box_size()[1];
  double energy = 0;
  double wave = 0;
  vec<double, dimension> momentum{};
  std::vector<double> slices(4, 0);
  std::vector<double> flow(4, 0);
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const auto v = cast<double>(state.velocities[i]);
    const double y = state.positions[i][1];
    const auto bin = std::min<std::size_t>(static_cast<std::size_t>(y / length * 4), 3);
    energy += masses[i] * squared_norm(v) / 2;
    momentum += v * masses[i];
    slices[bin] += masses[i];
    flow[bin] += masses[i] * v[0];
    if (i < masses.size() - 3) wave += v[0] * std::sin(2 * std::numbers::pi * y / length);
  }
  const auto found = simulation.measure();
  EXPECT_EQ(found.step, 9u);
  EXPECT_DOUBLE_EQ(found.time, 9 * options.time_step);
  EXPECT_NEAR(found.kinetic_energy / energy, 1, 1e-7);
  for (int axis = 0; axis < dimension; ++axis) EXPECT_NEAR(found.momentum[axis], momentum[axis], 1e-5 * energy);
  EXPECT_NEAR(simulation.shear_amplitude(), 2 * wave / static_cast<double>(masses.size() - 3), 1e-7);
  const auto profile = simulation.velocity_profile(1, 4);
  ASSERT_EQ(profile.size(), 4u);
  for (std::size_t bin = 0; bin < 4; ++bin) {
    EXPECT_NEAR(profile[bin].velocity[0], flow[bin] / slices[bin], 1e-6);
    EXPECT_NEAR(profile[bin].center, (static_cast<double>(bin) + 0.5) * length / 4, 1e-12);
  }
}

TEST(srd_sums_of_a_run, are_fixed_wherever_determinism_is_asked_for) {
  if (!backend_available()) GTEST_SKIP() << "no CUDA device";
  using simulation = srd<backend_context, float, 3>;
  srd_options<3> options = cube<3>(3);
  EXPECT_EQ(simulation(srd_context(determinism::canonical), options, {}).options().sums, srd_sums::fixed);
  const srd_sums usual = std::is_same_v<backend_context, cuda_context> ? srd_sums::floating : srd_sums::fixed;
  EXPECT_EQ(simulation(srd_context(determinism::none), options, {}).options().sums, usual);
  options.sums = srd_sums::floating;
  EXPECT_EQ(error_of<argument_error>([&] { simulation(srd_context(), options, {}); }),
            "floating sums have no determinism, which the context asks for; fixed sums have it");
}

}  // namespace

}  // namespace quadrat::test
