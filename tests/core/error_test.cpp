// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include "quadrat/core/context.hpp"

namespace quadrat::test {

namespace {

TEST(error, is_what_everything_thrown_derives_from) {
  EXPECT_TRUE((std::is_base_of_v<std::runtime_error, error>));
  EXPECT_TRUE((std::is_base_of_v<error, argument_error>));
  EXPECT_TRUE((std::is_base_of_v<error, data_error>));
  EXPECT_TRUE((std::is_base_of_v<error, overflow_error>));
  EXPECT_TRUE((std::is_base_of_v<error, backend_error>));
  EXPECT_TRUE((std::is_base_of_v<error, io_error>));
}

TEST(overflow_error, carries_the_capacity_that_would_have_sufficed) {
  const overflow_error overflow("too small", 12);
  EXPECT_EQ(overflow.needed(), 12u);
  EXPECT_STREQ(overflow.what(), "too small");
}

TEST(data_error, carries_the_index_of_the_offender_where_there_is_one) {
  EXPECT_EQ(data_error("point 7 is wrong", 7).index(), 7u);
  EXPECT_FALSE(data_error("all is wrong").index().has_value());
}

TEST(out_of_memory, says_how_much_was_asked_for_and_how_much_there_is) {
  const out_of_memory problem(17'179'869'184, 3'100'000'000);
  EXPECT_STREQ(problem.what(), "out of memory: 17.18 GB were asked for; 3.1 GB are available");
  EXPECT_EQ(problem.asked(), 17'179'869'184u);
  EXPECT_STREQ(out_of_memory(80, ~std::size_t{0}).what(), "out of memory: 80 bytes were asked for");
}

// The address sanitizer would end the process.
#if !defined(__SANITIZE_ADDRESS__)
TEST(out_of_memory, is_what_host_memory_throws) {
  constexpr std::size_t too_much = std::size_t{1} << 60;
  try {
    static_cast<void>(host_memory().allocate(too_much, nullptr));
    FAIL() << "there was memory";
  } catch (const std::bad_alloc& problem) {
    EXPECT_TRUE(std::string(problem.what()).starts_with("out of memory: 1.153e+06 TB were asked for; "))
        << problem.what();
  }
}
#endif

TEST(message, joins_its_parts) {
  EXPECT_EQ(message("cell ", 3, " of ", std::string("many"), '.'), "cell 3 of many.");
  EXPECT_EQ(message(std::uint8_t{7}, true, std::string_view("x"), ~std::uint64_t{0}), "71x18446744073709551615");
}

TEST(message, tells_floating_point_values_apart) {
  EXPECT_EQ(message(0.1f), "0.1");
  EXPECT_EQ(message(0.1), "0.1");
  EXPECT_EQ(message(std::nextafter(0.5, 1.0)), "0.5000000000000001");
  EXPECT_EQ(message(-1e300), "-1e+300");
  EXPECT_EQ(message(std::nan("")), "nan");
}

TEST(require, throws_the_joined_parts_unless_the_condition_holds) {
  EXPECT_NO_THROW(require(true, "never"));
  try {
    require(false, "the number is ", -1);
    FAIL() << "nothing was thrown";
  } catch (const argument_error& refusal) {
    EXPECT_STREQ(refusal.what(), "the number is -1");
  }
}

}  // namespace

}  // namespace quadrat::test
