// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <new>
#include <random>
#include <vector>

#include "contacts/support.hpp"
#include "quadrat/contacts/broad_phase.hpp"
#include "support/counting_memory.hpp"
#include "support/random.hpp"

// A search that ran out of memory, at any allocation, works like a new one when memory is available again.

namespace quadrat::test {

namespace {

class contact_memory_shortage : public backend_test {};

/// Bodies of all shapes, dense enough that several allocations depend on the results.
body_scene<float> crowded_bodies() {
  body_scene<float> scene;
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    scene.shapes.push_back(static_cast<body_shape>(i % 4));
    scene.centers.push_back(make_vec<float, 3>([&](int) { return 6 * random_unit<float>(random); }));
    scene.sizes.push_back(vec<float, 3>::filled(0.2f + 0.3f * random_unit<float>(random)));
  }
  return scene;
}

/// Calls build(search) for searches made by make(context), with memory for more and more allocations; after each
/// failure again with enough memory. Returns the number of failures.
template <typename Make, typename Build, typename Check>
std::size_t fail_at_every_allocation(Make&& make, Build&& build, Check&& check) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::run_to_run);
  for (std::size_t failures = 0;; ++failures) {
    auto search = make(context);
    memory.allow(failures);
    bool enough = true;
    try {
      build(search);
    } catch (const std::bad_alloc&) {
      enough = false;
    }
    memory.allow_all();
    if (!enough) build(search);
    check(context, search);
    if (enough || testing::Test::HasFailure()) return failures;
  }
}

TEST_F(contact_memory_shortage, contacts_are_found_afterwards) {
  const backend_context usual;
  const body_scene<float> scene = crowded_bodies();
  const bodies_on_device<float> stored(usual, scene);
  for (const contact_method& method : contact_methods()) {
    SCOPED_TRACE(method.name);
    contact_options<float> options;
    options.method = method.name;
    options.sorted = true;
    contact_detector<backend_context, float> sound(usual, options);
    sound.build(stored.view());
    const auto wanted = bring_home(usual, sound.view());
    EXPECT_GT(wanted.size(), 100u);
    const std::size_t failures = fail_at_every_allocation(
        [&](const backend_context& context) { return contact_detector<backend_context, float>(context, options); },
        [&](auto& detector) { detector.build(stored.view()); },
        [&](const backend_context& context, auto& detector) {
          expect_same_bits(bring_home(context, detector.view()), wanted);
        });
    EXPECT_GT(failures, 3u);
  }
}

TEST_F(contact_memory_shortage, pairs_of_boxes_are_found_afterwards) {
  const backend_context usual;
  const body_scene<float> scene = crowded_bodies();
  std::vector<vec<float, 3>> upper;
  for (std::size_t i = 0; i < scene.centers.size(); ++i) upper.push_back(scene.centers[i] + scene.sizes[i]);
  const auto lower_stored = to_device(usual, scene.centers);
  const auto upper_stored = to_device(usual, upper);
  bounds_view<float> bounds{};
  bounds.lower = points_of(lower_stored.data(), lower_stored.size());
  bounds.upper = points_of(upper_stored.data(), upper_stored.size());
  const auto pairs_of = [](const backend_context& context, const candidate_pairs_view& view) {
    auto first = to_host(context, view.first, view.count);
    const auto second = to_host(context, view.second, view.count);
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  broad_phase_options<float> options;
  options.sorted = true;
  broad_phase<backend_context, float> sound(usual, options);
  sound.build(bounds);
  const auto wanted = pairs_of(usual, sound.view());
  EXPECT_GT(wanted.size(), 100u);
  const std::size_t failures = fail_at_every_allocation(
      [&](const backend_context& context) { return broad_phase<backend_context, float>(context, options); },
      [&](auto& search) { search.build(bounds); },
      [&](const backend_context& context, auto& search) { EXPECT_EQ(pairs_of(context, search.view()), wanted); });
  EXPECT_GT(failures, 3u);
}

}  // namespace

}  // namespace quadrat::test
