// SPDX-License-Identifier: BSD-3-Clause
#include "search/nearest/insert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace quadrat::test {

namespace {

using insert_entry = std::pair<double, std::uint64_t>;

template <typename... Numbers>
[[nodiscard]] std::vector<std::size_t> insert_sizes(Numbers... numbers) {
  return {static_cast<std::size_t>(numbers)...};
}

/// Random entries, many of which tie in distance, some also in the upper half of their keys.
[[nodiscard]] std::vector<insert_entry> random_entries(std::mt19937_64& random, std::size_t count) {
  std::vector<insert_entry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    entries.emplace_back(static_cast<double>(random() % 40) / 8, (random() % 5) << 62 | i << 3);
  }
  std::shuffle(entries.begin(), entries.end(), random);
  return entries;
}

}  // namespace

TEST(insert_nearest, every_variant_keeps_the_first_in_order) {
  std::mt19937_64 random(1);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const detail::insert_nearest_function insert : detail::insert_nearest_functions()) {
    for (const std::size_t k : insert_sizes(1, 8, 9, 16, 30, 32, 33, 64)) {
      const std::size_t groups = detail::nearest_groups(k);
      for (const std::size_t count : insert_sizes(0, 1, 7, 20, 64, 300)) {
        std::vector<insert_entry> entries = random_entries(random, count);
        detail::nearest_list list;
        list.clear(groups, infinity);
        for (std::size_t first = 0; first < count; first += 50) {  // in several calls
          std::vector<double> squared;
          std::vector<std::uint64_t> keys;
          for (std::size_t i = first; i < std::min(first + 50, count); ++i) {
            squared.push_back(entries[i].first);
            keys.push_back(entries[i].second);
          }
          insert(squared.data(), keys.data(), squared.size(), list, groups);
        }
        std::sort(entries.begin(), entries.end());
        for (std::size_t place = 0; place < groups * detail::nearest_group; ++place) {
          const insert_entry wanted = place < count ? entries[place] : insert_entry(infinity, 0);
          const std::size_t at = detail::nearest_group + place;
          ASSERT_EQ(list.squared[at], wanted.first) << "k " << k << ", count " << count << ", place " << place;
          ASSERT_EQ(list.key[at], wanted.second) << "k " << k << ", count " << count << ", place " << place;
        }
      }
    }
  }
}

TEST(insert_nearest, what_is_as_far_as_the_cutoff_is_left_out) {
  for (const detail::insert_nearest_function insert : detail::insert_nearest_functions()) {
    detail::nearest_list list;
    list.clear(1, 4.0);
    const double squared[] = {4, 5, 1};
    const std::uint64_t keys[] = {1, 2, 3};
    insert(squared, keys, 3, list, 1);
    EXPECT_EQ(list.squared[detail::nearest_group], 1);
    EXPECT_EQ(list.squared[detail::nearest_group + 1], 4);
    EXPECT_EQ(list.key[detail::nearest_group + 1], 0u);
  }
}

}  // namespace quadrat::test
