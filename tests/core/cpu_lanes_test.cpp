// SPDX-License-Identifier: BSD-3-Clause
#include "core/cpu_lanes.hpp"

#include <gtest/gtest.h>

#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

using detail::cpu_lanes;
using detail::lanes_named;

TEST(cpu_lanes, are_the_widest_ones_unless_narrower_ones_are_named) {
  for (const cpu_lanes most : {cpu_lanes::plain, cpu_lanes::avx2, cpu_lanes::avx512}) {
    EXPECT_EQ(lanes_named(nullptr, most), most);
    EXPECT_EQ(lanes_named("", most), most);
    EXPECT_EQ(lanes_named("plain", most), cpu_lanes::plain);
  }
  EXPECT_EQ(lanes_named("avx2", cpu_lanes::avx512), cpu_lanes::avx2);
  EXPECT_EQ(lanes_named("avx512", cpu_lanes::avx512), cpu_lanes::avx512);
}

TEST(cpu_lanes, that_do_not_exist_or_that_the_cpu_lacks_are_an_error) {
  const auto error = [](const char* name, cpu_lanes most) {
    return error_of<argument_error>([&] { (void)lanes_named(name, most); });
  };
  EXPECT_EQ(error("avx1024", cpu_lanes::avx2), "QUADRAT_LANES is avx1024; possible are plain, avx2");
  EXPECT_EQ(error("AVX2", cpu_lanes::avx512), "QUADRAT_LANES is AVX2; possible are plain, avx2, avx512");
  EXPECT_EQ(error("avx512", cpu_lanes::avx2), "QUADRAT_LANES is avx512, which this CPU lacks; it has plain, avx2");
  EXPECT_EQ(error("avx2", cpu_lanes::plain), "QUADRAT_LANES is avx2, which this CPU lacks; it has plain");
}

TEST(cpu_lanes, allow_all_that_are_not_wider) {
  const cpu_lanes lanes = detail::lanes_in_use();
  EXPECT_LE(lanes, detail::lanes_of_cpu());
  EXPECT_TRUE(detail::has_lanes(cpu_lanes::plain));
  EXPECT_EQ(detail::has_lanes(cpu_lanes::avx2), lanes >= cpu_lanes::avx2);
  EXPECT_EQ(detail::has_lanes(cpu_lanes::avx512), lanes == cpu_lanes::avx512);
}

}  // namespace

}  // namespace quadrat::test
