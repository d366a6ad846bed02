// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/fixed_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace quadrat::test {

namespace {

using namespace quadrat::detail;

TEST(fixed_numbers_test, powers_of_two_are_exact) {
  for (int exponent = -1022; exponent <= 1023; ++exponent) EXPECT_EQ(power_of_two(exponent), std::ldexp(1.0, exponent));
}

TEST(fixed_numbers_test, values_are_below_the_power_above_them_and_not_below_half_of_it) {
  for (int exponent = -1021; exponent <= 1023; ++exponent) {
    const double power = std::ldexp(1.0, exponent - 1);
    EXPECT_EQ(exponent_above(power), exponent);
    EXPECT_EQ(exponent_above(std::nextafter(power * 2, 0)), exponent);
  }
  EXPECT_EQ(exponent_above(std::numeric_limits<double>::max()), 1024);
  EXPECT_EQ(exponent_above(0), -1022);
  EXPECT_EQ(exponent_above(std::numeric_limits<double>::denorm_min()), -1022);
}

TEST(fixed_numbers_test, so_many_values_fit) {
  EXPECT_EQ(fixed_bits(0), 1);
  EXPECT_EQ(fixed_bits(1), 62);
  EXPECT_EQ(fixed_bits(2), 61);
  EXPECT_EQ(fixed_bits(3), 60);
  EXPECT_EQ(fixed_bits(4), 60);
  for (int log_count = 5; log_count < 60; ++log_count) {
    const std::uint64_t count = std::uint64_t{1} << log_count;
    EXPECT_EQ(fixed_bits(count), 62 - log_count);
    EXPECT_EQ(fixed_bits(count + 1), 61 - log_count);
    EXPECT_LE(count, (std::uint64_t{1} << 62) >> fixed_bits(count));
  }
}

/// `count` times the largest value in both words, without overflow.
template <typename Fixed>
void expect_largest_sum(std::uint64_t count) {
  const int bits = fixed_bits(count);
  for (const int exponent : {-1022, -3, 0, 500, 960}) {
    const fixed_scale scale(bits, exponent);
    for (const double sign : {1.0, -1.0}) {
      const double value = sign * std::ldexp(std::nextafter(1.0, 0), exponent);
      Fixed sum = Fixed::of(value, scale);
      const auto times = static_cast<std::int64_t>(count);
      std::int64_t product = 0;
      EXPECT_FALSE(__builtin_mul_overflow(sum.high, times, &product));
      sum.high = product;
      if constexpr (Fixed::words == 2) {
        EXPECT_FALSE(__builtin_mul_overflow(sum.low, times, &product));
        sum.low = product;
      }
      const double wanted = value * static_cast<double>(count);
      const double unit = std::ldexp(static_cast<double>(count), exponent - Fixed::words * bits);
      EXPECT_NEAR(sum.value(scale), wanted, unit + std::abs(wanted) * 2e-16) << count << ", 2^" << exponent;
    }
  }
}

TEST(fixed_numbers_test, the_largest_sums_do_not_overflow) {
  for (int log_count = 0; log_count < 45; ++log_count) {
    for (const std::uint64_t more : {0u, 1u}) {
      expect_largest_sum<fixed_single>((std::uint64_t{1} << log_count) + more);
      expect_largest_sum<fixed_pair>((std::uint64_t{1} << log_count) + more);
    }
  }
}

/// What has cancelled in the first word leaves the second.
TEST(fixed_numbers_test, small_rests_of_large_values_are_kept) {
  const fixed_scale scale(fixed_bits(1'000'000), 1);
  const double large = 1 + std::ldexp(1.0, -52), other = -1;
  const fixed_pair a = fixed_pair::of(large, scale), b = fixed_pair::of(other, scale);
  EXPECT_EQ((fixed_pair{a.high + b.high, a.low + b.low}.value(scale)), large + other);
}

}  // namespace

}  // namespace quadrat::test
