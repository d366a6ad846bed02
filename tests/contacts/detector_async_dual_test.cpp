// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "contacts/support.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/counting_memory.hpp"

// build_async: the contacts of build, in its memory; errors at check.

namespace quadrat::test {

namespace {

using async_detector = contact_detector<backend_context, float>;

/// The methods, and the automatic choice.
std::vector<std::string> methods_and_choice() {
  std::vector<std::string> result{""};
  for (const contact_method& method : contact_methods()) result.emplace_back(method.name);
  return result;
}

/// The bodies of a scene a little later.
body_scene<float> bodies_later(body_scene<float> scene, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const bodies_view<float> bodies = scene.view();
  for (std::size_t i = 0; i < scene.centers.size(); ++i) {
    const float step = 0.3f * bounding_radius(bodies.shape_of(i), bodies.size_of(i));
    for (int axis = 0; axis < 3; ++axis) scene.centers[i][axis] += step * (2 * random_unit<float>(random) - 1);
  }
  return scene;
}

/// Bodies in a cube of edge 12, in one bin, with ids in any order and a floor.
body_scene<float> bodies_with_ids(body_shape shape, bool mixed, std::size_t count) {
  body_scene<float> scene;
  std::mt19937_64 random(11);
  scene.shape = shape;
  for (std::size_t i = 0; i < count; ++i) {
    scene.centers.push_back(make_vec<float, 3>([&](int) { return 12 * random_unit<float>(random); }));
    const float size = 0.2f + 0.6f * random_unit<float>(random);
    scene.sizes.push_back({size, 0.8f * size, 0.6f * size});
    if (mixed) scene.shapes.push_back(static_cast<body_shape>(i % 4));
    scene.orientations.push_back({random_unit<float>(random), random_unit<float>(random), 0.5f, 0});
    scene.ids.push_back(static_cast<particle_id>(count - i));
  }
  scene.planes.push_back({{0, 0, 1}, 0.5f});
  scene.options.bin_size = 50;
  return scene;
}

std::vector<body_scene<float>> bodies_of_shapes(std::size_t count) {
  return {bodies_with_ids(body_shape::sphere, false, count), bodies_with_ids(body_shape::ellipsoid, false, count),
          bodies_with_ids(body_shape::box, true, count)};
}

void expect_contacts_in(const backend_context& context, const async_detector& found, const body_scene<float>& scene,
                        bool sorted) {
  expect_contacts(bring_home(context, found.view()), reference::contacts(scene), scale_of(scene), sorted);
}

using contact_async = backend_test;

TEST_F(contact_async, gives_the_contacts_of_build_by_every_method) {
  std::size_t fits = 0, contacts = 0, searches = 0;
  for (std::uint64_t seed = 1; seed <= size_or(60, 10); ++seed) {
    const body_scene<float> scene = body_scene_maker<float>(seed).make(static_cast<scene_bodies>(seed % 5));
    const body_scene<float> later = bodies_later(scene, seed);
    const backend_context context = context_at(seed % 3 == 0 ? determinism::run_to_run : determinism::none);
    const bodies_on_device<float> stored(context, scene), stored_later(context, later);
    for (const std::string& method : methods_and_choice()) {
      SCOPED_TRACE(message("seed ", seed, ", ", method, ": ", describe(scene)));
      contact_options<float> options = scene.options;
      options.method = method;
      options.sorted = seed % 2 == 0;
      async_detector search(context, options);
      search.build(stored_later.view());
      search.build(stored.view());
      search.reserve(1000);
      search.build_async(stored_later.view());
      ++searches;
      try {
        search.check();
        ++fits;
      } catch (const overflow_error&) {
        // Bodies may touch more of the bins that were planned for others.
        search.build(stored_later.view());
        search.build_async(stored_later.view());
      }
      expect_contacts_in(context, search, later, options.sorted);
      contacts += search.size();
      search.build_async(stored_later.view());
      expect_contacts_in(context, search, later, options.sorted);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(fits, searches / 2);
  EXPECT_GT(contacts, 10 * searches);
}

/// The same bodies, all near the first forty.
body_scene<float> bodies_crowded(body_scene<float> scene) {
  for (std::size_t i = 40; i < scene.centers.size(); ++i) {
    scene.centers[i] = scene.centers[i % 40] + vec<float, 3>::filled(1e-3f * static_cast<float>(i));
  }
  return scene;
}

TEST_F(contact_async, names_the_room_that_would_have_sufficed_and_has_no_contacts_until_then) {
  const backend_context context;
  for (const body_scene<float>& scene : bodies_of_shapes(300)) {
    const body_scene<float> dense = bodies_crowded(scene);
    const bodies_on_device<float> stored(context, scene), stored_dense(context, dense);
    for (const contact_method& method : contact_methods()) {
      SCOPED_TRACE(describe(scene) + ", " + std::string(method.name));
      contact_options<float> options = scene.options;
      options.method = method.name;
      async_detector search(context, options);
      search.build(stored.view());
      search.build_async(stored_dense.view());
      std::uint64_t needed = 0;
      for (int attempt = 0; attempt < 3; ++attempt) {  // for pairs of boxes, and for contacts
        try {
          search.check();
          break;
        } catch (const overflow_error& problem) {
          EXPECT_GT(problem.needed(), needed);
          needed = problem.needed();
          EXPECT_EQ(to_host(context, search.view_async().count, 1)[0], 0u);
        }
        const std::string words = message("call build, or reserve(", needed, ")");
        for (int k = 0; k < 2; ++k) {
          expect_words(error_of<overflow_error>([&] { static_cast<void>(search.view()); }), {words});
          expect_words(error_of<overflow_error>([&] { static_cast<void>(search.size()); }), {words});
        }
        search.reserve(needed);
        EXPECT_THROW(static_cast<void>(search.view_async()), argument_error);
        search.build_async(stored_dense.view());
      }
      EXPECT_GT(needed, 0u);
      if (scene.shape == body_shape::sphere) {
        EXPECT_EQ(needed, search.size());
      }
      expect_contacts_in(context, search, dense, false);
    }
  }
}

/// Adds up the depths of contacts, in the stream.
struct add_depths {
  contacts_view_async<float> contacts;
  std::uint64_t* sum;

  QUADRAT_HD void operator()(std::size_t k) const {
    if (k < *contacts.count) atomic_add(sum, static_cast<std::uint64_t>(contacts.records[k].depth * 65536));
  }
};

TEST_F(contact_async, tells_kernels_in_the_stream_how_many_contacts_there_are) {
  const backend_context context;
  const body_scene<float> scene = bodies_with_ids(body_shape::sphere, false, 300), later = bodies_later(scene, 3);
  const bodies_on_device<float> stored(context, scene), stored_later(context, later);
  async_detector search(context, {});
  search.build(stored.view());
  search.reserve(3 * search.size());
  auto sum = to_device(context, std::vector<std::uint64_t>(2, 0));
  search.build_async(stored_later.view());
  const contacts_view_async<float> in_stream = search.view_async();
  for_each(context, "test.depths", in_stream.capacity, add_depths{in_stream, sum.data()});
  search.build(stored_later.view());
  const contacts_view_async<float> waited = search.view_async();
  EXPECT_EQ(to_host(context, waited.count, 1)[0], search.size());
  for_each(context, "test.depths", waited.capacity, add_depths{waited, sum.data() + 1});
  const auto sums = to_host(context, sum);
  EXPECT_GT(sums[0], 65536u);
  EXPECT_EQ(sums[0], sums[1]);
}

TEST_F(contact_async, takes_no_memory) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    counting_memory memory;
    const backend_context context = memory.context(level);
    for (const body_scene<float>& scene : bodies_of_shapes(size_or(400, 200))) {
      const body_scene<float> later = bodies_later(scene, 7);
      const bodies_on_device<float> stored(context, scene), stored_later(context, later);
      for (const std::string& method : methods_and_choice()) {
        for (const bool sorted : {false, true}) {
          SCOPED_TRACE(describe(scene) + ", " + method + (sorted ? ", sorted" : ""));
          contact_options<float> options = scene.options;
          options.method = method;
          options.sorted = sorted;
          async_detector search(context, options);
          search.build(stored.view());
          search.reserve(5 * search.size());
          const std::size_t before = memory.allocations();
          search.build_async(stored_later.view());
          EXPECT_EQ(memory.allocations(), before) << "after reserve";
          expect_contacts_in(context, search, later, sorted);
          search.build(stored.view());
          const std::size_t after = memory.allocations();
          for (int k = 0; k < 3; ++k) search.build_async(stored_later.view());
          static_cast<void>(search.view_async());
          search.check();
          EXPECT_EQ(memory.allocations(), after) << "after another build";
          expect_contacts_in(context, search, later, sorted);
        }
      }
    }
  }
}

TEST_F(contact_async, refuses_what_the_memory_of_the_last_build_does_not_suit) {
  const backend_context context;
  const body_scene<float> scene = bodies_with_ids(body_shape::box, true, 50);
  const bodies_on_device<float> stored(context, scene);
  const std::vector<plane<float>> walls{{{0, 0, 1}, 0.25f}};
  async_detector search(context, scene.options);
  const auto complaint = [&](const bodies_view<float>& bodies) {
    return error_of<argument_error>([&] { search.build_async(bodies); });
  };
  bodies_view<float> bodies = stored.view();
  EXPECT_EQ(complaint(bodies),
            "build_async works in the memory of the last build, and there was none, or it failed; call build");
  EXPECT_THROW(static_cast<void>(search.view_async()), argument_error);
  search.build(bodies);
  bodies.centers.count = 49;
  EXPECT_EQ(
      complaint(bodies),
      "there are 49 bodies, but the last build had 50; build_async works in the memory of that build: call build");
  for (const auto change :
       {+[](bodies_view<float>& b) { b.ids = nullptr; }, +[](bodies_view<float>& b) { b.groups = b.ids; },
        +[](bodies_view<float>& b) { b.shapes = nullptr; }, +[](bodies_view<float>& b) { b.orientations = nullptr; }}) {
    bodies = stored.view();
    change(bodies);
    expect_words(complaint(bodies), {"another shape or other arrays", "call build"});
  }
  bodies = stored.view();
  bodies.planes = walls;
  EXPECT_EQ(complaint(bodies), "the planes are not those of the last build; call build");
  EXPECT_NO_THROW(static_cast<void>(search.view())) << "that of the build";
  body_scene<float> faulty = scene;
  faulty.centers[3][0] = NAN;
  const bodies_on_device<float> stored_faulty(context, faulty);
  EXPECT_THROW(search.build(stored_faulty.view()), data_error);
  EXPECT_EQ(complaint(stored.view()),
            "build_async works in the memory of the last build, and there was none, or it failed; call build");
  EXPECT_THROW(static_cast<void>(search.view_async()), argument_error);
}

TEST_F(contact_async, leaves_errors_of_the_data_to_check_until_a_build_succeeds) {
  const backend_context context;
  for (const body_scene<float>& scene : bodies_of_shapes(100)) {
    const bodies_on_device<float> stored(context, scene);
    for (const contact_method& method : contact_methods()) {
      SCOPED_TRACE(describe(scene) + ", " + std::string(method.name));
      contact_options<float> options = scene.options;
      options.method = method.name;
      async_detector search(context, options);
      search.build(stored.view());
      const auto complaint_about = [&](const body_scene<float>& faulty) {
        const bodies_on_device<float> stored_faulty(context, faulty);
        search.build_async(stored_faulty.view());
        EXPECT_EQ(to_host(context, search.view_async().count, 1)[0], 0u);
        std::string text = error_of<data_error>([&] { search.check(); });
        EXPECT_EQ(error_of<data_error>([&] { search.check(); }), text);
        EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(search.view()); }), text);
        search.build_async(stored.view());
        expect_contacts_in(context, search, scene, false);
        return text;
      };
      body_scene<float> faulty = scene;
      faulty.centers[77][1] = NAN;
      faulty.centers[78][1] = INFINITY;
      EXPECT_EQ(complaint_about(faulty).substr(0, 11), "body 78 at ") << "ids decrease";
      faulty = scene;
      faulty.sizes[5] = {NAN, NAN, NAN};
      EXPECT_EQ(complaint_about(faulty).substr(0, 6), "body 5");
      faulty = scene;
      faulty.ids[7] = faulty.ids[9];
      expect_words(complaint_about(faulty), {"of another body; ids must differ"});
      faulty.ids[7] = first_plane;
      EXPECT_EQ(complaint_about(faulty),
                "body 7 has the id 2147483648; ids of bodies are below 2^31, from which planes count");
    }
  }
}

