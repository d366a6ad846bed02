// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "search/levels/long_rows.hpp"

// Long rows are cut into parts: all candidates are in one, no part is long, and there is room for all parts.

namespace quadrat::test {

namespace {

struct cut_rows {
  std::vector<std::uint64_t> candidates;
  std::vector<std::uint32_t> slots, cell_rows, parts, first_part;
  std::uint64_t total;
  std::uint32_t count;
  detail::long_rows rows{};

  /// `all`: rows of the list, of which the first ones are long.
  cut_rows(std::vector<std::uint64_t> of_rows, std::size_t all)
      : candidates(std::move(of_rows)),
        slots(all, 5),
        cell_rows(all, 9),
        parts(all),
        first_part(all + 1),
        total(std::accumulate(candidates.begin(), candidates.end(), std::uint64_t{0})),
        count(static_cast<std::uint32_t>(candidates.size())) {
    rows.all = static_cast<std::uint32_t>(all);
    rows.spare = detail::spare_parts(all);
    rows.slots = slots.data();
    rows.count = &count;
    cell_rows[0] = 2000;
    rows.candidates = candidates.data();
    rows.cell_rows = cell_rows.data();
    rows.total = &total;
    rows.parts = parts.data();
    rows.first_part = first_part.data();
    for (std::size_t k = 0; k < all; ++k) detail::cut_long_row{rows}(k);
    std::partial_sum(parts.begin(), parts.end(), first_part.begin() + 1);
  }
};

void expect_sound(const cut_rows& cut) {
  const std::uint32_t parts = cut.first_part.back();
  EXPECT_LE(parts, cut.rows.all + cut.rows.spare);
  for (std::size_t row = 0; row < cut.candidates.size(); ++row) {
    const std::uint64_t own = cut.parts[row];
    const std::uint64_t length = cut.rows.part_length(static_cast<std::uint32_t>(row));
    EXPECT_LE(length, std::max<std::uint64_t>(row == 0 ? 8000 : detail::least_candidates_of_part,
                                              cut.total / cut.rows.spare + 1));
    ASSERT_GE(own, 1u);
    EXPECT_GE(own * length, cut.candidates[row]);
    EXPECT_TRUE(own == 1 || (own - 1) * length < cut.candidates[row]) << "the last part is empty";
    EXPECT_EQ(cut.rows.row_of_part(cut.first_part[row]), row);
    EXPECT_EQ(cut.rows.row_of_part(cut.first_part[row + 1] - 1), row);
  }
  for (std::size_t row = cut.candidates.size(); row < cut.parts.size(); ++row) EXPECT_EQ(cut.parts[row], 0u);
}

}  // namespace

TEST(long_rows_test, parts_hold_every_candidate_once) {
  expect_sound({{1025}, 1});
  expect_sound({{0}, 1});
  expect_sound({{0, 1024, 1025, 2048, 2049, 1}, 1000});
  expect_sound({{1u << 20}, 1u << 20});
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    const std::size_t all = 1 + random() % 3000;
    std::vector<std::uint64_t> candidates(1 + random() % all);
    for (std::uint64_t& each : candidates) each = random() % (std::uint64_t{1} << random() % 24);
    expect_sound({candidates, all});
    if (testing::Test::HasFailure()) return;
  }
}

/// More candidates than parts of the usual length could hold.
TEST(long_rows_test, parts_grow_with_the_candidates) {
  expect_sound({{std::uint64_t{1} << 40}, 1});
  expect_sound({std::vector<std::uint64_t>(50'000, 1'000'000), 50'000});
}

TEST(long_rows_test, all_rows_of_a_list_can_be_long) {
  cut_rows cut({5000, 0, 3}, 3);
  cut.rows.slots = nullptr;
  EXPECT_EQ(cut.rows.size(), 3u);
  EXPECT_EQ(cut.rows.slot(2), 2u);
  expect_sound(cut);
}

}  // namespace quadrat::test
