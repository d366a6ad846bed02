// SPDX-License-Identifier: BSD-3-Clause
#include "search/cells.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/lattice.hpp"

// When the cells of a neighbor list are rebuilt.

namespace quadrat::test {

TEST(neighbor_cells, are_made_again_for_other_boxes_and_for_twice_or_half_the_points) {
  const cpu_context context;
  const std::vector<lattice<float, 3>> boxes{
      make_lattice(make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true}))};
  const auto input_of = [&](std::size_t points) {
    neighbor_input<float, 3> input;
    input.points.count = points;
    input.boxes = boxes;
    return input;
  };
  detail::search_cells<cpu_context, float, 3> cells;
  const auto unfit = [&](std::size_t points, std::uint64_t boxes_number) {
    return cells.unfit({input_of(points), points, boxes_number, true, true, true, false, nullptr, 0});
  };
  EXPECT_TRUE(unfit(100, 1));
  const auto input = input_of(100);
  cells.cut(context, {input, 100, 1, true, true, true, false, nullptr, 0}, {{0.1f, 0.1f, 0.1f}, 0.1f, 1000, false});
  // Relative to when the cells were made, however gradual the change.
  for (std::size_t points = 50; points <= 200; ++points) EXPECT_FALSE(unfit(points, 1)) << points;
  EXPECT_TRUE(unfit(49, 1));
  EXPECT_TRUE(unfit(201, 1));
  EXPECT_TRUE(unfit(100, 2));
}

}  // namespace quadrat::test
