// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "contacts/support.hpp"

// Pairs that sorting along one axis, or images around a periodic box, could lose. Agreement with other methods is
// tested over all methods.

namespace quadrat::test {

namespace {

template <typename T>
class sweep_and_prune : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(sweep_and_prune, precisions);

template <typename T>
std::string reason_for(const body_scene<T>& scene) {
  const backend_context context;
  const bodies_on_device<T> stored(context, scene);
  contact_options<T> options = scene.options;
  options.method = "sweep_and_prune";
  contact_detector<backend_context, T> detector(context, options);
  detector.build(stored.view());
  return std::string(detector.reason());
}

/// Spheres in a box of these lengths.
template <typename T>
body_scene<T> spheres_in(const vec<double, 3>& lengths, std::size_t count, double radius, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  body_scene<T> scene;
  for (std::size_t k = 0; k < count; ++k) {
    scene.centers.push_back(
        make_vec<T, 3>([&](int axis) { return static_cast<T>(lengths[axis] * random_unit<double>(random)); }));
  }
  scene.radius = static_cast<T>(radius);
  return scene;
}

/// Compares with every pair.
template <typename T>
std::size_t check(body_scene<T> scene) {
  const auto wanted = reference::contacts(scene);
  for (const backend_context& context : all_contexts()) {
    check_method(context, scene, wanted, "sweep_and_prune", false);
    check_method(context, scene, wanted, "sweep_and_prune", true);
  }
  return wanted.size();
}

TYPED_TEST(sweep_and_prune, goes_along_the_axis_where_fewest_bodies_overlap) {
  using T = TypeParam;
  EXPECT_EQ(reason_for(spheres_in<T>({9, 1, 1}, 500, 0.1, 1)).substr(0, 33), "asked for; no bins; swept along x");
  EXPECT_EQ(reason_for(spheres_in<T>({1, 9, 1}, 500, 0.1, 2)).substr(0, 33), "asked for; no bins; swept along y");
  EXPECT_EQ(reason_for(spheres_in<T>({0, 0, 9}, 500, 0.1, 3)).substr(0, 33), "asked for; no bins; swept along z");
  // Almost points: none overlap, so that the longest axis decides.
  EXPECT_EQ(reason_for(spheres_in<T>({1, 3, 2}, 100, 1e-6, 4)),
            "asked for; no bins; swept along y, where 0 of 4950 pairs of a sample overlap");
}

TYPED_TEST(sweep_and_prune, is_not_led_astray_by_one_body_far_away) {
  using T = TypeParam;
  for (const std::size_t count : {100, 5000}) {
    body_scene<T> scene = spheres_in<T>({0.1, 5, 0.1}, count, 0.1, 5);
    scene.centers[50] = {T(1e6), T(0), T(0)};
    EXPECT_EQ(reason_for(scene).substr(0, 33), "asked for; no bins; swept along y");
  }
}

TYPED_TEST(sweep_and_prune, takes_bodies_in_the_order_of_a_lattice_for_what_they_are) {
  using T = TypeParam;
  body_scene<T> scene;
  for (int k = 0; k < 4096; ++k) scene.centers.push_back({T(k % 8), T(k / 8 % 8), T(k / 64)});
  scene.radius = T(0.4);
  EXPECT_EQ(reason_for(scene).substr(0, 33), "asked for; no bins; swept along z");
}

TYPED_TEST(sweep_and_prune, finds_each_pair_of_equal_bodies_once) {
  using T = TypeParam;
  body_scene<T> scene;
  scene.centers.assign(150, {T(1), T(2), T(3)});
  scene.radius = T(0.5);
  EXPECT_EQ(check(scene), 150u * 149u / 2u);
  scene.options.domain = make_box<T, 3>({}, {T(4), T(4), T(4)}, {true, true, true});
  EXPECT_EQ(check(scene), 150u * 149u / 2u);
}

TYPED_TEST(sweep_and_prune, finds_pairs_across_periodic_faces_once) {
  using T = TypeParam;
  for (std::uint64_t seed = 1; seed <= size_or(12, 3); ++seed) {
    // Along x, the longest axis; half of the bodies around its face.
    body_scene<T> scene = spheres_in<T>({20, 2, 2}, 120, 0.45, seed);
    for (std::size_t k = 0; k < 60; ++k) {
      scene.centers[k][0] = static_cast<T>(static_cast<double>(scene.centers[k][0]) / 20 + (k % 3 == 0 ? 19.5 : -0.5));
    }
    scene.options.domain = make_box<T, 3>({}, {T(20), T(2), T(2)}, {true, seed % 2 == 0, false});
    EXPECT_EQ(reason_for(scene).substr(0, 33), "asked for; no bins; swept along x");
    EXPECT_GT(check(scene), 100u);
  }
}

TYPED_TEST(sweep_and_prune, finds_pairs_once_that_reach_each_other_both_ways_round_the_box) {
  using T = TypeParam;
  body_scene<T> scene;  // each exactly half as long as the box
  for (int k = 0; k < 40; ++k) scene.centers.push_back({T(k) / T(10), T(k % 4), T(0)});
  scene.radius = T(1);
  scene.options.domain = make_box<T, 3>({}, {T(4), T(4), T(4)}, {true, true, true});
  EXPECT_GT(check(scene), 200u);
  for (auto& center : scene.centers) center = center + vec<T, 3>{T(1000), T(-3000), T(0.5)};
  scene.options.domain = make_box<T, 3>({T(1000), T(-3000), T(0)}, {T(1004), T(-2996), T(4)}, {true, true, true});
  EXPECT_GT(check(scene), 200u);
}

TYPED_TEST(sweep_and_prune, shares_the_walk_of_a_giant_among_rows_and_loses_none_of_it) {
  using T = TypeParam;
  const std::size_t count = size_or(3000, 600);
  body_scene<T> scene = spheres_in<T>({50, 50, 50}, count, 0.3, 7);
  scene.radii.assign(count, T(0.3));
  scene.radii[count / 2] = T(40);
  scene.centers[count / 2] = {T(25), T(25), T(25)};
  EXPECT_GT(check(scene), count * 9 / 10);
}

TYPED_TEST(sweep_and_prune, finds_the_same_bytes_as_levels_among_many_bodies) {
  using T = TypeParam;
  const std::size_t count = size_or(30'000, 2000);
  const double edge = std::cbrt(0.9 * static_cast<double>(count));  // more than two contacts for each body
  body_scene<T> scene = spheres_in<T>(vec<double, 3>::filled(edge), count, 0.5, 8);
  scene.options.domain = make_box<T, 3>({}, vec<T, 3>::filled(static_cast<T>(edge)), vec<bool, 3>::filled(true));
  scene.options.sorted = true;
  const backend_context context;
  const bodies_on_device<T> stored(context, scene);
  std::vector<std::vector<contact<T>>> found;
  for (const char* method : {"levels", "sweep_and_prune"}) {
    scene.options.method = method;
    contact_detector<backend_context, T> detector(context, scene.options);
    detector.build(stored.view());
    found.push_back(bring_home(context, detector.view()));
  }
  EXPECT_GT(found[0].size(), 2 * count);
  ASSERT_EQ(found[0].size(), found[1].size());
  for (std::size_t k = 0; k < found[0].size(); ++k) {
    ASSERT_EQ(std::memcmp(&found[0][k], &found[1][k], sizeof(contact<T>)), 0) << k;
  }
}

TYPED_TEST(sweep_and_prune, follows_bodies_that_change_number_and_axis_from_build_to_build) {
  using T = TypeParam;
  const backend_context context;
  contact_options<T> options;
  options.method = "sweep_and_prune";
  options.sorted = true;
  contact_detector<backend_context, T> detector(context, options);
  const vec<double, 3> shapes[] = {{9, 1, 1}, {1, 1, 9}, {1, 9, 1}, {3, 3, 3}};
  std::uint64_t seed = 20;
  for (const std::size_t count : {300, 0, 1, 100, 2, 400}) {
    const body_scene<T> scene = spheres_in<T>(shapes[seed % 4], count, 0.1, seed);
    ++seed;
    const bodies_on_device<T> stored(context, scene);
    detector.build(stored.view());
    expect_contacts(bring_home(context, detector.view()), reference::contacts(scene), T(10), true);
  }
}

}  // namespace

}  // namespace quadrat::test
