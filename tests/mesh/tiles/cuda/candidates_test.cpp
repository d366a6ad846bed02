// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/spread/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "mesh/tiles/cuda/plan.hpp"
#include "mesh/tiles/cuda/sort/locator.hpp"

// Patches that collect points look at every footprint that reaches them once, and no warp looks at many more points
// than others, wherever the points are.

namespace quadrat::detail {

namespace {

struct collect_case {
  mesh_shape shape{};
  std::vector<placed_point<float>> points;
};

/// Wide windows, or so few points that patches collect them; half of the points a crowd.
collect_case random_collect_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  collect_case it;
  it.shape = {{1, 1, 1}, {1, 1, 1}, {true, true, true}, seed % 4 == 0 ? 2 : seed % 4 == 1 ? 1 : 0};
  const int width = seed % 2 == 0 ? 9 + below(8) : 1 + below(8);
  for (int axis = it.shape.first_axis; axis < 3; ++axis) {
    it.shape.width[axis] = width;
    it.shape.extent[axis] = seed % 3 == 0 ? 1 + below(width + 3) : 8 + below(it.shape.first_axis > 0 ? 300 : 30);
    it.shape.periodic[axis] = below(2) == 0;
  }
  it.points.resize(1 + it.shape.size() / 12 % 150);
  for (std::size_t i = 0; i < it.points.size(); ++i) {
    for (int axis = it.shape.first_axis; axis < 3; ++axis) {
      const bool periodic = it.shape.periodic[axis];
      const int first = below(it.shape.extent[axis] + (periodic ? 0 : width + 1)) - (periodic ? 0 : width);
      it.points[i].first[axis] = i % 2 == 1 ? it.points[0].first[axis] : first;
    }
  }
  return it;
}

/// Points in the order of tiles: their places in the caller's order, and where tiles begin.
struct sorted_points {
  std::vector<std::uint32_t> offsets;
  std::vector<tile_record<float>> records;

