// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/patches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "mesh/tiles/cuda/plan.hpp"
#include "mesh/tiles/cuda/sort/locator.hpp"

// Patches of tiles contain every point once, at the position in its record, and fit into their kernels' memory.

namespace quadrat::detail {

namespace {

struct patches_case {
  mesh_shape shape{};
  bool clip = false;
  double density = 0;
  std::vector<placed_point<float>> points;
};

/// `wide`: 0 for any width of ordinary patches.
patches_case random_patches_case(std::uint64_t seed, int wide = 0) {
  std::mt19937_64 random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  patches_case it;
  const int most = seed % 3 == 0 ? 8 : 70, width = wide > 0 ? wide : 1 + below(patch_most_width);
  for (int axis = 0; axis < 3; ++axis) {
    it.shape.width[axis] = width;
    it.shape.extent[axis] = 1 + below(most);
    it.shape.periodic[axis] = below(2) == 0;
  }
  it.shape.extent[2] += it.shape.extent[2] % 2;
  it.clip = true;
  it.density = std::vector<double>{0.0005, 0.01, 0.05, 0.15, 0.4, 1.4}[seed % 6];
  it.points.resize(200);
  for (std::size_t i = 0; i < it.points.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const bool periodic = it.shape.periodic[axis];
      const int first = below(it.shape.extent[axis] + (periodic ? 0 : width + 1)) - (periodic ? 0 : width);
      // Half of the points are a crowd.
      it.points[i].first[axis] = i >= 100 ? it.points[0].first[axis] : first;
    }
  }
  return it;
}

/// Points in the order of tiles.
struct points_of_tiles {
  std::vector<std::uint32_t> offsets;
  std::vector<tile_record<float>> records;

  points_of_tiles(const tile_grid& grid, const std::vector<placed_point<float>>& points)
      : offsets(grid.tile_count() + 1), records(points.size()) {
    const tile_locator<float> find(grid);
    std::vector<tiled_point<float>> found;
    for (const auto& point : points) found.push_back(find(point, static_cast<particle_id>(found.size())));
    for (const auto& point : found) ++offsets[point.tile + 1];
    for (std::size_t t = 1; t < offsets.size(); ++t) offsets[t] += offsets[t - 1];
    std::vector<std::uint32_t> next(offsets);
    for (const auto& point : found) records[next[point.tile]++] = point.record;
  }
};

/// Calls see(patch index, first mesh point relative to the patch, record) for all points; returns the number of extra
/// blocks.
template <typename See>
std::size_t for_each_point(const tile_grid& grid, const tile_patches& patches, const points_of_tiles& points,
                           const See& see) {
  std::size_t extras = 0;
  for (std::uint32_t number = 0; number < patches.total(); ++number) {
    int at[3];
    patches.locate(number, at);
    std::uint32_t total = 0;
    for (int k = 0; k < patches.runs(); ++k) {
      const tile_patch_run run = run_of_patch(grid, patches, points.offsets.data(), at, k);
      total += run.length;
      for (std::uint32_t slot = run.first; slot < run.first + run.length; ++slot) {
        const auto& record = points.records[slot];
        int first[3];
        for (int axis = 0; axis < 3; ++axis) first[axis] = run.offset[axis] + offset_of<float>(record.place[axis]);
        see(at, first, record);
      }
    }
    extras += std::max(patches.shares(total), 1u) - 1;
  }
  return extras;
}

void expect_every_point_once(const patches_case& it, const tile_grid& grid, const tile_patches& patches) {
  ASSERT_TRUE(patches.any());
  EXPECT_LE(patches.runs(), most_patch_runs);
  const points_of_tiles points(grid, it.points);
  std::vector<int> seen(it.points.size());
  const std::size_t extras = for_each_point(
      grid, patches, points, [&](const int(&at)[3], const int(&first)[3], const tile_record<float>& record) {
        ++seen[record.id];
        for (int axis = 0; axis < 3; ++axis) {
          EXPECT_EQ(patch_origin(grid, patches, at[axis], axis) + first[axis], it.points[record.id].first[axis]);
          EXPECT_GE(first[axis], 0);
          EXPECT_LT(first[axis], patches.tiles[axis] * grid.edge[axis]);
        }
      });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(seen.size()));
  EXPECT_LE(extras, it.points.size() / patches.share);
}

TEST(tile_patches, have_every_point_once) {
  for (std::uint64_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const patches_case it = random_patches_case(seed);
    const auto count = static_cast<std::size_t>(it.density * static_cast<double>(it.shape.size()));
    const tile_grid grid = plan_tiles(it.shape, it.clip, count, false).grid;
    tile_patches patches = make_patches(grid, count);
    const int most = patch_tiles(it.shape.width[0]) * (tile_patch - it.shape.width[0] + 1);
    EXPECT_LE(patches.tiles[0] * grid.edge[0], most);
    EXPECT_LE(patches.tiles[1] * grid.edge[1], most);
    EXPECT_LE(patches.tiles[2] * grid.edge[2], patch_most_last);
    patches.share = 20;  // crowds are divided
    expect_every_point_once(it, grid, patches);
    patches = make_direct_patches(grid, it.density);
    patches.share = 30;
    expect_every_point_once(it, grid, patches);
  }
}

TEST(tile_patches, of_cubes_have_every_point_once) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const patches_case it = random_patches_case(seed, tile_patch);
    const auto count = static_cast<std::size_t>(it.density * static_cast<double>(it.shape.size()));
    const tile_plan plan = plan_tiles(it.shape, it.clip, count, seed % 4 < 2);
    tile_patches patches = plan.patches;
    if (!patches.any()) continue;
    ++found;
    EXPECT_EQ(plan.reading, tile_reading::cubes);
    EXPECT_LE(patches.tiles[0] * plan.grid.edge[0], cube_patch_edge);
    EXPECT_LE(patches.tiles[1] * plan.grid.edge[1], cube_patch_edge);
    EXPECT_LE(patches.tiles[2] * plan.grid.edge[2], cube_patch_last);
    for (int k = 0; k < patches.count[2]; ++k) EXPECT_EQ(patch_origin(plan.grid, patches, k, 2) % 2, 0);
    patches.share = 20;
    expect_every_point_once(it, plan.grid, patches);
  }
  EXPECT_GT(found, 40);
}

TEST(tile_patches, are_there_where_rows_are_pairs_that_eight_threads_can_take) {
  const auto has = [](const mesh_shape& shape, std::size_t count) {
    return plan_tiles(shape, true, count, false).patches.any();
  };
  const mesh_shape fits{{30, 31, 32}, {7, 7, 7}, {true, true, true}, 0};
  for (const std::size_t count : {100u, 2000u, 20'000u}) EXPECT_TRUE(has(fits, count)) << count;
  EXPECT_FALSE(has(fits, 50'000));
  const mesh_shape odd{{30, 32, 31}, {7, 7, 7}, {true, true, true}, 0};
  const mesh_shape wide{{30, 31, 32}, {9, 9, 9}, {true, true, true}, 0};
  const mesh_shape flat{{1, 31, 32}, {1, 7, 7}, {false, true, true}, 1};
  for (const mesh_shape& shape : {odd, wide, flat}) {
    for (const std::size_t count : {5u, 40u, 600u, 4000u}) EXPECT_FALSE(has(shape, count)) << count;
  }
}

}  // namespace

}  // namespace quadrat::detail
