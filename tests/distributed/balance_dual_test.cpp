// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/balance.hpp"

#include <gtest/gtest.h>

#include "distributed/particles/blocks_of_boxes.hpp"
#include "distributed/particles/weighted_cells.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

class balance_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, balance_test, testing::Values(1, 2, 3, 5, 8));

TEST_P(balance_test, blocks_have_nearly_equal_weight) { EXPECT_NO_THROW(run_ranks(GetParam(), check_balances)); }

template <int D>
[[nodiscard]] bool same(const cell_block<D>& a, const cell_block<D>& b) {
  return a.first == b.first && a.end == b.end;
}

/// The blocks that have cells, in an order of their own.
template <int D>
[[nodiscard]] std::vector<cell_block<D>> filled_blocks(const std::vector<cell_block<D>>& blocks) {
  std::vector<cell_block<D>> result;
  for (const auto& one : blocks) {
    if (!one.empty()) result.push_back(one);
  }
  std::ranges::sort(result, [](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.first.component, a.first.component + D, b.first.component,
                                        b.first.component + D);
  });
  return result;
}

TEST(blocks_of_boxes_test, a_decomposition_is_found_again_from_its_blocks) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const small_system<double, 3> system(seed);
    const int ranks = 1 + static_cast<int>(seed % 17);
    const auto shares = random_decomposition(system.space, ranks, seed);
    auto blocks = shares.blocks;
    std::mt19937_64 random(seed);
    std::shuffle(blocks.begin(), blocks.end(), random);
    const auto found = detail::decomposition_of_blocks(shares.cells, shares.periodic, blocks);
    EXPECT_TRUE(std::ranges::equal(filled_blocks(found.blocks), filled_blocks(shares.blocks), same<3>)) << seed;
    for (std::size_t i = 0; i < system.points.size(); ++i) {
      const auto cell = system.space.unfolded_cell_of(system.points[i]);
      EXPECT_TRUE(found.blocks[static_cast<std::size_t>(found.view().owner(cell))].holds(cell)) << seed;
    }
  }
}

TEST(weighted_cells_test, cells_are_joined_where_they_are_many) {
  std::vector<vec<int, 2>> cells;
  for (int x = 0; x < 600; ++x) {
    for (int y = 0; y < 500; ++y) cells.insert(cells.end(), 2, {x, y});
  }
  detail::weighted_cells<2> few(cells, nullptr);
  EXPECT_EQ(few.shift(), 1);
  const auto weights = few.weights();
  EXPECT_EQ(weights.size(), 300u * 250u);
  EXPECT_TRUE(std::ranges::all_of(weights, [](float one) { return one == 8; }));
  few.coarsen(10);
  EXPECT_EQ(few.weights(), std::vector<float>{600000});
  EXPECT_EQ(few.places({1, 2}), (std::vector<double>{512, 1024}));
}

TEST(weighted_cells_test, blocks_end_between_the_cells_on_both_sides) {
  const detail::weighted_cells<2> cells({{0, 0}, {5, 3}}, nullptr);
  std::vector<detail::part_box> boxes(2);
  boxes[0].upper[0] = boxes[1].lower[0] = 6;  // cells are 2 long: the cut lies between cells 2 and 3
  const auto blocks = cells.blocks(boxes, {2, 1}, {8, 4});
  EXPECT_TRUE(same(blocks[0], {{0, 0}, {3, 4}}));
  EXPECT_TRUE(same(blocks[1], {{3, 0}, {8, 4}}));
}

}  // namespace

}  // namespace quadrat::test
