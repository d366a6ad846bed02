// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/kept_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "models/granular/support.hpp"
#include "quadrat/models/granular.hpp"

// The granular model by rows that are kept from step to step, against cells that are built in every step.

namespace quadrat::test {

namespace {

using kept_grains = granular<cpu_context, float>;

[[nodiscard]] kept_grains grains_by(const std::string& method, const points& positions, const points& velocities,
                                    int threads = 1, double spring = 0.5) {
  granular_options options;
  options.parameters.radius = 1.0 / 32;
  options.parameters.spring = spring;
  options.method = method;
  return {cpu_context({.threads = threads, .reproducibility = determinism::canonical}), options, positions, velocities};
}

[[nodiscard]] bool equal_bits(kept_grains& a, kept_grains& b) {
  const auto x = a.state(), y = b.state();
  const auto equal = [](const auto& p, const auto& q) {
    return p.size() == q.size() && std::memcmp(p.data(), q.data(), p.size() * sizeof(p[0])) == 0;
  };
  return equal(x.positions, y.positions) && equal(x.velocities, y.velocities);
}

TEST(kept_rows, give_the_bits_of_cells_whether_grains_rest_or_fly) {
  // At rest, falling, and one that flies through all others by a third of a diameter a step.
  for (const double speed : {0.0, 0.005, 0.04}) {
    for (const int threads : {1, 3}) {
      const points start = scattered(1500, 3, 0, 0.5);
      points velocities(start.size());
      velocities[700] = {speed, speed / 2, 0};
      kept_grains cells = grains_by("counting", start, velocities),
                  rows = grains_by("listed", start, velocities, threads);
      for (int piece = 0; piece < 6; ++piece) {
        cells.advance(25);
        rows.advance(25);
        ASSERT_TRUE(equal_bits(cells, rows)) << speed << " " << threads << " " << piece;
      }
    }
  }
}

TEST(kept_rows, crowds_are_walked_by_cells) {
  // Each would have a row of all others. A weak spring, so that they stay.
  constexpr double weak = 1e-7;
  points start(1200, {0.01, 0.02, 0.03});
  for (std::size_t i = 0; i < start.size(); ++i) start[i][0] += 1e-6 * static_cast<double>(i);
  kept_grains cells = grains_by("counting", start, {}, 1, weak), rows = grains_by("listed", start, {}, 1, weak);
  cells.advance(3);
  rows.advance(3);
  EXPECT_TRUE(equal_bits(cells, rows));
  constexpr std::size_t bytes_of_all_pairs = 1200 * 1200 * 4;
  EXPECT_LT(rows.bytes(), bytes_of_all_pairs / 2);
}

TEST(kept_rows, of_other_grains_at_the_same_places_are_made_anew) {
  const points start = scattered(800, 4, 0, 0.4);
  kept_grains cells = grains_by("counting", start, {}), rows = grains_by("listed", start, {});
  cells.advance(10);
  rows.advance(10);
  auto state = rows.state();
  // The same grains under other names: sums go by other ids.
  std::ranges::reverse(state.positions);
  std::ranges::reverse(state.velocities);
  cells.restore(state);
  rows.restore(state);
  cells.advance(10);
  rows.advance(10);
  EXPECT_TRUE(equal_bits(cells, rows));
}

TEST(kept_rows, no_grains_or_one) {
  for (const std::size_t count : {0u, 1u}) {
    kept_grains rows = grains_by("listed", scattered(count, 5), {});
    rows.advance(40);
    rows.check();
    EXPECT_EQ(rows.positions().size(), count);
  }
}

}  // namespace

}  // namespace quadrat::test