TEST_F(contact_async, finds_the_contacts_of_bodies_that_have_grown_beyond_those_of_the_build) {
  const backend_context context;
  for (body_scene<float> scene : bodies_of_shapes(300)) {
    for (const bool periodic : {false, true}) {
      for (const contact_method& method : contact_methods()) {
        SCOPED_TRACE(describe(scene) + ", " + std::string(method.name));
        scene.options.domain = make_box<float, 3>({}, {12, 12, 12}, {periodic, periodic, false});
        scene.options.method = method.name;
        scene.options.bin_size = method.balances || method.name == "tight_grid" ? 50.0f : 0.0f;
        body_scene<float> later = scene;
        later.sizes[50] = {2, 0.9f, 0.5f};
        const bodies_on_device<float> stored(context, scene), stored_later(context, later);
        async_detector search(context, scene.options);
        search.build(stored.view());
        search.reserve(2000);
        search.build_async(stored_later.view());
        expect_contacts_in(context, search, later, false);
        search.build(stored_later.view());
        expect_contacts_in(context, search, later, false);
      }
    }
  }
}

TEST_F(contact_async, finds_contacts_of_ellipsoids_whose_spheres_but_not_whose_boxes_are_too_long_for_a_periodic_box) {
  const backend_context context;
  body_scene<float> scene;
  std::mt19937_64 random(8);
  scene.shape = body_shape::ellipsoid;
  for (int i = 0; i < 60; ++i) {
    scene.centers.push_back(make_vec<float, 3>([&](int) { return 4 * random_unit<float>(random); }));
    scene.sizes.push_back({1.2f, 0.3f, 0.3f});
    scene.orientations.push_back({0.92388f, 0, 0, 0.38268f});  // an eighth of a turn around z
  }
  scene.options.domain = make_box<float, 3>({}, {4, 4, 4}, {true, true, true});
  EXPECT_GT(check_all_methods(context, scene), 50u);
  const body_scene<float> later = bodies_later(scene, 1);
  const bodies_on_device<float> stored(context, scene), stored_later(context, later);
  async_detector search(context, scene.options);
  search.build(stored.view());
  search.reserve(2000);
  search.build_async(stored_later.view());
  expect_contacts_in(context, search, later, false);
}

