// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/bit_place.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace quadrat::detail {

TEST(bit_place_test, gives_each_bit_a_place_of_its_own) {
  std::uint32_t places = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const unsigned place = place_of_bit(1u << bit);
    ASSERT_LT(place, 32u) << bit;
    places |= 1u << place;
  }
  EXPECT_EQ(places, ~0u);
  EXPECT_EQ(place_of_bit(0), 0u);
}

TEST(bit_place_test, takes_the_lowest_bit_of_a_word) {
  EXPECT_EQ(lowest_bit_of(0), 0u);
  EXPECT_EQ(lowest_bit_of(1), 1u);
  EXPECT_EQ(lowest_bit_of(0x50), 0x10u);
  EXPECT_EQ(lowest_bit_of(1u << 31), 1u << 31);
}

}  // namespace quadrat::detail
