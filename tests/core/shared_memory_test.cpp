// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared_memory.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

using detail::shared_memory_named;

TEST(shared_memory, of_an_architecture_is_what_its_blocks_have) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(shared_memory_named(nullptr), all);
  EXPECT_EQ(shared_memory_named(""), all);
  EXPECT_EQ(shared_memory_named("75"), 65'536u);
  EXPECT_EQ(shared_memory_named("80"), 166'912u);
  EXPECT_EQ(shared_memory_named("120"), 101'376u);
}

TEST(shared_memory, of_other_architectures_is_an_error) {
  EXPECT_EQ(error_of<argument_error>([] { (void)shared_memory_named("8.0"); }),
            "QUADRAT_LEAST_ARCHITECTURE is 8.0; possible are 75, 80, 86, 89, 90, 100, 120");
}

}  // namespace

}  // namespace quadrat::test