  sorted_points(const tile_grid& grid, const std::vector<placed_point<float>>& points)
      : offsets(grid.tile_count() + 1), records(points.size()) {
    const tile_locator<float> find(grid);
    std::vector<tiled_point<float>> found;
    for (const auto& point : points) found.push_back(find(point, static_cast<particle_id>(found.size())));
    for (const auto& point : found) ++offsets[point.tile + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<std::uint32_t> next(offsets);
    for (const auto& point : found) records[next[point.tile]++] = point.record;
  }
};

/// Images of a footprint that reach the patch from `begin` on along an axis.
int images_that_reach(const mesh_shape& shape, int axis, int first, int begin) {
  int images = 0;
  const int most = shape.periodic[axis] ? 60 : 0;
  for (int k = -most; k <= most; ++k) {
    const int offset = first + k * shape.extent[axis] - begin;
    images += offset > -shape.width[axis] && offset < tile_patch ? 1 : 0;
  }
  return images;
}

/// Counts by point how often the shares of a patch, together, have a footprint that reaches it.
std::vector<int> seen_by_patch(const tile_grid& grid, const sorted_points& points, const int (&begin)[3],
                               std::uint32_t share_size) {
  std::vector<int> seen(points.records.size());
  const tile_candidates candidates(grid, points.offsets.data(), begin);
  const auto shares = static_cast<std::uint32_t>((candidates.points() + share_size - 1) / share_size);
  for (std::uint32_t number = 0; number < shares; ++number) {
    const candidate_share share(number, share_size);
    std::uint64_t before = 0;
    std::uint32_t looked_at = 0;
    for (int k = 0; k < candidates.runs(); ++k) {
      const tile_run whole = candidates.run(k), run = share.part_of(whole, before);
      before += whole.length;
      looked_at += run.length;
      for (std::uint32_t slot = run.first; slot < run.first + run.length; ++slot) {
        bool reaches = true;
        for (int axis = 0; axis < 3; ++axis) {
          int first = run.base[axis] + offset_of<float>(points.records[slot].place[axis]);
          if (axis == 0 && first < run.from) first += grid.segment * grid.edge[0];
          const int offset = first - begin[axis];
          reaches = reaches && offset > -grid.shape.width[axis] && offset < tile_patch;
        }
        seen[points.records[slot].id] += reaches ? 1 : 0;
      }
    }
    EXPECT_LE(looked_at, share_size);
  }
  return seen;
}

TEST(tile_candidates, have_every_footprint_that_reaches_a_patch_once) {
  for (std::uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const collect_case it = random_collect_case(seed);
    const tile_plan plan = plan_tiles(it.shape, true, it.points.size(), false);
    if (!plan.collects) continue;
    const sorted_points points(plan.grid, it.points);
    const tile_mesh_patches patches(it.shape);
    for (std::uint32_t patch = 0; patch < patches.total(); ++patch) {
      int begin[3];
      patches.locate(patch, begin);
      const std::vector<int> seen = seen_by_patch(plan.grid, points, begin, 7 + static_cast<std::uint32_t>(seed % 40));
      for (std::size_t i = 0; i < seen.size(); ++i) {
        int wanted = 1;
        for (int axis = 0; axis < 3; ++axis) {
          wanted *= images_that_reach(it.shape, axis, it.points[i].first[axis], begin[axis]);
        }
        ASSERT_EQ(seen[i], wanted) << "point " << i << ", patch " << patch;
      }
    }
  }
}

/// Where points are: tiles that have all of them in equal parts.
std::vector<std::uint32_t> offsets_of(const tile_grid& grid, std::size_t count, const std::vector<std::size_t>& tiles) {
  std::vector<std::uint32_t> offsets(grid.tile_count() + 1);
  for (const std::size_t tile : tiles) offsets[tile + 1] += static_cast<std::uint32_t>(count / tiles.size());
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

struct collect_cost {
  std::uint64_t most_of_a_warp = 0, of_all = 0, extras = 0;
  double per_point = 0;
};

collect_cost cost_of(const tile_plan& plan, const std::vector<std::uint32_t>& offsets) {
  collect_cost cost;
  const tile_mesh_patches patches(plan.grid.shape);
  for (std::uint32_t patch = 0; patch < patches.total(); ++patch) {
    int begin[3];
    patches.locate(patch, begin);
    const std::uint64_t candidates = tile_candidates(plan.grid, offsets.data(), begin).points();
    cost.of_all += candidates;
    cost.most_of_a_warp = std::max(cost.most_of_a_warp, std::min<std::uint64_t>(candidates, plan.crowds.share));
    cost.extras += std::max(plan.crowds.shares(candidates), 1u) - 1;
  }
  cost.per_point = static_cast<double>(cost.of_all) / offsets.back();
  return cost;
}

/// No warp has more candidates than a few thousandths of all, or a hundred, in whatever place they are, and all warps
/// together have at most twice those of uniform points.
void expect_divided_crowds(std::size_t count) {
  for (const int width : {6, 9, 13, 16}) {
    const mesh_shape shape{{224, 224, 224}, {width, width, width}, {true, true, true}, 0};
    const tile_plan plan = plan_tiles(shape, false, count, true);
    ASSERT_TRUE(plan.collects);
    const std::size_t tiles = plan.grid.tile_count();
    std::vector<std::size_t> line, all(tiles);
    for (std::size_t tile = 0; tile < tiles; tile += tiles / 50) line.push_back(tile);
    std::iota(all.begin(), all.end(), std::size_t{0});
    const collect_cost uniform = cost_of(plan, offsets_of(plan.grid, tiles, all));
    for (const auto& places : {std::vector<std::size_t>{tiles / 3}, {7, tiles / 2}, line}) {
      SCOPED_TRACE(testing::Message() << "width " << width << ", " << count << " points, " << places.size()
                                      << " places");
      const collect_cost crowd = cost_of(plan, offsets_of(plan.grid, count, places));
      EXPECT_LE(crowd.most_of_a_warp, std::max<std::uint64_t>(128, crowd.of_all / 500));
      EXPECT_LE(crowd.per_point, 2 * uniform.per_point);
      EXPECT_LE(crowd.extras, plan.crowds.most_extras);
      EXPECT_LE(plan.crowd_size() * sizeof(float), 32u << 20);
    }
  }
}

TEST(tile_candidates, of_crowds_are_divided_among_warps) {
  for (const std::size_t count : {3000u, 100'000u, 1'000'000u}) expect_divided_crowds(count);
}

/// Images of few mesh points: the bound of extra shares holds for every shape.
TEST(tile_candidates, never_need_more_shares_than_planned) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const collect_case it = random_collect_case(seed);
    const std::size_t few = std::max<std::size_t>(it.shape.size() / 12, 1);
    const std::size_t count = it.shape.width[2] > tile_patch ? 3'000'000 : few;
    const tile_plan plan = plan_tiles(it.shape, true, count, true);
    if (!plan.collects) continue;
    std::mt19937_64 random(seed);
    const auto offsets = offsets_of(plan.grid, count, {random() % plan.grid.tile_count()});
    EXPECT_LE(cost_of(plan, offsets).extras, plan.crowds.most_extras);
  }
}

}  // namespace

}  // namespace quadrat::detail
