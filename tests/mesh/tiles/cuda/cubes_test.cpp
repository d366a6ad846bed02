// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "mesh/tiles/cuda/plan.hpp"

// Which footprints are spread and read by cubes of the mesh, and that they fit.

namespace quadrat::detail {

namespace {

mesh_shape cubic(int extent, int width) {
  return {{extent, extent, extent}, {width, width, width}, {true, true, true}, 0};
}

TEST(tile_cubes, hold_all_footprints_of_a_tile) {
  std::mt19937_64 random(5);
  int seen = 0;
  for (int round = 0; round < 2000; ++round) {
    const int width = 8 + static_cast<int>(random() % 9);
    mesh_shape shape = cubic(1, width);
    for (int axis = 0; axis < 3; ++axis) {
      shape.extent[axis] = 1 + static_cast<int>(random() % 90);
      shape.periodic[axis] = random() % 2 == 0;
    }
    const std::size_t count = 1 + random() % (2 * shape.size());
    for (const bool ordered : {false, true}) {
      const tile_plan plan = plan_tiles(shape, random() % 2 == 0, count, ordered);
      EXPECT_EQ(plan.cube > 0, plan.reading == tile_reading::cubes);
      if (plan.cube == 0) continue;
      ++seen;
      EXPECT_TRUE(plan.cube == 16 || plan.cube == 24);
      for (int axis = 0; axis < 3; ++axis) {
        EXPECT_LE(plan.grid.reach(axis), plan.cube);
        EXPECT_GE(plan.grid.tiles[axis] * plan.grid.edge[axis], plan.grid.starts(axis));
      }
      EXPECT_LE(plan.grid.segment * plan.grid.edge[0], most_tile_offset + 1);
      EXPECT_EQ(plan.collects, ordered) << "sums of cubes are added in any order";
      EXPECT_GE(plan.most_units, std::min(count, plan.grid.segment_count()));
      EXPECT_GT(plan.unit_points, 0u);
      EXPECT_LE(plan.unit_points, plan.cube == 24 ? most_cube_slab_points : 2048);
    }
  }
  EXPECT_GT(seen, 1000);
}

TEST(tile_cubes, are_for_long_footprints_in_three_dimensions_whose_tiles_have_points) {
  EXPECT_EQ(plan_tiles(cubic(256, 11), false, 10'000'000, false).cube, 16);
  EXPECT_EQ(plan_tiles(cubic(256, 14), false, 1'000'000, false).cube, 24);
  EXPECT_EQ(plan_tiles(cubic(256, 11), false, 10'000, false).cube, 0) << "a point in every eighth tile";
  EXPECT_EQ(plan_tiles(cubic(256, 6), false, 10'000'000, false).cube, 0);
  EXPECT_EQ(plan_tiles({{1, 256, 256}, {1, 11, 11}, {true, true, true}, 1}, false, 100'000, false).cube, 0);
}

}  // namespace

}  // namespace quadrat::detail
