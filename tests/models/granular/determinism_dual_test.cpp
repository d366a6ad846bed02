// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "models/granular/support.hpp"

// The guarantees of `run_to_run` and `canonical`; stopping and continuing a run.

namespace quadrat::test {

namespace {

template <typename T>
class granular_determinism : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(granular_determinism, precisions);

/// Two colliding clouds: up to a hundred contacts per grain in the small one, more than one walk can sum.
struct clouds {
  points positions;
  points velocities;

  explicit clouds(std::size_t count) : positions(scattered(count, 31, 0.1, 0.4)) {
    const points dense = scattered(120, 32, 0.35, 0.37);
    positions.insert(positions.end(), dense.begin(), dense.end());
    velocities = random_velocities(positions.size(), 33, 0.01);
    // Ids in random order.
    std::mt19937_64 generator(34);
    for (std::size_t i = positions.size() - 1; i > 0; --i) std::swap(positions[i], positions[generator() % (i + 1)]);
  }
};

[[nodiscard]] granular_options soft_options(const std::string& method) {
  granular_options options;
  options.method = method;
  options.capacity = 256;
  // Green's shear and spring are unstable in so dense a cloud.
  options.parameters.spring = 0.01;
  options.parameters.damping = 1e-4;
  options.parameters.shear = 1e-3;
  options.parameters.collider = granular_collider{{-0.5, -0.6, -0.5}, 0.15};
  return options;
}

template <typename T>
granular_state<T> run(const backend_context& context, const granular_options& options, const clouds& from,
                      std::size_t steps) {
  granular<backend_context, T> simulation(context, options, from.positions, from.velocities);
  simulation.advance(steps);
  return simulation.state();
}

TYPED_TEST(granular_determinism, canonical_gives_the_same_bits_for_every_method) {
  const clouds from(size_or(4000, 400));
  const backend_context context = make_context(determinism::canonical);
  granular_state<TypeParam> first;
  for (const std::string& method : available_methods(true)) {
    const auto state = run<TypeParam>(context, soft_options(method), from, 50);
    if (first.step == 0) first = state;
    EXPECT_TRUE(same_bits(state, first)) << method;
  }
}

TYPED_TEST(granular_determinism, canonical_does_not_depend_on_the_order_in_memory) {
  const clouds from(size_or(2000, 400));
  const backend_context context = make_context(determinism::canonical);
  for (const std::string& method : available_methods(true)) {
    granular<backend_context, TypeParam> simulation(context, soft_options(method), from.positions, from.velocities);
    auto state = simulation.state();
    state.storage_order.resize(simulation.size());
    std::iota(state.storage_order.rbegin(), state.storage_order.rend(), particle_id{0});
    simulation.restore(state);
    simulation.advance(20);
    EXPECT_TRUE(same_bits(simulation.state(), run<TypeParam>(context, soft_options(method), from, 20))) << method;
  }
}

/// On the CPU the contexts differ in their number of threads.
TYPED_TEST(granular_determinism, run_to_run_gives_the_same_bits_again) {
  const clouds from(size_or(6000, 400));
  for (const std::string& method : available_methods()) {
    std::vector<backend_context> contexts;
#if QUADRAT_BACKEND_CUDA
    contexts.assign(2, make_context(determinism::run_to_run));
#else
    for (const int threads : {1, 2, 3}) {
      contexts.emplace_back(cpu_context::options{threads, determinism::run_to_run, nullptr});
    }
#endif
    const auto first = run<TypeParam>(contexts[0], soft_options(method), from, 30);
    for (const auto& context : contexts) {
      EXPECT_TRUE(same_bits(run<TypeParam>(context, soft_options(method), from, 30), first)) << method;
    }
  }
}

TYPED_TEST(granular_determinism, state_continues_with_the_same_bits) {
  const clouds from(size_or(3000, 400));
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    const backend_context context = make_context(level);
    for (const std::string& method : available_methods(level == determinism::canonical)) {
      const auto unbroken = run<TypeParam>(context, soft_options(method), from, 45);
      const auto halfway = run<TypeParam>(context, soft_options(method), from, 20);
      const points other = scattered(from.positions.size(), 99);
      granular<backend_context, TypeParam> simulation(context, soft_options(method), other);
      simulation.advance(1);
      simulation.restore(halfway);
      EXPECT_EQ(simulation.step(), 20u);
      EXPECT_TRUE(same_bits(simulation.state(), halfway)) << method;
      simulation.advance(25);
      EXPECT_TRUE(same_bits(simulation.state(), unbroken)) << method;
    }
  }
}

/// On CUDA long calls replay graphs of several steps and short ones do not.
TYPED_TEST(granular_determinism, steps_at_once_and_one_by_one_are_the_same) {
  const clouds from(size_or(1000, 200));
  const backend_context context = make_context(determinism::run_to_run);
  for (const std::string& method : available_methods()) {
    granular<backend_context, TypeParam> simulation(context, soft_options(method), from.positions, from.velocities);
    for (const std::size_t steps : {1, 1, 2, 3, 37, 0, 1, 18}) simulation.advance(steps);
    EXPECT_EQ(simulation.step(), 63u);
    EXPECT_TRUE(same_bits(simulation.state(), run<TypeParam>(context, soft_options(method), from, 63))) << method;
  }
}

TYPED_TEST(granular_determinism, statistics_are_equal_to_the_last_bit) {
  const clouds from(size_or(3000, 400));
  const backend_context context = make_context(determinism::canonical);
  granular_statistics first;
  for (const std::string& method : available_methods(true)) {
    granular<backend_context, TypeParam> simulation(context, soft_options(method), from.positions, from.velocities);
    simulation.advance(10);
    const granular_statistics now = simulation.measure();
    if (first.step == 0) first = now;
    EXPECT_EQ(now.kinetic_energy, first.kinetic_energy) << method;
    EXPECT_EQ(now.contact_energy, first.contact_energy) << method;
    EXPECT_EQ(now.gravitational_energy, first.gravitational_energy) << method;
    EXPECT_EQ(now.contacts_per_particle, first.contacts_per_particle) << method;
  }
}

}  // namespace

}  // namespace quadrat::test
