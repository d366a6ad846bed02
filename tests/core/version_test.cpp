// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/version.hpp"

#include <gtest/gtest.h>

#include <string>

namespace quadrat::test {

namespace {

TEST(version, of_the_library_is_that_of_its_headers) {
  EXPECT_EQ(version(), QUADRAT_VERSION);
  EXPECT_EQ(version(), std::to_string(QUADRAT_VERSION_MAJOR) + "." + std::to_string(QUADRAT_VERSION_MINOR) + "." +
                           std::to_string(QUADRAT_VERSION_PATCH));
}

}  // namespace

}  // namespace quadrat::test
