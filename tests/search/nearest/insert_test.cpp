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

/// A kind of list, with what it takes as squared distances and keys.
struct insert_of_long_keys {
  using list = detail::nearest_list;
  using squared = double;
  using key = std::uint64_t;
  static key key_of(std::uint64_t upper, std::size_t i) { return upper << 62 | i << 3; }
};
struct insert_of_short_keys {
  using list = detail::packed_nearest_list;
  using squared = float;
  using key = std::uint32_t;
  static key key_of(std::uint64_t upper, std::size_t i) { return static_cast<key>(upper << 30 | i << 3); }
};

template <typename... Numbers>
[[nodiscard]] std::vector<std::size_t> insert_sizes(Numbers... numbers) {
  return {static_cast<std::size_t>(numbers)...};
}

template <typename Kind>
class insert_nearest : public testing::Test {
 protected:
  using entry = std::pair<typename Kind::squared, typename Kind::key>;

  /// Random entries, many of which tie in distance, some also in the upper bits of their keys.
  [[nodiscard]] std::vector<entry> random_entries(std::size_t count) {
    std::vector<entry> entries;
    for (std::size_t i = 0; i < count; ++i) {
      entries.emplace_back(static_cast<typename Kind::squared>(random_() % 40) / 8, Kind::key_of(random_() % 5, i));
    }
    std::shuffle(entries.begin(), entries.end(), random_);
    return entries;
  }

  std::mt19937_64 random_{1};
};

}  // namespace

using insert_kinds = testing::Types<insert_of_long_keys, insert_of_short_keys>;
TYPED_TEST_SUITE(insert_nearest, insert_kinds);

TYPED_TEST(insert_nearest, every_variant_keeps_the_first_in_order) {
  using list_type = typename TypeParam::list;
  using squared = typename TypeParam::squared;
  const squared infinity = std::numeric_limits<squared>::infinity();
  for (const auto insert : detail::insert_nearest_functions<list_type>()) {
    for (const std::size_t k : insert_sizes(1, 8, 9, 16, 30, 32, 33, 64)) {
      const std::size_t groups = detail::nearest_groups(k);
      for (const std::size_t count : insert_sizes(0, 1, 7, 20, 64, 300)) {
        auto entries = this->random_entries(count);
        list_type list;
        list.clear(groups, infinity);
        for (std::size_t first = 0; first < count; first += 50) {  // in several calls
          typename list_type::candidates candidates;
          const std::size_t some = std::min<std::size_t>(50, count - first);
          for (std::size_t i = 0; i < some; ++i) candidates.put(i, entries[first + i].first, entries[first + i].second);
          insert(candidates, some, list, groups);
        }
        std::sort(entries.begin(), entries.end());
        for (std::size_t place = 0; place < groups * detail::nearest_group; ++place) {
          const auto wanted = place < count ? entries[place] : std::pair(infinity, typename TypeParam::key(0));
          ASSERT_EQ(list.squared_at(place), wanted.first) << "k " << k << ", count " << count << ", place " << place;
          ASSERT_EQ(list.key_at(place), wanted.second) << "k " << k << ", count " << count << ", place " << place;
        }
      }
    }
  }
}

TYPED_TEST(insert_nearest, what_is_as_far_as_the_cutoff_is_left_out) {
  using list_type = typename TypeParam::list;
  for (const auto insert : detail::insert_nearest_functions<list_type>()) {
    list_type list;
    list.clear(1, 4);
    typename list_type::candidates candidates;
    candidates.put(0, 4, 1);
    candidates.put(1, 5, 2);
    candidates.put(2, 1, 3);
    insert(candidates, 3, list, 1);
    EXPECT_EQ(list.squared_at(0), 1);
    EXPECT_EQ(list.squared_at(1), 4);
    EXPECT_EQ(list.key_at(1), 0u);
  }
}

}  // namespace quadrat::test
