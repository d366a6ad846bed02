// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quadrat/core/error.hpp"
#include "quadrat/models/granular_friction.hpp"

// Initial positions of grains with friction.

namespace quadrat::test {

namespace {

granular_fill some_fill() {
  granular_fill fill;
  fill.count = 700;
  fill.smallest_radius = 0.003;
  fill.largest_radius = 0.005;
  fill.lower = {-0.05, 0.1, 0};
  fill.upper = {0.05, 0.3, 0.1};
  return fill;
}

TEST(granular_friction_fill, grains_do_not_touch_and_lie_in_the_region) {
  for (const double jitter : {0.0, 0.1, 0.7}) {
    granular_fill fill = some_fill();
    fill.jitter = jitter;
    fill.count = std::min<std::size_t>(fill.count, room_of(fill));
    const granular_filling grains = filled_region(fill);
    ASSERT_EQ(grains.positions.size(), fill.count);
    ASSERT_EQ(grains.radii.size(), fill.count);
    for (std::size_t i = 0; i < fill.count; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        EXPECT_GE(grains.positions[i][axis] - grains.radii[i], fill.lower[a] - 1e-15);
        EXPECT_LE(grains.positions[i][axis] + grains.radii[i], fill.upper[a] + 1e-15);
      }
      for (std::size_t j = 0; j < i; ++j) {
        const double apart = std::sqrt(squared_norm(grains.positions[i] - grains.positions[j]));
        ASSERT_GE(apart, (grains.radii[i] + grains.radii[j]) * (1 - 1e-12)) << i << ", " << j;
      }
    }
    const auto [low, high] = std::minmax_element(grains.radii.begin(), grains.radii.end());
    EXPECT_NEAR(*low, 0.003, 1e-4);
    EXPECT_NEAR(*high, 0.005, 1e-4);
  }
}

TEST(granular_friction_fill, layers_rise_against_gravity) {
  granular_fill fill = some_fill();
  const granular_filling upright = filled_region(fill);
  EXPECT_LT(upright.positions.front()[1], 0.12);
  EXPECT_GT(upright.positions.back()[1], 0.16);
  fill.down = {0, 0.1, 3};
  const granular_filling hanging = filled_region(fill);
  EXPECT_GT(hanging.positions.front()[2], 0.08);
  EXPECT_LT(hanging.positions.back()[2], 0.06);
}

TEST(granular_friction_fill, a_region_that_is_too_small_says_what_it_holds) {
  granular_fill fill = some_fill();
  fill.jitter = 0;
  EXPECT_EQ(room_of(fill), 2000u);
  fill.count = 2001;
  try {
    static_cast<void>(filled_region(fill));
    FAIL();
  } catch (const argument_error& e) {
    EXPECT_NE(std::string(e.what()).find("holds 2000 grains"), std::string::npos) << e.what();
  }
  fill.smallest_radius = 0.006;
  EXPECT_THROW(static_cast<void>(filled_region(fill)), argument_error);
  fill.upper = fill.lower;
  EXPECT_EQ(room_of(fill), 0u);
}

TEST(granular_friction_fill, a_region_without_bounds_is_refused) {
  for (const double bound : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    granular_fill fill = some_fill();
    fill.upper[1] = bound;
    EXPECT_THROW(static_cast<void>(filled_region(fill)), argument_error);
  }
  granular_fill fill = some_fill();
  fill.lower[2] = std::nan("");
  EXPECT_EQ(room_of(fill), 0u);
}

TEST(granular_friction_fill, the_seed_decides) {
  granular_fill fill = some_fill();
  const granular_filling first = filled_region(fill);
  EXPECT_EQ(filled_region(fill).radii, first.radii);
  fill.seed = 2;
  EXPECT_NE(filled_region(fill).radii, first.radii);
}

}  // namespace

}  // namespace quadrat::test
