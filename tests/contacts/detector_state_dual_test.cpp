// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "contacts/support.hpp"
#include "support/counting_memory.hpp"

// What a detector guarantees besides the contacts: reproducible bytes, memory, errors, reported choices.

namespace quadrat::test {

namespace {

/// Bodies of all shapes in a box of edge 12, with a floor.
body_scene<float> many_bodies(std::size_t count, body_shape all_of = body_shape::sphere, bool mixed = true) {
  body_scene<float> scene;
  std::mt19937_64 random(11);
  scene.shape = all_of;
  for (std::size_t i = 0; i < count; ++i) {
    scene.centers.push_back(
        {12 * random_unit<float>(random), 12 * random_unit<float>(random), 12 * random_unit<float>(random)});
    const float size = 0.2f + 0.6f * random_unit<float>(random);
    scene.sizes.push_back({size, 0.8f * size, 0.6f * size});
    if (mixed) scene.shapes.push_back(static_cast<body_shape>(i % 4));
    scene.orientations.push_back({random_unit<float>(random), random_unit<float>(random), 0.5f, 0});
  }
  scene.planes.push_back({{0, 0, 1}, 0.5f});
  return scene;
}

/// The contacts that a new detector finds.
std::vector<contact<float>> find(const backend_context& context, body_scene<float> scene, const std::string& method) {
  scene.options.method = method;
  const bodies_on_device<float> stored(context, scene);
  contact_detector<backend_context, float> detector(context, scene.options);
  detector.build(stored.view());
  return bring_home(context, detector.view());
}

using contact_order = backend_test;

/// Contexts that ask for the same bytes in every run; on the CPU with several numbers of threads.
std::vector<backend_context> repeatable_contexts() {
  std::vector<backend_context> result;
  for (const int threads : {1, 2, 2, 3, 7}) {
    backend_context::options chosen;
#if QUADRAT_BACKEND_CUDA
    static_cast<void>(threads);
#else
    chosen.threads = threads;
#endif
    chosen.reproducibility = determinism::run_to_run;
    result.emplace_back(chosen);
  }
  return result;
}

/// All shapes, spheres alone, and ellipsoids alone.
std::vector<body_scene<float>> scenes_of_shapes(std::size_t count) {
  return {many_bodies(count), many_bodies(count, body_shape::sphere, false),
          many_bodies(count, body_shape::ellipsoid, false)};
}

TEST_F(contact_order, is_the_same_in_every_run_and_with_any_threads_where_it_is_asked_for) {
  for (const body_scene<float>& scene : scenes_of_shapes(size_or(2000, 300))) {
    for (const contact_method& method : contact_methods()) {
      SCOPED_TRACE(describe(scene) + ", " + std::string(method.name));
      std::vector<contact<float>> first;
      for (const backend_context& context : repeatable_contexts()) {
        const auto found = find(context, scene, std::string(method.name));
        if (first.empty()) first = found;
        expect_same_bits(found, first);
      }
      EXPECT_GT(first.size(), scene.centers.size() / size_or(2, 8));
    }
  }
}

TEST_F(contact_order, does_not_follow_from_earlier_builds_where_it_is_to_be_the_same) {
  body_scene<float> scene = many_bodies(300, body_shape::sphere, false);
  scene.sizes.clear();
  scene.radius = 0.7f;
  scene.options.domain = make_box<float, 3>({}, {12, 12, 12}, {true, false, false});
  const backend_context context = repeatable_contexts()[1];
  const auto wanted = find(context, scene, "levels");
  ASSERT_GT(wanted.size(), scene.centers.size() / 2);
  scene.options.method = "levels";
  contact_detector<backend_context, float> detector(context, scene.options);
  body_scene<float> before = scene;
  before.centers.resize(200);
  for (auto& center : before.centers) center[1] = 0.5f * center[1];
  for (const body_scene<float>* built : {&before, &scene}) {
    const bodies_on_device<float> stored(context, *built);
    detector.build(stored.view());
  }
  expect_same_bits(bring_home(context, detector.view()), wanted);
}

TEST_F(contact_order, is_canonical_for_all_methods_where_that_is_asked_for) {
  backend_context::options chosen;
  chosen.reproducibility = determinism::canonical;
  const backend_context context(chosen);
  for (const body_scene<float>& scene : scenes_of_shapes(size_or(1500, 300))) {
    SCOPED_TRACE(describe(scene));
    const auto first = find(context, scene, "brute_force");
    ASSERT_GT(first.size(), scene.centers.size() / size_or(2, 8));
    for (std::size_t k = 1; k < first.size(); ++k) ASSERT_LT(key_of(first[k - 1]), key_of(first[k]));
    for (const contact_method& method : contact_methods()) {
      SCOPED_TRACE(method.name);
      expect_same_bits(find(context, scene, std::string(method.name)), first);
    }
  }
}

TEST_F(contact_order, of_bins_does_not_lose_what_balancing_moves) {
  body_scene<float> scene = many_bodies(size_or(1500, 300));
  scene.options.sorted = true;
  const auto balanced = find(backend_context(), scene, "bins");
  scene.options.balance_bins = false;
  expect_same_bits(find(backend_context(), scene, "bins"), balanced);
}

class contact_memory : public backend_test, public testing::WithParamInterface<std::string> {};

TEST_P(contact_memory, is_taken_once_for_one_size) {
  counting_memory memory;
  {
    const backend_context context = memory.context(determinism::run_to_run);
    body_scene<float> scene = many_bodies(400);
    for (particle_id i = 0; i < 400; ++i) scene.ids.push_back(400 - i);
    const bodies_on_device<float> stored(context, scene);
    contact_options<float> options;
    options.method = GetParam();
    options.sorted = true;
    contact_detector<backend_context, float> detector(context, options);
    const std::size_t before = memory.live_bytes() - detector.bytes();
    detector.build(stored.view());
    EXPECT_EQ(memory.live_bytes() - before, detector.bytes());
    const std::size_t allocations = memory.allocations();
    for (int k = 0; k < 3; ++k) detector.build(stored.view());
    EXPECT_EQ(memory.allocations(), allocations);
  }
  EXPECT_EQ(memory.live_bytes(), 0u);
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const contact_method& method : contact_methods()) names.emplace_back(method.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(of, contact_memory, testing::ValuesIn(method_names()),
                         [](const auto& instance) { return instance.param; });

using contact_views = backend_test;

TEST_F(contact_views, serve_again_after_another_size_a_fault_and_a_move) {
  const backend_context context;
  contact_options<float> options;
  options.method = "tight_grid";
  contact_detector<backend_context, float> detector(context, options);
  body_scene<float> scene = many_bodies(300);
  const auto check = [&](contact_detector<backend_context, float>& with) {
    const bodies_on_device<float> stored(context, scene);
    with.build(stored.view());
    expect_contacts(bring_home(context, with.view()), reference::contacts(scene), 12.0f, false);
  };
  check(detector);
  scene.centers[7][1] = NAN;
  const bodies_on_device<float> faulty(context, scene);
  EXPECT_THROW(detector.build(faulty.view()), data_error);
  EXPECT_THROW(static_cast<void>(detector.view()), argument_error);
  scene = many_bodies(40);
  check(detector);
  scene = many_bodies(700, body_shape::box, false);
  check(detector);
  scene = many_bodies(500, body_shape::sphere, false);
  check(detector);
  contact_detector<backend_context, float> moved = std::move(detector);
  check(moved);
  moved.reserve(100'000);
  EXPECT_GE(moved.bytes(), 100'000 * sizeof(contact<float>));
  check(moved);
}

TEST_F(contact_views, say_the_method_of_the_last_build_also_when_another_came_between) {
  const backend_context context;
  // On a GPU the pairs of few bodies are tested only where levels would have to look where the bodies are.
  contact_detector<backend_context, float> detector(context, {});
  const auto method_for = [&](std::size_t count) {
    const body_scene<float> scene = many_bodies(count, body_shape::sphere, false);
    const bodies_on_device<float> stored(context, scene);
    detector.build(stored.view());
    const std::string method(detector.method());
    EXPECT_EQ(detector.bin_size() > 0, count > 0 && method != "brute_force" && method != "sweep_and_prune");
    return method;
  };
  EXPECT_EQ(method_for(5000), "levels");
  EXPECT_EQ(method_for(20), "brute_force");
  EXPECT_EQ(method_for(5000), "levels");
  EXPECT_NE(method_for(0), "");
}

/// Spheres within a cube of this edge.
[[nodiscard]] body_scene<float> bodies_within(std::size_t count, float edge) {
  body_scene<float> scene = many_bodies(count, body_shape::sphere, false);
  std::mt19937_64 random(5);
  for (auto& center : scene.centers) {
    for (int axis = 0; axis < 3; ++axis) center[axis] = edge * random_unit<float>(random);
  }
  return scene;
}

TEST_F(contact_views, are_made_by_what_suits_the_contacts_of_the_build_before_unless_runs_must_be_repeatable) {
  constexpr bool on_cuda = std::is_same_v<backend_context, cuda_context>;
  constexpr std::size_t count = 1500;
  const body_scene<float> apart = bodies_within(count, 40), crowd = bodies_within(count, 2);
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    const backend_context context = context_at(level);
    contact_options<float> options;
    options.domain = make_box<float, 3>({}, {40, 40, 40}, {});
    contact_detector<backend_context, float> detector(context, options);
    const auto build = [&](const body_scene<float>& scene) {
      const bodies_on_device<float> stored(context, scene);
      detector.build(stored.view());
      return detector.size();
    };
    build(apart);
    EXPECT_EQ(detector.method(), "levels");
    const auto contacts = build(crowd);
    EXPECT_EQ(detector.method(), "levels") << "as for the bodies before";
    EXPECT_GT(contacts, 50 * count);
    EXPECT_EQ(build(crowd), contacts);
    EXPECT_EQ(detector.method() != "levels", on_cuda && level == determinism::none) << detector.method();
    build(apart);
    build(apart);
    EXPECT_EQ(detector.method(), "levels");
  }
}

TEST_F(contact_views, say_which_bins_were_chosen_and_why) {
  const backend_context context;
  const body_scene<float> scene = many_bodies(300);
  const bodies_on_device<float> stored(context, scene);
  for (const contact_method& method : contact_methods()) {
    SCOPED_TRACE(method.name);
    contact_options<float> options;
    options.method = method.name;
    contact_detector<backend_context, float> detector(context, options);
    detector.build(stored.view());
    EXPECT_EQ(detector.reason().substr(0, 9), "asked for");
    EXPECT_EQ(detector.reason().find('\n'), std::string_view::npos);
    EXPECT_EQ(detector.bin_size() > 0, method.bins);
    EXPECT_LT(detector.bin_size(), 12.0f);
    options.bin_size = 1.5f;
    contact_detector<backend_context, float> with_size(context, options);
    with_size.build(stored.view());
    EXPECT_EQ(with_size.bin_size(), method.bins ? 1.5f : 0.0f);
    EXPECT_EQ(with_size.options().bin_size, 1.5f);
  }
}

}  // namespace

}  // namespace quadrat::test
