// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/contact_detector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "contacts/support.hpp"
#include "quadrat/search/neighbor_list.hpp"

// Every method agrees with brute force: over random scenes of every kind, and in hard cases.

namespace quadrat::test {

namespace {

template <typename T>
class contact_agreement : public backend_test {
 protected:
  /// Checks random scenes of some bodies, which must have contacts.
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

/// Hand-placed bodies of one scene.
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
  scene.options.bin_size = T(0.5);  // the large body touches about 5000 bins
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
  const backend_context context;
  EXPECT_EQ(check_all_methods(context, scene), 1u);
  const bodies_on_device<T> stored(context, scene);
  contact_detector<backend_context, T> detector(context, scene.options);
  detector.build(stored.view());
  const contact<T> found = bring_home(context, detector.view())[0];
  // Relative to a as given: at -0.25, with b at 0.25.
  EXPECT_NEAR(found.point_a[0], 0.25, 1e-6);
  EXPECT_NEAR(found.point_b[0], -0.25, 1e-6);
  EXPECT_NEAR(found.depth, 0.5, 1e-6);
  EXPECT_EQ(found.normal[0], T(1));
  EXPECT_EQ(found.shift, (vec<int, 3>{-1, 0, -2}));
  EXPECT_NEAR(arm_a(found, scene.centers[0])[0], 0.5, 1e-6);
  EXPECT_NEAR(arm_b(found, scene.centers[1], *scene.options.domain)[0], -0.5, 1e-6);
}

/// Bodies up to a given size in a box that is periodic along some axes; most centers lie some boxes away.
template <typename T>
body_scene<T> scattered_bodies(scene_bodies kind, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random));
  };
  body_scene<T> scene;
  const vec<T, 3> lower{between(-9, 9), between(-9, 9), between(-9, 9)};
  const vec<T, 3> upper = lower + vec<T, 3>{between(2, 5), between(2, 5), between(2, 5)};
  const std::uint64_t axes = 1 + random() % 7;
  scene.options.domain = make_box<T, 3>(lower, upper, {(axes & 1u) != 0, (axes & 2u) != 0, (axes & 4u) != 0});
  const std::size_t count = size_or(80, 40);
  for (std::size_t k = 0; k < count; ++k) {
    vec<T, 3> center{};
    for (int axis = 0; axis < 3; ++axis) {
      const double away = scene.options.domain->periodic[axis] ? static_cast<double>(random() % 9) - 4 : 0;
      center[axis] = lower[axis] + scene.options.domain->length[axis] * between(away, away + 1);
    }
    scene.centers.push_back(center);
    const T size = between(0.1, 0.28);
    if (kind == scene_bodies::spheres) {
      scene.radii.push_back(size);
      continue;
    }
    scene.shapes.push_back(static_cast<body_shape>(random() % 4));
    scene.sizes.push_back({size, between(0.1, 0.28), between(0.1, 0.28)});
    scene.orientations.push_back({between(0.1, 1), between(-1, 1), between(-1, 1), between(-1, 1)});
  }
  if (kind == scene_bodies::ellipsoids) {
    scene.shape = body_shape::ellipsoid;
    scene.shapes.clear();
  }
  return scene;
}

template <typename T>
std::vector<contact<T>> contacts_of(const backend_context& context, body_scene<T> scene, std::string_view method) {
  scene.options.method = method;
  scene.options.sorted = true;
  const bodies_on_device<T> stored(context, scene);
  contact_detector<backend_context, T> detector(context, scene.options);
  detector.build(stored.view());
  return bring_home(context, detector.view());
}