TEST_F(contact_async, wants_ids_that_increase_where_they_did_before) {
  const backend_context context;
  body_scene<float> scene = bodies_with_ids(body_shape::sphere, false, 100);
  std::iota(scene.ids.begin(), scene.ids.end(), 1000u);
  const bodies_on_device<float> stored(context, scene);
  async_detector search(context, scene.options);
  search.build(stored.view());
  search.build_async(stored.view());
  expect_contacts_in(context, search, scene, false);
  std::swap(scene.ids[10], scene.ids[11]);
  const bodies_on_device<float> stored_swapped(context, scene);
  search.build_async(stored_swapped.view());
  expect_words(error_of<data_error>([&] { search.check(); }),
               {"body 11 has the id 1010, which is not above the one before", "call build"});
  search.build(stored_swapped.view());
  search.build_async(stored_swapped.view());
  expect_contacts_in(context, search, scene, false);
}

TEST_F(contact_async, works_for_no_bodies) {
  const backend_context context;
  const body_scene<float> none;
  const bodies_on_device<float> stored(context, none);
  for (const std::string& method : methods_and_choice()) {
    contact_options<float> options;
    options.method = method;
    options.sorted = true;
    async_detector search(context, options);
    search.build(stored.view());
    EXPECT_EQ(to_host(context, search.view_async().count, 1)[0], 0u);
    search.build_async(stored.view());
    EXPECT_EQ(search.size(), 0u);
  }
}

