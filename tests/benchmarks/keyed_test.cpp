// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "keyed/distributions.hpp"
#include "keyed/problem.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::bench {
namespace {

using key_list = std::vector<std::uint32_t>;

key_list sorted(key_list keys) {
  std::ranges::sort(keys);
  return keys;
}

std::size_t equal_neighbors(const key_list& keys) {
  std::size_t found = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) found += keys[i] == keys[i - 1] ? 1 : 0;
  return found;
}

TEST(key_orders, are_in_range_and_repeatable) {
  for (const std::string_view order : key_orders) {
    for (const std::uint32_t keys : {1u, 997u}) {
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{10'001}}) {
        const key_list made = make_keys(order, n, keys);
        ASSERT_EQ(made.size(), n) << order;
        for (const std::uint32_t key : made) ASSERT_LT(key, keys) << order;
        ASSERT_EQ(made, make_keys(order, n, keys)) << order;
      }
    }
  }
  EXPECT_NE(make_keys("random", 100, 1000, 1), make_keys("random", 100, 1000, 2));
}

TEST(key_orders, unknown_ones_and_no_keys_are_errors) {
  EXPECT_THROW(static_cast<void>(make_keys("sorted", 10, 10)), argument_error);
  EXPECT_THROW(static_cast<void>(make_keys("random", 10, 0)), argument_error);
}

TEST(key_orders, ordered_is_random_sorted) {
  const key_list random = make_keys("random", 10'000, 1000);
  EXPECT_FALSE(std::ranges::is_sorted(random));
  EXPECT_EQ(make_keys("ordered", 10'000, 1000), sorted(random));
}

TEST(key_orders, others_with_the_same_keys) {
  const key_list ordered = make_keys("ordered", 10'000, 1000);
  for (const std::string_view order : {"sorted_blocks", "shuffled_blocks", "nearly_ordered"}) {
    const key_list keys = make_keys(order, 10'000, 1000);
    EXPECT_NE(keys, ordered) << order;
    EXPECT_EQ(sorted(keys), ordered) << order;
  }
  const key_list blocks = make_keys("sorted_blocks", 10'000, 1000);
  EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.begin() + 4096));
  EXPECT_FALSE(std::is_sorted(blocks.begin(), blocks.begin() + 4200));
}

TEST(key_orders, nearly_ordered_has_few_out_of_place) {
  const key_list ordered = make_keys("ordered", 100'000, 1000);
  const key_list nearly = make_keys("nearly_ordered", 100'000, 1000);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < nearly.size(); ++i) moved += nearly[i] != ordered[i] ? 1 : 0;
  EXPECT_GT(moved, 1800u);
  EXPECT_LE(moved, 2000u);
}

/// Counts the cyclic moves of keys along each axis.
TEST(key_orders, shifted_moves_by_one_along_each_axis_with_probability_one_half) {
  constexpr std::uint32_t side = 10;
  constexpr std::size_t n = 80'000;
  const key_list ordered = make_keys("ordered", n, side * side * side);
  const key_list shifted = make_keys("shifted", n, side * side * side);
  std::map<std::uint32_t, std::size_t> moves;  // one bit per axis
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t move = 0;
    std::uint32_t stride = 1;
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      const std::uint32_t along = (shifted[i] / stride % side + side - ordered[i] / stride % side) % side;
      ASSERT_LE(along, 1u);
      move |= along << axis;
      stride *= side;
    }
    ++moves[move];
  }
  ASSERT_EQ(moves.size(), 8u);
  for (const auto& [move, count] : moves) EXPECT_NEAR(static_cast<double>(count), n / 8.0, 500) << "move " << move;
}

TEST(key_orders, key_grid_is_near_to_a_cube) {
  EXPECT_EQ(key_grid(1'000'000), (std::array<std::uint32_t, 3>{100, 100, 100}));
  EXPECT_EQ(key_grid(8'000'000), (std::array<std::uint32_t, 3>{200, 200, 200}));
  EXPECT_EQ(key_grid(16), (std::array<std::uint32_t, 3>{2, 2, 4}));
  EXPECT_EQ(key_grid(97), (std::array<std::uint32_t, 3>{1, 1, 97}));
  EXPECT_EQ(key_grid(1), (std::array<std::uint32_t, 3>{1, 1, 1}));
}

TEST(key_orders, zipf_falls_as_one_over_the_rank) {
  constexpr std::size_t n = 200'000;
  std::map<std::uint32_t, std::size_t> count;
  for (const std::uint32_t key : make_keys("zipf", n, 1000)) ++count[key];
  std::vector<std::size_t> by_rank;
  for (const auto& [key, times] : count) by_rank.push_back(times);
  std::ranges::sort(by_rank, std::greater{});
  // A rank r has log(1 + 1 / r) / log(1001) of the elements.
  const double scale = n / std::log(1001.0);
  for (const std::size_t rank : {1u, 2u, 10u}) {
    const double expected = scale * std::log1p(1.0 / static_cast<double>(rank));
    EXPECT_NEAR(static_cast<double>(by_rank[rank - 1]), expected, 0.1 * expected) << "rank " << rank;
  }
}

TEST(key_orders, runs_one_key_and_round_robin) {
  const key_list runs = make_keys("runs", 8000, 1'000'000);
  for (std::size_t i = 0; i < runs.size(); ++i) ASSERT_EQ(runs[i], runs[i / 8 * 8]);
  EXPECT_LE(equal_neighbors(runs), 7002u);
  EXPECT_EQ(make_keys("one_key", 3, 7), (key_list{3, 3, 3}));
  EXPECT_EQ(make_keys("round_robin", 5, 3), (key_list{0, 1, 2, 0, 1}));
}

TEST(keyed_sums, by_hand) {
  const key_list keys{2, 0, 2, 2};
  const std::vector<std::int8_t> values{1, 10, 2, 20, -3, 30, 100, 100};
  EXPECT_EQ(sums_by_key(keys, values, 4, 2), (std::vector<std::int64_t>{2, 20, 0, 0, 98, 140, 0, 0}));
}

TEST(keyed_problem, notices_a_lost_element_and_a_wrong_key) {
  const cpu_context context;
  key_list keys = make_keys("random", 5000, 100);
  keyed_problem<cpu_context, float> problem(context, keys, 100, 2);
  key_reducer<cpu_context> reducer(context, 100);
  problem.set_keys(reducer);
  EXPECT_NO_THROW(problem.check(reducer, "auto"));
  std::swap(keys[17], keys[4000]);
  ASSERT_NE(keys[17], keys[4000]);
  reducer.set_keys(keys.data(), keys.size());
  EXPECT_THROW(problem.check(reducer, "auto"), disagreement);
}

}  // namespace
}  // namespace quadrat::bench