TYPED_TEST(contact_agreement, arms_end_on_the_two_bodies_wherever_these_lie_around_a_periodic_box) {
  using T = TypeParam;
  std::size_t across = 0;
  for (const auto kind : {scene_bodies::spheres, scene_bodies::ellipsoids, scene_bodies::mixed}) {
    for (std::uint64_t seed = 1; seed <= size_or(30, 4); ++seed) {
      const body_scene<T> scene = scattered_bodies<T>(kind, seed);
      const bodies_view<T> bodies = scene.view();
      for (const contact_method& method : contact_methods()) {
        for (const contact<T>& c : contacts_of(backend_context(), scene, method.name)) {
          SCOPED_TRACE(message(method.name, ", seed ", seed, ": ", describe(c)));
          across += c.shift == vec<int, 3>{} ? 0 : 1;
          const auto of_a = arm_a(c, scene.centers[c.a]), of_b = arm_b(c, scene.centers[c.b], *scene.options.domain);
          // No other image of b is as near: boxes are seven times as long as bodies reach.
          ASSERT_LT(squared_norm(of_a), std::pow(bounding_radius(bodies.shape_of(c.a), bodies.size_of(c.a)), 2) * 1.01);
          ASSERT_LT(squared_norm(of_b), std::pow(bounding_radius(bodies.shape_of(c.b), bodies.size_of(c.b)), 2) * 1.01);
          if (kind != scene_bodies::spheres) continue;
          ASSERT_NEAR(squared_norm(of_b - c.normal * -scene.radii[c.b]), 0, sizeof(T) == 4 ? 1e-9 : 1e-24);
          ASSERT_NEAR(squared_norm(of_a - c.normal * scene.radii[c.a]), 0, sizeof(T) == 4 ? 1e-9 : 1e-24);
        }
      }
    }
  }
  EXPECT_GT(across, size_or(1000, 100));
}

using shifted_pair = std::tuple<particle_id, particle_id, int, int, int>;

/// (i, j, S) with i < j of all touching spheres, as in a neighbor list.
template <typename T>
std::vector<shifted_pair> neighbors_of(const backend_context& context, const body_scene<T>& scene) {
  neighbor_options<T> options;
  options.cutoff = 2 * scene.radius;
  options.pairs = neighbor_pairs::half;
  options.sorted = options.shifts = options.accept_outside = true;
  const lattice<T, 3> shape = make_lattice(*scene.options.domain);
  const auto points = to_device(context, scene.centers);
  neighbor_input<T, 3> input;
  input.points = points_of(points.data(), points.size());
  input.boxes = std::span(&shape, 1);
  neighbor_list<backend_context, T, 3> list(context, options);
  list.build(input);
  const auto view = list.view();
  const auto offsets = to_host(context, view.offsets, view.rows + 1);
  const auto neighbors = to_host(context, view.neighbors, offsets.back());
  const auto shifts = to_host(context, view.shifts, offsets.back());
  std::vector<shifted_pair> result;
  for (std::size_t i = 0; i < view.rows; ++i) {
    for (std::uint64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const vec<int, 3>& s = shifts[k];
      result.emplace_back(static_cast<particle_id>(i), neighbors[k], s[0], s[1], s[2]);
    }
  }
  return result;
}

TYPED_TEST(contact_agreement, shifts_are_those_of_a_neighbor_list) {
  using T = TypeParam;
  const backend_context context;
  std::size_t touching = 0;
  for (std::uint64_t seed = 101; seed <= 100 + size_or(30, 4); ++seed) {
    body_scene<T> scene = scattered_bodies<T>(scene_bodies::spheres, seed);
    scene.radii.clear();
    scene.radius = T(0.25);
    const auto expected = neighbors_of(context, scene);
    touching += expected.size();
    for (const contact_method& method : contact_methods()) {
      SCOPED_TRACE(message(method.name, ", seed ", seed));
      std::vector<shifted_pair> found;
      for (const contact<T>& c : contacts_of(context, scene, method.name)) {
        found.emplace_back(c.a, c.b, c.shift[0], c.shift[1], c.shift[2]);
      }
      ASSERT_EQ(found, expected);
    }
  }
  EXPECT_GT(touching, size_or(1000, 50));
}

}  // namespace

}  // namespace quadrat::test
