// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "contacts/support.hpp"
#include "support/counting_memory.hpp"
#include "support/random.hpp"

// Detectors with the option `autotune` try methods in their first builds and stay with one; others never do.

namespace quadrat::test {

namespace {

using tuned_detector = contact_detector<backend_context, float>;

/// A scene on the device, with the contacts that it has. So many spheres that two methods take about as long.
struct tuned_scene {
  body_scene<float> scene;
  std::vector<contact<float>> wanted;
  bodies_on_device<float> stored;

  tuned_scene(const backend_context& context, std::size_t bodies)
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

/// The methods of so many builds, whose contacts must be right.
[[nodiscard]] std::set<std::string> methods_of_builds(const backend_context& context, tuned_detector& search,
                                                      const std::vector<const tuned_scene*>& scenes, int builds) {
  std::set<std::string> methods;
  for (int k = 0; k < builds; ++k) {
    const tuned_scene& one = *scenes[static_cast<std::size_t>(k) % scenes.size()];
    search.build(one.stored.view());
    expect_contacts(bring_home(context, search.view()), one.wanted, scale_of(one.scene), false);
    if (one.scene.centers.empty()) continue;
    methods.emplace(search.method());
  }
  return methods;
}

/// Methods that are expected to take at most twice as long as the fastest: those that are tried.
[[nodiscard]] std::size_t likely_methods(const explanation& choice) {
  double least = INFINITY;
  for (const candidate& one : choice.candidates) least = std::min(least, one.milliseconds);
  return static_cast<std::size_t>(
      std::ranges::count_if(choice.candidates, [&](const candidate& one) { return one.milliseconds <= 2 * least; }));
}

class contact_autotune : public backend_test {};

constexpr int tuned_builds = 60;

TEST_F(contact_autotune, tries_likely_methods_and_stays_with_one_while_the_number_of_bodies_changes) {
  const backend_context context = context_at(determinism::none);
  const tuned_scene first(context, 100), more(context, 104), none(context, 0), fewer(context, 96);
  contact_options<float> options;
  options.autotune = true;
  tuned_detector search(context, options);
  const auto methods = methods_of_builds(context, search, {&first, &more, &none, &fewer}, tuned_builds);
  EXPECT_EQ(methods.size(), likely_methods(search.explanation())) << search.explanation().text();
  EXPECT_EQ(search.explanation().changes.size(), methods.size() > 1 ? 1u : 0u);
  EXPECT_EQ(methods_of_builds(context, search, {&first, &more, &none, &fewer}, tuned_builds).size(), 1u);
  EXPECT_TRUE(methods.contains(std::string(search.method())));
}

TEST_F(contact_autotune, leaves_out_methods_that_get_no_memory) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  const tuned_scene one(context, 100);
  contact_options<float> options;
  options.autotune = true;
  tuned_detector search(context, options);
  for (int k = 0; k < 3; ++k) search.build(one.stored.view());
  memory.allow(0);
  EXPECT_EQ(methods_of_builds(context, search, {&one}, tuned_builds).size(), 1u);
  memory.allow_all();
  EXPECT_EQ(methods_of_builds(context, search, {&one}, tuned_builds).size(), 1u);
}

TEST_F(contact_autotune, ends_with_a_build_that_does_not_wait) {
  const backend_context context = context_at(determinism::none);
  const tuned_scene one(context, 100);
  contact_options<float> options;
  options.autotune = true;
  tuned_detector search(context, options);
  for (int k = 0; k < 3; ++k) search.build(one.stored.view());
  search.build_async(one.stored.view());
  EXPECT_EQ(methods_of_builds(context, search, {&one}, tuned_builds).size(), 1u);
}

TEST_F(contact_autotune, is_not_done_where_it_was_not_asked_for_and_builds_take_no_memory_then) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    for (const std::string method : {"", "levels"}) {
      counting_memory memory;
      const backend_context context = memory.context(level);
      const tuned_scene one(context, 100);
      contact_options<float> options;
      options.method = method;
      tuned_detector search(context, options);
      for (int k = 0; k < 3; ++k) search.build(one.stored.view());
      const std::size_t before = memory.allocations();
      EXPECT_EQ(methods_of_builds(context, search, {&one}, tuned_builds).size(), 1u);
      EXPECT_EQ(memory.allocations(), before);
      EXPECT_TRUE(search.explanation().changes.empty());
    }
  }
}

TEST_F(contact_autotune, is_refused_where_runs_must_be_repeatable) {
  contact_options<float> options;
  options.autotune = true;
  expect_words(error_of<argument_error>([&] { tuned_detector search(context_at(determinism::run_to_run), options); }),
               {"autotune", "set autotune to false"});
}

}  // namespace

}  // namespace quadrat::test