/// Spheres in a box of edge 60, which bins are planned for, in the part of it from 0 to `edge`.
body_scene<float> bodies_in_part(float edge, float radius) {
  body_scene<float> scene;
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    scene.centers.push_back(make_vec<float, 3>([&](int) { return edge * random_unit<float>(random); }));
  }
  scene.radii.assign(2000, radius);
  scene.options.domain = make_box<float, 3>({}, {60, 60, 60}, {});
  return scene;
}

TEST_F(contact_async, is_not_needed_to_keep_bins_from_build_to_build_while_they_fit) {
  const backend_context context = context_at(determinism::none);
  const auto bins_after = [&](async_detector& search, const body_scene<float>& scene) {
    const bodies_on_device<float> stored(context, scene);
    search.build(stored.view());
    expect_contacts_in(context, search, scene, false);
    return search.bin_size();
  };
  for (const std::string method : {"levels", "loose_grid", "tight_grid"}) {
    SCOPED_TRACE(method);
    contact_options<float> options = bodies_in_part(10, 0.3f).options;
    options.method = method;
    async_detector search(context, options);
    const float first = bins_after(search, bodies_in_part(10, 0.3f));
    EXPECT_EQ(bins_after(search, bodies_later(bodies_in_part(10, 0.3f), 1)), first);
    // Most bodies would be in the bins at the ends. Those of levels have about the size of a body.
    const float wide = bins_after(search, bodies_in_part(60, 0.3f));
    if (method != "levels") {
      EXPECT_GT(wide, first);
    }
    if (method != "tight_grid") {
      EXPECT_GT(bins_after(search, bodies_in_part(60, 4.0f)), wide) << "larger bodies";
    }
  }
}

}  // namespace

}  // namespace quadrat::test
