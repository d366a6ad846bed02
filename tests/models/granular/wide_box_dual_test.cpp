// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "models/granular/support.hpp"
#include "models/largest_difference.hpp"

// Grains in a box much wider than they are: the same motion as in a tight box, at the same cost.

namespace quadrat::test {

namespace {

constexpr std::size_t heap = 2000;

/// In the lower part of [-1, -0.5]^3, away from its upper walls.
[[nodiscard]] points heap_of_grains() {
  std::mt19937_64 generator(11);
  points result(heap);
  for (auto& point : result) {
    for (int axis = 0; axis < 3; ++axis) point[axis] = -1 + 1.0 / 64 + 0.35 * random_unit<double>(generator);
  }
  return result;
}

[[nodiscard]] granular_options box_to(double face, const std::string& method) {
  granular_options options;
  options.upper = {face, face, face};
  options.method = method;
  options.capacity = 64;
  return options;
}

struct outcome {
  std::vector<vec<float, 3>> positions, velocities;
  granular_statistics statistics;
  std::size_t bytes;
};

[[nodiscard]] outcome run_steps(determinism level, const granular_options& options, const points& grains) {
  granular<backend_context, float> model(make_context(level), options, grains,
                                         random_velocities(grains.size(), 3, 0.01));
  model.advance(6);
  outcome result{model.positions(), model.velocities(), {}, model.bytes()};
  result.statistics = model.measure();
  result.positions.resize(heap);
  result.velocities.resize(heap);
  return result;
}

class granular_wide_box : public backend_test {};

}  // namespace

TEST_F(granular_wide_box, moves_grains_as_a_tight_box_does) {
  const points grains = heap_of_grains();
  points with_stray = grains;
  for (const std::string& method : available_methods()) {
    const determinism level = method == "fused" ? determinism::run_to_run : determinism::canonical;
    const outcome tight = run_steps(level, box_to(-0.5, method), grains);
    for (const double face : {14.0, 499.0}) {
      SCOPED_TRACE(message(method, ", upper face at ", face));
      with_stray.resize(heap);
      for (int k = 0; k < 3; ++k) {
        const outcome wide = run_steps(level, box_to(face, method), with_stray);
        const double allowed = level == determinism::canonical ? 0 : 1e-6;
        EXPECT_LE(largest_difference(wide.positions, tight.positions), allowed);
        EXPECT_LE(largest_difference(wide.velocities, tight.velocities), allowed);
        with_stray.push_back(vec<double, 3>::filled(face - 1.0 / 64 - k));
      }
    }
  }
}

TEST_F(granular_wide_box, has_the_statistics_and_the_memory_of_a_tight_box) {
  points grains = heap_of_grains();
  for (const std::string& method : available_methods()) {
    const outcome tight = run_steps(determinism::run_to_run, box_to(-0.5, method), grains);
    for (const double face : {14.0, 499.0, 1e4}) {
      SCOPED_TRACE(message(method, ", upper face at ", face));
      const outcome wide = run_steps(determinism::run_to_run, box_to(face, method), grains);
      EXPECT_EQ(wide.statistics.candidates_per_particle, tight.statistics.candidates_per_particle);
      EXPECT_EQ(wide.statistics.largest_cell, tight.statistics.largest_cell);
      // At most 4 cells for each grain, of at most 64 slots; curves fill cubes.
      EXPECT_LE(wide.bytes, tight.bytes + 4 * heap * 4 * 65);
    }
  }
}

}  // namespace quadrat::test
