// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "mesh/tiles/cuda/plan.hpp"
#include "quadrat/core/error.hpp"

// The work of warps that spread and interpolate tile by tile: every point once, and no warp has many more than others,
// wherever the points are.

namespace quadrat::detail {

namespace {

/// Where the points of each tile begin, and the end, with all of them in `crowded` tiles one after another.
std::vector<std::uint32_t> offsets_of_crowd(const tile_grid& grid, std::size_t count, std::size_t crowded) {
  std::vector<std::uint32_t> offsets(grid.tile_count() + 1);
  crowded = std::min(crowded, grid.tile_count());
  const std::size_t first = (grid.tile_count() - crowded) / 2;
  for (std::size_t i = 0; i < count; ++i) ++offsets[first + i % crowded + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

std::vector<tile_unit> units_of(const segment_share& share, std::size_t most) {
  const std::size_t count = share.count();
  std::vector<std::uint32_t> firsts(count + 1);
  const count_units counter{share, firsts.data() + 1};
  for (std::size_t i = 0; i < count; ++i) counter(i);
  std::partial_sum(firsts.begin(), firsts.end(), firsts.begin());
  EXPECT_LE(firsts.back(), most);
  std::vector<tile_unit> units(firsts.back());
  const fill_units fill{share, count, firsts.data(), units.data()};
  for (std::size_t unit = 0; unit < units.size(); ++unit) fill(unit);
  return units;
}

void expect_even_work(const tile_plan& plan, std::size_t count, std::size_t crowded, bool sliced) {
  const std::vector<std::uint32_t> offsets = offsets_of_crowd(plan.grid, count, crowded);
  std::vector<tile_unit> units = units_of({plan.grid, offsets.data(), plan.unit_points, sliced},
                                          sliced ? plan.most_sliced_units : plan.most_units);
  std::ranges::sort(units, {}, &tile_unit::first);
  std::uint32_t end = 0;
  for (const tile_unit& unit : units) {
    EXPECT_EQ(unit.first, end);
    EXPECT_LE(unit.last - unit.first, plan.unit_points);
    end = unit.last;
  }
  EXPECT_EQ(end, count);
}

TEST(tile_units, are_no_longer_where_all_points_are_in_few_tiles) {
  constexpr std::size_t count = 3'000'000;
  const mesh_shape shapes[] = {{{128, 128, 128}, {6, 6, 6}, {true, true, true}, 0},
                               {{96, 96, 96}, {6, 6, 6}, {true, true, true}, 0},
                               {{128, 128, 128}, {10, 10, 10}, {true, true, true}, 0},
                               {{1, 1024, 1024}, {1, 6, 6}, {true, true, true}, 1},
                               {{1, 1, 1 << 20}, {1, 1, 6}, {true, true, true}, 2}};
  for (const mesh_shape& shape : shapes) {
    const tile_plan plan = plan_tiles(shape, false, count, false);
    for (const std::size_t crowded : {1, 2, 43, 1000}) {
      SCOPED_TRACE(message(shape.extent[1], " x ", shape.extent[2], ", ", crowded, " crowded tiles"));
      // Twice as many points as units have where points are everywhere.
      EXPECT_LE(plan.unit_points, 2048);
      expect_even_work(plan, count, crowded, false);
      if (plan.most_sliced_units > 0) expect_even_work(plan, count, crowded, true);
    }
  }
}

}  // namespace

}  // namespace quadrat::detail
