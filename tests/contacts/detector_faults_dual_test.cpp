// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "contacts/support.hpp"

// What a detector refuses, and its messages.

namespace quadrat::test {

namespace {

body_scene<float> three_boxes() {
  body_scene<float> scene;
  scene.shape = body_shape::box;
  scene.centers = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  scene.sizes = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  scene.orientations.assign(3, quaternion<float>::identity());
  scene.groups = {0, 1, 2};
  return scene;
}

/// The range of valid lengths as text, such as "1e-12 to 1e+12".
template <typename T>
std::string lengths() {
  return message(smallest_length<T>, " to ", largest_length<T>);
}

/// The message of a build, the same for every method.
template <typename Error, typename T>
std::string complaint_of_build(const body_scene<T>& scene) {
  std::string text;
  for (const contact_method& method : contact_methods()) {
    const backend_context context;
    const bodies_on_device<T> stored(context, scene);
    contact_options<T> options = scene.options;
    options.method = std::string(method.name);
    contact_detector<backend_context, T> detector(context, options);
    const std::string now = error_of<Error>([&] { detector.build(stored.view()); });
    if (!text.empty()) {
      EXPECT_EQ(now, text) << method.name;
    }
    text = now;
    EXPECT_EQ(error_of<argument_error>([&] { static_cast<void>(detector.size()); }),
              "the last build has failed; build again before using the contacts");
  }
  return text;
}

using contact_faults = backend_test;

/// Also says whose index the error has.
std::string complaint_about_ids(const std::vector<particle_id>& ids, std::uint64_t offender) {
  body_scene<float> scene = three_boxes();
  scene.ids = ids;
  const backend_context context;
  const bodies_on_device<float> stored(context, scene);
  contact_detector<backend_context, float> detector(context, {});
  try {
    detector.build(stored.view());
  } catch (const data_error& problem) {
    EXPECT_EQ(problem.index(), offender);
  }
  return complaint_of_build<data_error>(scene);
}

TEST_F(contact_faults, of_ids_are_those_of_two_bodies_or_of_planes) {
  EXPECT_EQ(complaint_about_ids({7, 9, 9}, 2), "bodies 1 and 2 both have the id 9; ids must differ");
  EXPECT_EQ(complaint_about_ids({7, 9, 7}, 2), "bodies 0 and 2 both have the id 7; ids must differ");
  EXPECT_EQ(complaint_about_ids({5, first_plane, no_particle}, 1),
            "body 1 has the id 2147483648; ids of bodies are below 2^31, from which planes count");
}

TEST_F(contact_faults, of_data_name_the_index_of_a_body_with_an_id) {
  body_scene<float> scene = three_boxes();
  scene.ids = {30, 20, 10};
  scene.sizes[2] = {1, 0, 1};
  expect_words(complaint_of_build<data_error>(scene), {"body 2, of shape box, has size (1, 0, 1)"});
}

TEST_F(contact_faults, of_data_name_the_first_body_its_value_and_what_would_do) {
  body_scene<float> scene = three_boxes();
  scene.centers[2] = {2, NAN, 0};
  scene.centers[1][2] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(complaint_of_build<data_error>(scene), "body 1 at (1, 0, inf) has a coordinate that is not finite");
  scene = three_boxes();
  scene.sizes[1] = {1, 0, 1};
  EXPECT_EQ(complaint_of_build<data_error>(scene),
            "body 1, of shape box, has size (1, 0, 1); sizes must be from " + lengths<float>());
  scene.sizes[1] = {1, NAN, 1};
  EXPECT_EQ(complaint_of_build<data_error>(scene),
            "body 1, of shape box, has size (1, nan, 1); sizes must be from " + lengths<float>());
  scene.shape = body_shape::ellipsoid;
  scene.sizes[1] = {1, 1e-6f, 1};
  EXPECT_EQ(complaint_of_build<data_error>(scene),
            "body 1, of shape ellipsoid, has size (1, 1e-06, 1); sizes must be from " + lengths<float>() +
                ", the longest at most 10000 times the shortest");
  scene = three_boxes();
  scene.orientations[2] = {0, 0, 0, 0};
  EXPECT_EQ(complaint_of_build<data_error>(scene),
            "body 2 has the orientation (0, 0, 0, 0); it must be finite and not 0");
  scene = three_boxes();
  scene.groups[0] = 32;
  EXPECT_EQ(complaint_of_build<data_error>(scene), "body 0 is of group 32; groups are below 32");
  scene = three_boxes();
  scene.shapes = {body_shape::box, static_cast<body_shape>(9), body_shape::box};
  EXPECT_EQ(complaint_of_build<data_error>(scene), "body 1 has a shape of number 9; there are 4");
}

TEST_F(contact_faults, of_spheres_name_the_radius) {
  body_scene<double> scene;
  scene.centers.resize(100);
  scene.radii.assign(100, 0.5);
  scene.radii[77] = -1;
  EXPECT_EQ(complaint_of_build<data_error>(scene),
            "body 77, of shape sphere, has radius -1; sizes must be from " + lengths<double>());
  scene.radii[12] = 0;
  EXPECT_EQ(complaint_of_build<data_error>(scene),
            "body 12, of shape sphere, has radius 0; sizes must be from " + lengths<double>());
}

TEST_F(contact_faults, of_bodies_that_could_touch_two_images) {
  body_scene<float> scene;
  scene.centers = {{0, 0, 0}, {1, 0, 0}};
  scene.radii = {1, 1.25f};
  scene.options.domain = make_box<float, 3>({}, {10, 4, 10}, {true, true, false});
  EXPECT_EQ(complaint_of_build<data_error>(scene),
            "body 1 is 2.5 long along the periodic axis 1, where the box is 4; at most half of that is possible");
  scene.radii[1] = 1;  // exactly half the box
  EXPECT_EQ(check_all_methods(backend_context(), scene), 1u);
}

TEST_F(contact_faults, of_bodies_so_far_away_that_nobody_knows_where_in_the_periodic_box_they_are) {
  body_scene<float> scene;
  scene.centers.assign(100, {0, 0, 0});
  scene.centers[7] = {0, 8e6f, 0};
  scene.radius = 1;
  scene.options.domain = make_box<float, 3>({}, {10, 4, 10}, {true, true, false});
  EXPECT_EQ(complaint_of_build<data_error>(scene),
            "body 7 at (0, 8e+06, 0) lies 2e+06 boxes away along the periodic axis 1; at most 1048576 are possible");
  scene.centers[7] = {0, 4e6f, 1e20f};  // a million boxes; along open axes bodies may be anywhere
  for (int k = 0; k < 100; ++k) scene.centers[static_cast<std::size_t>(k)][0] = static_cast<float>(k);
  EXPECT_GT(check_all_methods(backend_context(), scene), 100u);

  body_scene<double> fine;
  fine.centers = {{0.25, 0.25, 0.25}, {1e9 + 0.5, 0.5 - 1e9, 0.5}};
  fine.radius = 0.25;
  fine.options.domain = make_box<double, 3>({}, {1, 1, 1}, {true, true, true});
  EXPECT_EQ(check_all_methods(backend_context(), fine), 1u);
  EXPECT_EQ(reference::contacts(fine)[0].shift, (vec<int, 3>{-1000000000, 1000000000, 0}));
}

TEST_F(contact_faults, of_bodies_that_were_sound_in_the_last_build_are_found_and_forgotten) {
  body_scene<float> scene;
  scene.shape = body_shape::ellipsoid;
  for (int k = 0; k < 200; ++k) scene.centers.push_back(vec<float, 3>::filled(0.05f * static_cast<float>(k)));
  scene.sizes.assign(200, {0.1f, 0.2f, 0.3f});
  scene.groups.assign(200, 1);
  scene.options.method = "levels";
  scene.options.domain = make_box<float, 3>({}, {10, 10, 10}, {true, true, true});
  const backend_context context;
  contact_detector<backend_context, float> detector(context, scene.options);
  const auto complaint_of = [&](const body_scene<float>& faulty) {
    const bodies_on_device<float> sound(context, scene), stored(context, faulty);
    detector.build(sound.view());
    std::string text = error_of<data_error>([&] { detector.build(stored.view()); });
    detector.build(sound.view());
    expect_contacts(bring_home(context, detector.view()), reference::contacts(scene), 10.0f, false);
    return text;
  };
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float size : {1e8f, 1e30f, infinity, NAN}) {
    body_scene<float> faulty = scene;
    faulty.sizes[150] = vec<float, 3>::filled(size);
    EXPECT_EQ(complaint_of(faulty).substr(0, 8), "body 150");
  }
  for (const float coordinate : {infinity, -infinity, NAN}) {
    body_scene<float> faulty = scene;
    faulty.centers[7][1] = coordinate;
    EXPECT_EQ(complaint_of(faulty).substr(0, 11), "body 7 at (");
  }
  body_scene<float> faulty = scene;
  faulty.groups[9] = 0xfffffff0u;
  EXPECT_EQ(complaint_of(faulty), "body 9 is of group 4294967280; groups are below 32");
}

TEST_F(contact_faults, of_arguments_are_found_before_anything_runs) {
  body_scene<float> scene = three_boxes();
  scene.sizes.clear();
  EXPECT_EQ(complaint_of_build<argument_error>(scene),
            "bodies are not all spheres, but sizes is null; other shapes need a size of each body");
  scene = {};
  scene.centers.resize(2);
  scene.radius = -2;
  EXPECT_EQ(complaint_of_build<argument_error>(scene),
            "the radius of spheres is -2; it must be from " + lengths<float>());
  scene.radius = 1;
  scene.planes = {{{0, 0, 1}, 0}, {{0, 1, 1}, 0}};
  EXPECT_EQ(complaint_of_build<argument_error>(scene), "plane 1 has the normal (0, 1, 1); its length must be 1");
  scene.planes[1] = {{0, NAN, 1}, 0};
  EXPECT_EQ(complaint_of_build<argument_error>(scene), "plane 1 has the normal (0, nan, 1); its length must be 1");
  scene.planes[1] = {{0, 1, 0}, INFINITY};
  EXPECT_EQ(complaint_of_build<argument_error>(scene), "plane 1 has the offset inf; it must be finite");
  scene.planes[1] = {{0, 1, 0}, 0, 33};
  EXPECT_EQ(complaint_of_build<argument_error>(scene), "plane 1 is of group 33; groups are below 32");
  scene.planes[1] = {{0, -1, 0}, 0};
  scene.options.domain = make_box<float, 3>({}, {10, 10, 10}, {true, true, false});
  EXPECT_EQ(complaint_of_build<argument_error>(scene),
            "plane 1 has the normal (0, -1, 0), which is not 0 along the periodic axis 1; the solid side of a wall "
            "cannot repeat there (leave the axis open)");
}

TEST_F(contact_faults, of_views_are_seen_without_looking_at_bodies) {
  contact_detector<backend_context, float> detector(backend_context(), {});
  EXPECT_EQ(error_of<argument_error>([&] { static_cast<void>(detector.view()); }),
            "nothing has been built yet; call build first");
  bodies_view<float> bodies;
  bodies.radius = 1;
  bodies.centers = points_of(static_cast<const vec<float, 3>*>(nullptr), 2);
  EXPECT_EQ(error_of<argument_error>([&] { detector.build(bodies); }),
            "there are 2 centers, but the pointer to them is null");
  const auto two = to_device(backend_context(), std::vector<vec<float, 3>>(2));
  bodies.centers = points_of(two.data(), 2);
  bodies.centers.stride = 0;
  EXPECT_EQ(error_of<argument_error>([&] { detector.build(bodies); }),
            "the stride of the centers is 0; it must be positive");
  bodies.centers = points_of(two.data(), 2);
  bodies.shape = static_cast<body_shape>(4);
  EXPECT_EQ(error_of<argument_error>([&] { detector.build(bodies); }),
            "the shape of bodies has the number 4; there are 4");
}

TEST_F(contact_faults, of_too_many_bodies_are_seen_without_looking_at_them) {
  contact_detector<backend_context, float> detector(backend_context(), {});
  const auto one = to_device(backend_context(), std::vector<vec<float, 3>>(1));
  const std::vector<plane<float>> floor{{{0, 0, 1}, 0}};
  bodies_view<float> bodies;
  bodies.radius = 1;
  bodies.centers = points_of(one.data(), std::size_t{1} << 31);
  EXPECT_NE(error_of<argument_error>([&] { detector.build(bodies); }).find("2147483648"), std::string::npos);
  bodies.centers.count -= 1;
  bodies.planes = floor;
  EXPECT_EQ(error_of<argument_error>([&] { detector.build(bodies); }),
            "there are 2147483647 bodies and 1 planes; at most 2147483647 are possible in total");
}

/// The message when a detector with these options is constructed.
std::string complaint_of_options(const contact_options<float>& options) {
  return error_of<argument_error>(
      [&] { contact_detector<backend_context, float> detector(backend_context(), options); });
}

TEST_F(contact_faults, of_options) {
  contact_options<float> options;
  options.method = "bin";
  EXPECT_EQ(complaint_of_options(options).substr(0, 28), "unknown contact method \"bin\"");
  options = {};
  options.bin_size = -1;
  EXPECT_EQ(complaint_of_options(options), "the bin size is -1; it must be positive and finite, or auto");
  options.bin_size = NAN;
  EXPECT_EQ(complaint_of_options(options), "the bin size is nan; it must be positive and finite, or auto");
  options = {};
  options.masks[3] = ~(1u << 5);
  EXPECT_EQ(complaint_of_options(options),
            "by the pair masks bodies of group 5 meet those of group 3, but not the other way round; masks must be "
            "symmetric");
  options = {};
  options.domain = box<float, 3>{{0, 0, 0}, {1, -1, 1}, {}};
  EXPECT_EQ(complaint_of_options(options), "box length along axis 1 is -1; it must be positive and finite");
  options.domain = box<float, 3>{{0, NAN, 0}, {1, 1, 1}, {}};
  EXPECT_EQ(complaint_of_options(options), "box bounds along axis 1 are nan and nan; they must be finite");
}

/// The last number before " would do".
float suggestion_of(const std::string& text) {
  const std::size_t end = text.rfind(" would do"), begin = text.rfind(' ', end - 1);
  EXPECT_NE(end, std::string::npos) << text;
  return std::stof(text.substr(begin + 1, end - begin - 1));
}

TEST_F(contact_faults, of_bins_that_are_too_many_say_which_size_would_do) {
  body_scene<float> scene;
  scene.centers = {{0, 0, 0}, {2000, 1500, 3}};
  scene.radii = {1, 1};
  for (const char* method : {"bins", "tight_grid", "loose_grid"}) {
    SCOPED_TRACE(method);
    scene.options.method = method;
    scene.options.bin_size = 0.1f;
    const backend_context context;
    const bodies_on_device<float> stored(context, scene);
    const auto build = [&] {
      contact_detector<backend_context, float> detector(context, scene.options);
      detector.build(stored.view());
    };
    const std::string text = error_of<argument_error>(build);
    EXPECT_EQ(text.substr(0, 26), "a bin size of 0.1 needs 14") << text;
    EXPECT_NE(text.find(" bins; at most 2147483647 are possible"), std::string::npos) << text;
    const double size = static_cast<double>(suggestion_of(text));
    EXPECT_LT(2002 / size * (1502 / size) * (5 / size), 2147483647.0);
    EXPECT_LT(size, 0.5);
  }
}

TEST_F(contact_faults, of_bodies_in_more_bins_than_can_be_numbered_name_M_and_a_size_that_would_do) {
  body_scene<float> scene;
  // Four bodies that touch nearly all of 900 x 900 x 900 bins.
  for (int k = 0; k < 4; ++k) {
    scene.centers.push_back({500.0f + static_cast<float>(k), 500, 500});
    scene.radii.push_back(500);
  }
  scene.options.domain = make_box<float, 3>({0, 0, 0}, {1000, 1000, 1000}, {});
  scene.options.bin_size = 1.1f;
  for (const char* method : {"bins", "tight_grid"}) {
    SCOPED_TRACE(method);
    scene.options.method = method;
    const backend_context context;
    const bodies_on_device<float> stored(context, scene);
    contact_detector<backend_context, float> detector(context, scene.options);
    const std::string text = error_of<argument_error>([&] { detector.build(stored.view()); });
    EXPECT_EQ(text.substr(0, 51), "with a bin size of 1.1 bodies touch M = 2562005376 ") << text;
    const double size = static_cast<double>(suggestion_of(text));
    EXPECT_LT(4 * std::pow(1000 / size + 2, 3), 2147483647.0);
    EXPECT_LT(size, 5);
  }
}

}  // namespace

}  // namespace quadrat::test
