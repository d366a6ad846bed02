// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/keys_in_range.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace quadrat::test {

namespace {

template <typename Key>
void expect_places_of_a_range(const std::vector<Key>& keys, Key first, Key last) {
  for (std::size_t count = 0; count <= keys.size(); count += detail::keys_a_step) {
    std::vector<std::uint32_t> expected;
    for (std::size_t j = 0; j < count; ++j) {
      if (keys[j] >= first && keys[j] < last) expected.push_back(static_cast<std::uint32_t>(j));
    }
    for (const auto find : detail::keys_in_range_functions<Key>()) {
      std::vector<std::uint32_t> places(expected.size() + detail::keys_a_step);
      ASSERT_EQ(find(keys.data(), count, first, last, places.data()), expected.size()) << first << " to " << last;
      places.resize(expected.size());
      ASSERT_EQ(places, expected) << first << " to " << last;
    }
  }
}

template <typename Key>
void expect_places_of_all_ranges() {
  constexpr Key largest = std::numeric_limits<Key>::max(), half = largest / 2;
  auto keys = random_words<Key>(160, 31);
  const auto small = random_words<Key>(160, 32, 50);
  for (std::size_t j = 0; j < keys.size(); j += 3) keys[j] = small[j];
  for (std::size_t j = 1; j < keys.size(); j += 7) keys[j] = half + small[j] % 3;
  keys[11] = largest;
  for (const auto& [first, last] : {std::pair<Key, Key>{0, 0},
                                    {0, 25},
                                    {25, 50},
                                    {7, 8},
                                    {7, 7},
                                    {0, half},
                                    {half, half + 1},
                                    {half + 1, largest},
                                    {3, largest},
                                    {0, largest}}) {
    expect_places_of_a_range(keys, first, last);
  }
}

}  // namespace

TEST(keys_in_range, every_variant_finds_the_same_places) {
  expect_places_of_all_ranges<std::uint32_t>();
  expect_places_of_all_ranges<std::uint64_t>();
}

}  // namespace quadrat::test
