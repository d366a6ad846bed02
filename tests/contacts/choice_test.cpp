// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/choice.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "quadrat/contacts/methods.hpp"
#include "quadrat/core/config.hpp"

namespace quadrat::test {

namespace {

using detail::choose_contact_method;
using detail::contact_choice;
using detail::method_demand;

/// The backends of this build, at every level of determinism.
std::vector<method_demand> demands() {
  std::vector<method_demand> result;
  for (const bool cuda : {false, true}) {
    if (cuda && QUADRAT_HAS_CUDA == 0) continue;
    for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
      result.push_back({"contact method", cuda, level});
    }
  }
  return result;
}

[[nodiscard]] contact_choice choice_of(const method_demand& demand, std::string_view asked,
                                       detail::pair_request request) {
  request.cuda = demand.cuda;
  return choose_contact_method(demand, asked, request, shipped_profile(demand.cuda));
}

TEST(contact_choices, try_every_pair_of_few_bodies_on_cpus_and_take_levels_for_many) {
  for (const method_demand& demand : demands()) {
    for (const bool boxes : {false, true}) {
      for (const std::size_t bodies : {0, 1, 2, 10, 63, 64, 65, 66, 1000, 1 << 20, 2147483647}) {
        const contact_choice choice = choice_of(demand, "", {bodies, boxes});
        // A GPU tests the pairs of a body one after another, which takes as long as a pass over levels of cells.
        EXPECT_TRUE(bodies != 10 || demand.cuda || choice.method == "brute_force") << choice.method;
        EXPECT_TRUE(bodies != 1000 || !demand.cuda || choice.method == "levels") << choice.method;
        EXPECT_TRUE(bodies <= detail::brute_force_most_bodies || choice.method == "levels") << choice.method;
        EXPECT_NE(choice.reason, "");
      }
    }
  }
}

TEST(contact_choices, try_the_pairs_of_fewer_bodies_that_are_no_spheres_since_their_contacts_take_long) {
  const auto chosen = [](std::size_t bodies, bool spheres) {
    return choice_of({"contact method", false}, "", {bodies, false, false, spheres}).method;
  };
  EXPECT_EQ(chosen(25, true), "brute_force");
  EXPECT_EQ(chosen(25, false), "brute_force");
  EXPECT_EQ(chosen(100, true), "brute_force");
  EXPECT_EQ(chosen(100, false), "levels");
}

TEST(contact_choices, never_fall_on_a_quadratic_method_for_many_bodies) {
  for (const contact_method& method : contact_methods()) {
    if (!method.quadratic) continue;
    for (const method_demand& demand : demands()) {
      for (std::size_t bodies = detail::brute_force_most_bodies + 1; bodies < 2'000'000'000; bodies *= 3) {
        EXPECT_NE(choice_of(demand, "", {bodies}).method, method.name);
      }
    }
  }
}

TEST(contact_choices, are_the_method_asked_for) {
  for (const contact_method& method : contact_methods()) {
    for (const std::size_t bodies : {0, 10, 1000}) {
      const contact_choice choice = choice_of({"contact method", false}, method.name, {bodies});
      EXPECT_EQ(choice.method, method.name);
      EXPECT_EQ(choice.reason, "asked for");
    }
  }
}

TEST(contact_methods_list, says_of_each_method_what_its_record_says) {
  std::size_t quadratic = 0, without_pairs = 0, without_bins = 0, balanced = 0;
  for (const contact_method& method : contact_methods()) {
    EXPECT_TRUE(method.on_cpu);
    EXPECT_EQ(method.on_cuda, QUADRAT_HAS_CUDA != 0);
    EXPECT_EQ(method.reproducible, determinism::canonical);
    EXPECT_FALSE(method.summary.empty());
    quadratic += method.quadratic ? 1 : 0;
    without_pairs += method.pairs ? 0 : 1;
    without_bins += method.bins ? 0 : 1;
    balanced += method.balances ? 1 : 0;
    EXPECT_TRUE(method.bins || !method.balances);
  }
  EXPECT_EQ(without_pairs, 1u);  // bins
  EXPECT_GE(without_bins, 1u);
  EXPECT_EQ(balanced, 1u);  // bins
  EXPECT_GE(quadratic, 1u);
}

}  // namespace

}  // namespace quadrat::test
