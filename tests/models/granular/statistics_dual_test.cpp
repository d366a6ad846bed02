// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "models/granular/support.hpp"
#include "reference/granular.hpp"

// Statistics, and heaps of every method, which must settle to the model's published values.

namespace quadrat::test {

namespace {

template <typename T>
class granular_statistics_of : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(granular_statistics_of, precisions);

class granular_heap : public backend_test {};

TYPED_TEST(granular_statistics_of, a_small_state_equal_plain_sums) {
  using T = TypeParam;
  const std::size_t count = 700;
  const points positions = scattered(count, 41, 0.3, 0.5);
  const points velocities = random_velocities(count, 42, 0.03);
  granular<backend_context, T> simulation(make_context(), {}, positions, velocities);
  const granular_statistics measured = simulation.measure();

  const granular_parameters p;
  double kinetic = 0, contact = 0, height = 0, fastest = 0, contacts = 0, candidates = 0;
  std::map<std::array<int, 3>, std::size_t> cells;
  const auto cell_of = [](const vec<double, 3>& x) {
    return std::array<int, 3>{static_cast<int>((x[0] + 1) * 32), static_cast<int>((x[1] + 1) * 32),
                              static_cast<int>((x[2] + 1) * 32)};
  };
  for (std::size_t i = 0; i < count; ++i) {
    kinetic += squared_norm(velocities[i]) / 2;
    height += positions[i][1];
    fastest = std::max(fastest, std::sqrt(squared_norm(velocities[i])));
    ++cells[cell_of(positions[i])];
    for (std::size_t j = 0; j < count; ++j) {
      if (j == i) continue;
      const double distance = std::sqrt(squared_norm(positions[j] - positions[i]));
      const auto a = cell_of(positions[i]);
      const auto b = cell_of(positions[j]);
      if (std::abs(a[0] - b[0]) <= 1 && std::abs(a[1] - b[1]) <= 1 && std::abs(a[2] - b[2]) <= 1) candidates += 1;
      if (distance >= 2 * p.radius) continue;
      contacts += 1;
      contact += 0.25 * p.spring / p.time_step * (2 * p.radius - distance) * (2 * p.radius - distance);
    }
  }
  std::size_t largest = 0;
  for (const auto& [cell, inside] : cells) largest = std::max(largest, inside);
  EXPECT_EQ(measured.step, 0u);
  EXPECT_NEAR(measured.kinetic_energy, kinetic, 1e-6 * kinetic);
  EXPECT_NEAR(measured.kinetic_energy_per_particle, kinetic / count, 1e-6 * kinetic / count);
  EXPECT_NEAR(measured.contact_energy, contact, 2e-6 * contact);
  EXPECT_NEAR(measured.gravitational_energy, 3e-4 * (height + count), 1e-6 * 3e-4 * count);
  EXPECT_NEAR(measured.mean_height, height / count, 1e-6);
  EXPECT_NEAR(measured.max_speed, fastest, 1e-6 * fastest);
  EXPECT_NEAR(measured.contacts_per_particle, contacts / count, 1e-12);
  EXPECT_NEAR(measured.candidates_per_particle, candidates / count, 1e-12);
  EXPECT_EQ(measured.largest_cell, largest);
}

TYPED_TEST(granular_statistics_of, no_grains_are_zero) {
  for (const std::string& method : available_methods()) {
    granular<backend_context, TypeParam> simulation(make_context(), with_method({}, method), points{});
    simulation.advance(20);
    const granular_statistics none = simulation.measure();
    EXPECT_EQ(none.step, 20u);
    EXPECT_EQ(none.kinetic_energy, 0);
    EXPECT_EQ(none.largest_cell, 0u);
    EXPECT_TRUE(simulation.positions().empty());
  }
}

TYPED_TEST(granular_statistics_of, memory_is_counted) {
  const std::size_t count = 1000;
  for (const std::string& method : available_methods()) {
    granular<backend_context, TypeParam> simulation(make_context(), with_method({}, method), scattered(count, 1));
    simulation.advance(2);
    EXPECT_GE(simulation.bytes(), count * 6 * sizeof(TypeParam)) << method;
  }
}

/// Reference values of the model, for a lattice that has fallen and settled.
struct reference_heap {
  std::size_t count;
  std::size_t steps;
  double mean_height;
  double contacts;
  double candidates;
  std::size_t largest_cell;
};

constexpr reference_heap heaps[] = {
    {16384, 2000, -0.948, 6.9, 25.6, 4}, {131072, 2000, -0.702, 9.7, 40.5, 6}, {262144, 500, -0.562, 11.0, 54.8, 6}};

template <typename T>
void expect_heap(const reference_heap& heap, const std::string& method) {
  const granular_options options = with_method({}, method);
  const auto start = granular_initial_positions(granular_start::lattice, heap.count, options.parameters.radius,
                                                options.lower, options.upper);
  // Heaps are chaotic, and the fullest of 64^3 cells is an extreme: repeat exactly the same run.
  granular<backend_context, T> simulation(make_context(determinism::run_to_run), options, start);
  simulation.advance(heap.steps);
  const granular_statistics now = simulation.measure();
  const std::string where = method + ", " + std::to_string(heap.count) + " grains";
  EXPECT_NEAR(now.mean_height + 1, heap.mean_height + 1, 0.02 * (heap.mean_height + 1)) << where;
  EXPECT_NEAR(now.contacts_per_particle, heap.contacts, 0.03 * heap.contacts) << where;
  EXPECT_NEAR(now.candidates_per_particle, heap.candidates, 0.03 * heap.candidates) << where;
  EXPECT_NEAR(static_cast<double>(now.largest_cell), static_cast<double>(heap.largest_cell), 1) << where;
}

/// The CPU runs one method to the end, because that takes a while; the others are compared with it on their way.
TEST_F(granular_heap, settles_as_published) {
  if (small_sizes()) GTEST_SKIP() << "too long when every access is checked";
#if QUADRAT_BACKEND_CUDA
  for (const reference_heap& heap : heaps) {
    for (const std::string& method : available_methods()) {
      expect_heap<float>(heap, method);
      if (heap.count == 16384) expect_heap<double>(heap, method);
    }
  }
#else
  expect_heap<float>(heaps[0], "");
#endif
}

TEST_F(granular_heap, falls_alike_by_every_method) {
  const std::size_t count = size_or(16384, 512);
  const std::size_t steps = small_sizes() ? 30 : 150;
  const auto start = granular_initial_positions(granular_start::left_half, count, 1.0 / 64, {-1, -1, -1}, {1, 1, 1});
  granular_statistics first;
  for (const std::string& method : available_methods()) {
    granular<backend_context, float> simulation(make_context(), with_method({}, method), start);
    simulation.advance(steps);
    const granular_statistics now = simulation.measure();
    if (first.step == 0) first = now;
    EXPECT_NEAR(now.mean_height, first.mean_height, 1e-3) << method;
    EXPECT_NEAR(now.contacts_per_particle, first.contacts_per_particle, 0.01 * first.contacts_per_particle) << method;
    EXPECT_NEAR(now.candidates_per_particle, first.candidates_per_particle, 0.01 * first.candidates_per_particle)
        << method;
  }
}

}  // namespace

}  // namespace quadrat::test
