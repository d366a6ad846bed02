// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

#include "models/electrolyte/support.hpp"
#include "reference/electrolyte.hpp"

namespace quadrat::test {

namespace {

TEST(electrolyte_start, has_ions_apart_with_the_temperature_and_no_momentum) {
  for (const std::size_t third : {1, 7, 50}) {
    const electrolyte_options options = mixed_ions(third);
    const electrolyte_particles start = electrolyte_start(options);
    const auto masses = reference::electrolyte_values(options, &ion_species::mass);
    ASSERT_EQ(start.positions.size(), masses.size());
    ASSERT_EQ(start.velocities.size(), masses.size());
    vec<double, 3> momentum{};
    double energy = 0;
    for (std::size_t i = 0; i < masses.size(); ++i) {
      momentum += start.velocities[i] * masses[i];
      energy += masses[i] * squared_norm(start.velocities[i]) / 2;
      for (int axis = 0; axis < 3; ++axis) {
        EXPECT_GE(start.positions[i][axis], 0);
        EXPECT_LT(start.positions[i][axis], options.box[axis]);
      }
      for (std::size_t j = 0; j < i; ++j) {
        vec<double, 3> d = start.positions[i] - start.positions[j];
        for (int a = 0; a < 3; ++a) d[a] -= options.box[a] * std::round(d[a] / options.box[a]);
        EXPECT_GE(norm(d), 1.2 * (1 - 1e-12)) << i << " " << j;
      }
    }
    EXPECT_LT(norm(momentum), 1e-12 * static_cast<double>(masses.size()));
    EXPECT_NEAR(energy, 1.5 * static_cast<double>(masses.size() - 1) * options.temperature, 1e-9);
  }
}

TEST(electrolyte_start, follows_the_seed) {
  electrolyte_options options = mixed_ions();
  const electrolyte_particles one = electrolyte_start(options), same = electrolyte_start(options);
  EXPECT_TRUE(one.positions == same.positions);
  EXPECT_TRUE(one.velocities == same.velocities);
  options.seed = 6;
  EXPECT_FALSE(one.positions == electrolyte_start(options).positions);
}

}  // namespace

}  // namespace quadrat::test
