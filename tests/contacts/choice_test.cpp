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
        detail::pair_request request{bodies, boxes};
        request.known_domain = true;
        const contact_choice choice = choice_of(demand, "", request);
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

/// On a GPU.
[[nodiscard]] std::string_view chosen_on_cuda(std::size_t bodies, double contacts_of_a_body, bool known_domain,
                                              bool boxes = false) {
  detail::pair_request request{bodies, boxes};
  request.found = contacts_of_a_body * static_cast<double>(bodies);
  request.known_domain = known_domain;
  return choice_of({"contact method", true}, "", request).method;
}

TEST(contact_choices, follow_the_contacts_that_were_found_and_whether_the_domain_is_known) {
  if (QUADRAT_HAS_CUDA == 0) GTEST_SKIP() << "this build has no CUDA";
  EXPECT_EQ(chosen_on_cuda(20, 2, true), "levels");
  EXPECT_EQ(chosen_on_cuda(20, 2, false), "brute_force") << "levels have to look where the bodies are";
  for (const std::size_t bodies : {600u, 2000u, 4000u}) {
    EXPECT_EQ(chosen_on_cuda(bodies, 2, true), "levels");
    EXPECT_EQ(chosen_on_cuda(bodies, 300, true), "sweep_and_prune") << "a crowd";
    EXPECT_EQ(chosen_on_cuda(bodies, 300, true, true), "levels") << "boxes";
  }
  for (const std::size_t bodies : {detail::counted_most_bodies + 1, std::size_t{1} << 20}) {
    EXPECT_EQ(chosen_on_cuda(bodies, 1000, true), "levels") << "nothing quadratic";
  }
}

/// A thread of tight_grid tests the bodies of a cell one after another, and these can be all, whatever was found.
TEST(contact_choices, take_tight_grid_for_as_few_bodies_as_are_tested_pair_by_pair) {
  if (QUADRAT_HAS_CUDA == 0) GTEST_SKIP() << "this build has no CUDA";
  EXPECT_EQ(chosen_on_cuda(detail::brute_force_most_bodies, 2, false), "tight_grid");
  for (std::size_t bodies = detail::brute_force_most_bodies + 1; bodies <= 4 * detail::counted_most_bodies;
       bodies *= 2) {
    for (const double contacts : {0.0, 2.0, 20.0, 200.0}) {
      for (const bool spheres : {false, true}) {
        detail::pair_request request{bodies, false, true, spheres};
        request.found = contacts * static_cast<double>(bodies);
        EXPECT_NE(choice_of({"contact method", true}, "", request).method, "tight_grid") << bodies;
      }
    }
  }
}

TEST(contact_choices, leave_what_crowds_slow_down_until_contacts_have_been_counted) {
  if (QUADRAT_HAS_CUDA == 0) GTEST_SKIP() << "this build has no CUDA";
  for (const std::size_t bodies : {300u, 1000u, 4000u}) {
    for (const bool known_domain : {false, true}) {
      detail::pair_request request{bodies};
      request.known_domain = known_domain;
      EXPECT_EQ(choice_of({"contact method", true}, "", request).method, "levels") << bodies;
    }
  }
}

TEST(contact_choices, hold_for_about_as_many_bodies_and_contacts_while_methods_are_tried) {
  detail::pair_request before{1000};
  before.found = 2000;
  const auto holds = [&](std::size_t bodies, double contacts_of_a_body) {
    detail::pair_request now = before;
    now.bodies = bodies;
    now.found = contacts_of_a_body * static_cast<double>(bodies);
    return now.resembles(before);
  };
  EXPECT_TRUE(holds(1000, 2));
  EXPECT_TRUE(holds(1400, 2));
  EXPECT_TRUE(holds(700, 2));
  EXPECT_FALSE(holds(1600, 2));
  EXPECT_FALSE(holds(600, 2));
  EXPECT_FALSE(holds(1400, 4));
  before.boxes = true;
  EXPECT_TRUE(holds(1000, 2));
  detail::pair_request spheres = before;
  spheres.boxes = false;
  EXPECT_FALSE(spheres.resembles(before));
}

TEST(contact_choices, are_made_anew_where_the_request_or_the_number_of_contacts_changes) {
  detail::pair_request before{1000};
  before.found = 1000;
  EXPECT_TRUE(before.asks_the_same(before));
  const auto changed = [&](auto change) {
    detail::pair_request now = before;
    change(now);
    return !now.asks_the_same(before);
  };
  EXPECT_TRUE(changed([](auto& now) { now.bodies = 1001; }));
  EXPECT_TRUE(changed([](auto& now) { now.boxes = true; }));
  EXPECT_TRUE(changed([](auto& now) { now.spheres = false; }));
  EXPECT_TRUE(changed([](auto& now) { now.known_domain = true; }));
  EXPECT_TRUE(changed([](auto& now) { now.found = 1600; }));
  EXPECT_TRUE(changed([](auto& now) { now.found = 400; }));
  EXPECT_FALSE(changed([](auto& now) { now.found = 1400; }));
  EXPECT_FALSE(changed([](auto& now) { now.found = -1; })) << "not counted";
  detail::pair_request few{1000};
  few.found = 3;
  detail::pair_request none = few;
  none.found = 0;
  EXPECT_TRUE(few.asks_the_same(none)) << "too few to matter";
  const detail::pair_request unseen{1000};
  EXPECT_FALSE(before.asks_the_same(unseen)) << "counted for the first time";
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

TEST(contact_methods_list, says_of_each_method_what_its_descriptor_says) {
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
