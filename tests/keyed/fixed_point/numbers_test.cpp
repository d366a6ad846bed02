// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/fixed_point/numbers.hpp"

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
  EXPECT_EQ(fixed_bits(1), 52);
  for (int log_count = 10; log_count < 60; ++log_count) {
    const std::uint64_t count = std::uint64_t{1} << log_count;
    EXPECT_EQ(fixed_bits(count), 62 - log_count);
    EXPECT_EQ(fixed_bits(count + 1), 61 - log_count);
    EXPECT_LE(count, (std::uint64_t{1} << 62) >> fixed_bits(count));
  }
}

/// The sum of `times` copies of one number.
template <int Words>
[[nodiscard]] double sum_of(const fixed_number<Words>& number, std::uint64_t times, const fixed_scale& scale) {
  std::uint64_t words[Words];
  for (int w = 0; w < Words; ++w) words[w] = times * static_cast<std::uint64_t>(number.word[w]);
  wide_sum sum{0, 0, scale.exponent};
  sum.add<Words>(words, 1, scale);
  return sum.value();
}

/// `count` times the largest value, without overflow of a word, and rounded once.
template <int Words>
void expect_largest_sum(std::uint64_t count, int log_count) {
  for (const int exponent : {-1022, -1000, -3, 0, 500, 960}) {
    const fixed_scale scale(fixed_bits(count), exponent);
    for (const double sign : {1.0, -1.0}) {
      const double value = sign * std::ldexp(std::nextafter(1.0, 0), exponent);
      const auto number = fixed_number<Words>::of(value, scale);
      for (const std::int64_t word : number.word) {
        std::int64_t product = 0;
        EXPECT_FALSE(__builtin_mul_overflow(word, static_cast<std::int64_t>(count), &product));
      }
      const double found = sum_of(number, count, scale), wanted = value * static_cast<double>(count);
      const double unit = std::ldexp(1.0, exponent + log_count - Words * scale.bits);
      const bool exact = std::abs(value) >= scale.least_exact(53, Words);
      EXPECT_NEAR(found, wanted, exact ? 0 : unit) << count << ", 2^" << exponent;
    }
  }
}

TEST(fixed_numbers_test, the_largest_sums_do_not_overflow) {
  for (int log_count = 0; log_count < 45; ++log_count) {
    expect_largest_sum<1>(std::uint64_t{1} << log_count, log_count);
    expect_largest_sum<2>(std::uint64_t{1} << log_count, log_count);
    expect_largest_sum<3>(std::uint64_t{1} << log_count, log_count);
  }
}

TEST(fixed_numbers_test, values_from_the_least_exact_size_on_are_exact) {
  for (const int exponent : {-1022, -960, -5, 10, 1024}) {
    const fixed_scale scale(40, exponent);
    const double least = scale.least_exact(53, 3);
    EXPECT_TRUE(least == std::ldexp(1.0, exponent - 67) || (exponent < -955 && least == 0));
    const double odd = 1 + std::ldexp(1.0, -52);
    for (const int above : {0, 1, 14, 27, 53, 66}) {
      const double value =
          exponent < -955 ? std::ldexp(odd, exponent - 67 + above) : odd * least * std::ldexp(1.0, above);
      EXPECT_EQ(sum_of(fixed_number<3>::of(value, scale), 1, scale), value) << exponent << ", " << above;
    }
  }
}

/// Cancellation in the first word keeps the others, and sums on two scales are joined without loss.
TEST(fixed_numbers_test, small_rests_of_large_values_are_kept) {
  const fixed_scale scale(fixed_bits(1'000'000), 1), small(scale.bits, -200);
  const auto a = fixed_number<2>::of(1 + std::ldexp(1.0, -52), scale), b = fixed_number<2>::of(-1, scale);
  const auto c = fixed_number<2>::of(std::ldexp(1.0, -201), small);
  std::uint64_t words[2], more[2];
  for (int w = 0; w < 2; ++w) {
    words[w] = static_cast<std::uint64_t>(a.word[w] + b.word[w]);
    more[w] = static_cast<std::uint64_t>(c.word[w]);
  }
  wide_sum sum{0, 0, scale.exponent};
  sum.add<2>(words, 1, scale);
  EXPECT_EQ(sum.value(), std::ldexp(1.0, -52));
  sum.add<2>(more, 1, small);
  sum.add(-std::ldexp(1.0, -53));  // in units of 2^1
  EXPECT_EQ(sum.value(), std::ldexp(1.0, -201));
}

}  // namespace

}  // namespace quadrat::test
