// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "contacts/support.hpp"
#include "support/counting_memory.hpp"
#include "support/random.hpp"

// Detectors whose method is chosen try others now and then, by the times of searches.

namespace quadrat::test {

namespace {

using tried_detector = contact_detector<backend_context, float>;

/// More searches than pass before another method is tried.
constexpr int many_rounds = 2500;

/// A scene on the device, with the contacts that it has. So many spheres that two methods take about as long.
struct known_scene {
  body_scene<float> scene;
  std::vector<contact<float>> wanted;
  bodies_on_device<float> stored;

  known_scene(const backend_context& context, std::size_t bodies)
      : scene(spheres(bodies)), wanted(reference::contacts(scene)), stored(context, scene) {}

 private:
  [[nodiscard]] static body_scene<float> spheres(std::size_t bodies) {
    body_scene<float> result;
    std::mt19937_64 random(bodies);
    for (std::size_t i = 0; i < bodies; ++i) {
      result.centers.push_back(make_vec<float, 3>([&](int) { return 4 * random_unit<float>(random); }));
    }
    result.radius = 0.4f;
    return result;
  }
};

/// The methods of so many more searches of one scene.
[[nodiscard]] std::set<std::string> methods_of_rounds(tried_detector& search, const known_scene& one, int rounds) {
  std::set<std::string> methods;
  for (int round = 0; round < rounds; ++round) {
    search.build(one.stored.view());
    methods.emplace(search.method());
  }
  return methods;
}

class contact_trials : public backend_test {};

TEST_F(contact_trials, leave_contacts_right_while_the_number_of_bodies_changes) {
  const backend_context context = context_at(determinism::none);
  std::deque<known_scene> scenes;
  for (const std::size_t bodies : {100, 104, 0, 96, 102, 98}) scenes.emplace_back(context, bodies);
  tried_detector search(context, {});
  std::string usual;
  int tried = 0;
  // A trial has ten rounds, or six where the other method is far slower.
  for (int round = 0; round < 2 * many_rounds && tried < 20; ++round) {
    const known_scene& one = scenes[static_cast<std::size_t>(round) % scenes.size()];
    search.build(one.stored.view());
    if (round < 60) usual = search.method();
    // No bodies say nothing of the method.
    const bool other = round >= 60 && search.method() != usual && one.scene.centers.size() > 0;
    tried += other ? 1 : 0;
    if (other || round % 64 < 6) {
      expect_contacts(bring_home(context, search.view()), one.wanted, scale_of(one.scene), false);
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(tried, 4) << search.explanation().text();
}

TEST_F(contact_trials, are_left_where_a_method_gets_no_memory_and_not_made_again) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  const known_scene one(context, 100);
  tried_detector search(context, {});
  static_cast<void>(methods_of_rounds(search, one, 50));
  memory.allow(0);
  EXPECT_EQ(methods_of_rounds(search, one, many_rounds).size(), 1u) << search.explanation().text();
  memory.allow_all();
  EXPECT_EQ(methods_of_rounds(search, one, many_rounds).size(), 1u) << search.explanation().text();
  expect_contacts(bring_home(context, search.view()), one.wanted, scale_of(one.scene), false);
}

TEST_F(contact_trials, are_not_made_where_searches_are_repeatable_or_the_method_was_asked_for) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    const backend_context context = context_at(level);
    const known_scene one(context, 100);
    contact_options<float> options;
    if (level == determinism::none) options.method = "levels";
    tried_detector search(context, options);
    EXPECT_EQ(methods_of_rounds(search, one, many_rounds).size(), 1u);
    EXPECT_TRUE(search.explanation().changes.empty());
  }
}

}  // namespace

}  // namespace quadrat::test
