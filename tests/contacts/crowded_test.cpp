// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/core/error.hpp"
#include "support/scarce_memory.hpp"

// Bodies that crowd together have more contacts than the memory holds. They are refused after as many have been
// counted, and not after all: the time of counting all would be quadratic in the number of bodies.

namespace quadrat::test {

namespace {

constexpr std::size_t crowd = 100'000;
constexpr std::size_t all_bytes = crowd * (crowd - 1) / 2 * sizeof(contact<float>);

}  // namespace

class crowded_bodies_test : public testing::TestWithParam<const char*> {
 protected:
  crowded_bodies_test() { options_.memory = &memory_; }

  scarce_memory memory_;
  cpu_context::options options_;
};

TEST_P(crowded_bodies_test, are_refused_before_all_contacts_are_counted) {
  const cpu_context context(options_);
  contact_options<float> chosen;
  chosen.method = GetParam();
  contact_detector<cpu_context, float> detector(context, chosen);
  const std::vector<vec<float, 3>> centers(crowd, vec<float, 3>{1, 2, 3});
  bodies_view<float> bodies;
  bodies.centers = points_of(centers);
  bodies.radius = 1;
  memory_.available = std::size_t{1} << 30;
  try {
    detector.build(bodies);
    FAIL() << "they are too many";
  } catch (const out_of_memory& problem) {
    EXPECT_GT(problem.asked(), memory_.available) << problem.what();
    EXPECT_LT(problem.asked(), all_bytes / 10) << problem.what();
  }
  EXPECT_THROW((void)detector.view(), argument_error);
  bodies.centers = points_of(centers.data(), 3);
  detector.build(bodies);
  EXPECT_EQ(detector.size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(methods, crowded_bodies_test,
                         testing::Values("levels", "hashed", "loose_grid", "sweep_and_prune"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace quadrat::test
