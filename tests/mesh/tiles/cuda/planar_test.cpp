// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "mesh/tiles/cuda/cover.hpp"
#include "mesh/tiles/cuda/plan.hpp"

// Tiles of one and two dimensions: patches contain all footprints, and each mesh point gets the shares of all patches
// that contain it.

namespace quadrat::detail {

namespace {

mesh_shape random_planar_shape(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  mesh_shape shape{{1, 1, 1}, {1, 1, 1}, {true, true, true}, seed % 2 == 0 ? 1 : 2};
  const int width = 1 + below(8);
  for (int axis = shape.first_axis; axis < 3; ++axis) {
    shape.width[axis] = width;
    shape.extent[axis] = seed % 3 == 0 ? 1 + below(width + 2) : 1 + below(90);
    shape.periodic[axis] = below(2) == 0;
  }
  return shape;
}

TEST(planar_tiles, have_patches_that_contain_their_footprints) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const mesh_shape shape = random_planar_shape(seed);
    const tile_plan plan = plan_tiles(shape, true, 5 * shape.size(), false);
    const tile_grid& grid = plan.grid;
    ASSERT_TRUE(grid.planar);
    EXPECT_FALSE(plan.collects);
    EXPECT_EQ(grid.segment_count(), grid.tile_count());
    EXPECT_EQ(grid.segment_reach(), 1);
    for (int axis = 1; axis < 3; ++axis) {
      EXPECT_LE(grid.reach(axis), planar_patch);
      EXPECT_GE(grid.tiles[axis] * grid.edge[axis], grid.starts(axis));
    }
  }
}

TEST(planar_tiles, are_for_dense_points_in_one_or_two_dimensions_and_windows_that_fit) {
  const auto planar = [](int first_axis, int width, double density) {
    mesh_shape shape{{1, 1, 1}, {1, 1, 1}, {true, true, true}, first_axis};
    for (int axis = first_axis; axis < 3; ++axis) shape.extent[axis] = 50, shape.width[axis] = width;
    return plan_tiles(shape, false, static_cast<std::size_t>(density * static_cast<double>(shape.size())), false)
        .grid.planar;
  };
  for (const int first_axis : {1, 2}) {
    EXPECT_TRUE(planar(first_axis, 8, 0.2));
    EXPECT_TRUE(planar(first_axis, 1, 30));
    EXPECT_FALSE(planar(first_axis, 8, 0.05));
    EXPECT_FALSE(planar(first_axis, 9, 3));
  }
  EXPECT_FALSE(planar(0, 6, 3));
}

/// Units of numbers that are exact in sums.
TEST(planar_tiles, give_each_mesh_point_the_shares_of_all_units_that_reach_it) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const mesh_shape shape = random_planar_shape(seed);
    const tile_grid grid = plan_tiles(shape, true, 5 * shape.size(), false).grid;
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> firsts(grid.segment_count() + 1);
    for (std::size_t s = 1; s < firsts.size(); ++s)
      firsts[s] = firsts[s - 1] + static_cast<std::uint32_t>(random() % 3);
    std::vector<double> sums(firsts.back() * std::size_t{planar_size});
    for (double& sum : sums) sum = static_cast<double>(random() % 1000);
    std::vector<double> wanted(shape.size());
    for (std::size_t segment = 0; segment + 1 < firsts.size(); ++segment) {
      const int row = static_cast<int>(segment) / grid.tiles[2], column = static_cast<int>(segment) % grid.tiles[2];
      for (std::uint32_t unit = firsts[segment]; unit < firsts[segment + 1]; ++unit) {
        for (int j = 0; j < grid.reach(1); ++j) {
          for (int k = 0; k < grid.reach(2); ++k) {
            const int at_j = shape.home(grid.origin[1] + row * grid.edge[1] + j, 1),
                      at_k = shape.home(grid.origin[2] + column * grid.edge[2] + k, 2);
            if (at_j < 0 || at_k < 0) continue;
            wanted[shape.node(0, at_j, at_k)] +=
                sums[unit * std::size_t{planar_size} + static_cast<std::size_t>(j * planar_patch + k)];
          }
        }
      }
    }
    const tile_covers covers = make_tile_covers(grid);
    const tile_shares<double> shares{sums.data(), firsts.data()};
    for (int j = 0; j < shape.extent[1]; ++j) {
      for (int k = 0; k < shape.extent[2]; ++k) {
        double sum[tile_column][1] = {};
        add_tile_shares<double, 1, planar_patch, planar_patch>(covers, shares, 0, j, k, sum);
        ASSERT_EQ(sum[0][0], wanted[shape.node(0, j, k)]) << j << ", " << k;
      }
    }
  }
}

}  // namespace

}  // namespace quadrat::detail
