// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/contact_detector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "contact_support.hpp"

// Every method gives what the brute force gives: over random scenes of every kind, and where it is hard.

namespace quadrat::test {

namespace {

template <typename T>
class contact_agreement : public backend_test {
 protected:
  /// Random scenes of some bodies; there must be contacts in them.
  void check_random(scene_bodies kind, std::uint64_t first_seed, std::size_t scenes) {
    std::size_t contacts = 0;
    const auto contexts = all_contexts();
    for (std::uint64_t seed = first_seed; seed < first_seed + scenes; ++seed) {
      SCOPED_TRACE(message("seed ", seed));
      const body_scene<T> scene = body_scene_maker<T>(seed).make(kind);
      contacts += check_all_methods<T>(contexts[seed % contexts.size()], scene, seed % 2 == 0);
      if (this->HasFailure()) return;
    }
    EXPECT_GT(contacts, 10 * scenes);
  }
};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(contact_agreement, precisions);

TYPED_TEST(contact_agreement, of_spheres) { this->check_random(scene_bodies::spheres, 1, size_or(400, 20)); }
TYPED_TEST(contact_agreement, of_ellipsoids) { this->check_random(scene_bodies::ellipsoids, 1001, size_or(150, 10)); }
TYPED_TEST(contact_agreement, of_capsules) { this->check_random(scene_bodies::capsules, 2001, size_or(150, 10)); }
TYPED_TEST(contact_agreement, of_boxes) { this->check_random(scene_bodies::boxes, 3001, size_or(150, 10)); }
TYPED_TEST(contact_agreement, of_all_shapes) { this->check_random(scene_bodies::mixed, 4001, size_or(250, 20)); }

/// Some bodies of one scene, in place.
template <typename T>
body_scene<T> spheres(std::vector<vec<T, 3>> centers, std::vector<T> radii) {
  body_scene<T> scene;
  scene.centers = std::move(centers);
  scene.radii = std::move(radii);
  return scene;
}

TYPED_TEST(contact_agreement, spheres_that_touch_exactly_do_not_overlap) {
  using T = TypeParam;
  body_scene<T> scene = spheres<T>({{T(0), T(0), T(0)}, {T(1), T(0), T(0)}, {T(2.5), T(0), T(0)}}, {});
  scene.radius = T(0.5);
  EXPECT_EQ(check_all_methods(backend_context(), scene), 0u);
  scene.radius = std::nextafter(T(0.5), T(1));
  EXPECT_EQ(check_all_methods(backend_context(), scene), 1u);
}

TYPED_TEST(contact_agreement, a_sphere_in_hundreds_of_bins_beside_tiny_ones) {
  using T = TypeParam;
  std::vector<vec<T, 3>> centers{{T(5), T(5), T(5)}};
  std::vector<T> radii{T(4.5)};
  std::mt19937_64 random(5);
  for (int k = 0; k < 300; ++k) {
    centers.push_back({10 * random_unit<T>(random), 10 * random_unit<T>(random), 10 * random_unit<T>(random)});
    radii.push_back(T(0.05));
  }
  body_scene<T> scene = spheres<T>(centers, radii);
  scene.options.bin_size = T(0.5);  // the large one touches some 5000
  EXPECT_GT(check_all_methods(backend_context(), scene), 50u);
}

TYPED_TEST(contact_agreement, where_a_periodic_box_has_one_or_two_bins) {
  using T = TypeParam;
  for (const T bin_size : {T(1), T(2), T(1.2), T(5)}) {
    std::mt19937_64 random(9);
    body_scene<T> scene;
    for (int k = 0; k < 60; ++k) {
      scene.centers.push_back({3 * random_unit<T>(random), 3 * random_unit<T>(random), 3 * random_unit<T>(random)});
      scene.radii.push_back(T(0.75) * (random_unit<T>(random) + T(0.001)) / T(1.001));
    }
    scene.options.domain = make_box<T, 3>({}, {T(3), T(3), T(3)}, vec<bool, 3>::filled(true));
    scene.options.bin_size = bin_size;
    EXPECT_GT(check_all_methods(backend_context(), scene), 100u);
  }
}

TYPED_TEST(contact_agreement, where_rounding_far_from_the_origin_is_longer_than_bins_of_a_periodic_box) {
  using T = TypeParam;
  const T far = T(0.3) / std::numeric_limits<T>::epsilon();  // coordinates are multiples of 1/4 there
  std::mt19937_64 random(6);
  body_scene<T> scene;
  for (int k = 0; k < 200; ++k) {
    const auto place = [&] { return far + T(0.25) * static_cast<T>(random() % 32); };
    const T x = place(), y = place(), z = place();
    scene.centers.push_back({x, y, z});
  }
  scene.radius = T(0.5);
  scene.options.bin_size = T(1);
  const vec<T, 3> lower = vec<T, 3>::filled(far);
  scene.options.domain = make_box<T, 3>(lower, lower + vec<T, 3>::filled(T(8)), vec<bool, 3>::filled(true));
  EXPECT_GT(check_all_methods(backend_context(), scene), 50u);
}

TYPED_TEST(contact_agreement, with_no_body_one_body_and_far_away) {
  using T = TypeParam;
  EXPECT_EQ(check_all_methods(backend_context(), body_scene<T>{}), 0u);
  EXPECT_EQ(check_all_methods(backend_context(), spheres<T>({{T(1), T(2), T(3)}}, {T(1)})), 0u);
  const T far = T(1e6);
  body_scene<T> scene = spheres<T>({{far, far, far}, {far + T(1), far, far}, {T(0), T(0), T(0)}, {T(0), T(0.5), T(0)}},
                                   {T(1), T(1), T(1), T(1)});
  EXPECT_EQ(check_all_methods(backend_context(), scene), 2u);
  scene.options.domain = make_box<T, 3>({}, {T(3), T(3), T(3)}, vec<bool, 3>::filled(false));
  EXPECT_EQ(check_all_methods(backend_context(), scene), 2u);
}

TYPED_TEST(contact_agreement, of_more_bodies_than_a_block) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  body_scene<T> scene;
  for (std::size_t k = 0; k < size_or(3000, 600); ++k) {
    scene.centers.push_back({20 * random_unit<T>(random), 20 * random_unit<T>(random), 20 * random_unit<T>(random)});
    scene.radii.push_back(T(0.1) * static_cast<T>(std::pow(10.0, random_unit<double>(random))));
  }
  EXPECT_GT(check_all_methods(backend_context(), scene), size_or(1000, 50));
}

TYPED_TEST(contact_agreement, across_a_periodic_face_of_bodies_that_were_not_brought_home) {
  using T = TypeParam;
  body_scene<T> scene = spheres<T>({{T(-0.25), T(1), T(1)}, {T(8.25), T(1), T(17)}}, {T(0.5), T(0.5)});
  scene.options.domain = make_box<T, 3>({}, {T(8), T(8), T(8)}, vec<bool, 3>::filled(true));
  EXPECT_EQ(check_all_methods(backend_context(), scene), 1u);
  const bodies_on_device<T> stored(backend_context(), scene);
  contact_detector<backend_context, T> detector(backend_context(), scene.options);
  detector.build(stored.view());
  const contact<T> found = bring_home(backend_context(), detector.view())[0].record;
  // Given where a is: at -0.25, with b at 0.25.
  EXPECT_NEAR(found.point_a[0], 0.25, 1e-6);
  EXPECT_NEAR(found.point_b[0], -0.25, 1e-6);
  EXPECT_NEAR(found.depth, 0.5, 1e-6);
  EXPECT_EQ(found.normal[0], T(1));
}

}  // namespace

}  // namespace quadrat::test
