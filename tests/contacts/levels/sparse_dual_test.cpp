// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

#include "contacts/support.hpp"

// Heaps of bodies far apart, in domains much larger than they are: `levels` finds the contacts of the reference.

namespace quadrat::test {

namespace {

template <typename T>
class sparse_levels : public backend_test {};
using sparse_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(sparse_levels, sparse_precisions);

/// Spheres of one size or of many, or ellipsoids, in heaps at random in a cube of `width` diameters, on its faces, and
/// beside each other along a power of two of diameters, so that cells that repeat may lay one heap on the other.
template <typename T>
[[nodiscard]] body_scene<T> heaps(std::uint64_t seed, double width) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t bound) { return random() % bound; };
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random));
  };
  body_scene<T> scene;
  const std::size_t kind = below(3);
  scene.radius = T(0.5);
  if (kind == 2) scene.shape = body_shape::ellipsoid;
  const bool given = below(2) == 0;
  vec<bool, 3> periodic{};
  for (int axis = 0; axis < 3; ++axis) periodic[axis] = given && below(2) == 0;
  const auto length = static_cast<T>(width);
  if (given) scene.options.domain = make_box<T, 3>({}, vec<T, 3>::filled(length), periodic);
  while (scene.centers.size() < 150) {
    vec<T, 3> center{};
    for (int axis = 0; axis < 3; ++axis) {
      const T grid = static_cast<T>(std::size_t{1} << below(10));
      const T places[] = {T(0), length, between(0, width), std::floor(length / grid / 2) * grid};
      center[axis] = places[below(4)];
    }
    const std::size_t bodies = below(5) == 0 ? 1 : 10 + below(30);
    for (std::size_t k = 0; k < bodies; ++k) {
      scene.centers.push_back(center + vec<T, 3>{between(-2, 2), between(-2, 2), between(-2, 2)});
      if (kind == 1) scene.radii.push_back(between(0.1, 1) * between(0.1, 1));
      if (kind == 2) {
        scene.sizes.push_back({between(0.2, 0.8), between(0.2, 0.8), between(0.2, 0.8)});
        const quaternion<T> turned{between(-1, 1), between(-1, 1), between(-1, 1), between(0.1, 1)};
        scene.orientations.push_back(normalized(turned));
      }
    }
  }
  return scene;
}

TYPED_TEST(sparse_levels, find_the_contacts_of_heaps_far_apart) {
  using T = TypeParam;
  std::size_t contacts = 0;
  for (const double width : {100.0, 2000.0, 1e5, 1e6}) {
    for (std::uint64_t seed = 0; seed < size_or(15, 3); ++seed) {
      SCOPED_TRACE(message("width ", width, ", seed ", seed));
      const body_scene<T> scene = heaps<T>(seed, width);
      const auto wanted = reference::contacts(scene);
      contacts += wanted.size();
      for (const backend_context& context : all_contexts()) {
        check_method(context, scene, wanted, "levels", false);
        check_method(context, scene, wanted, "levels", true);
      }
      if (this->HasFatalFailure()) return;
    }
  }
  EXPECT_GT(contacts, 1000u);
}

/// A detector that keeps its plan must follow bodies out of the domain that it was made for.
TYPED_TEST(sparse_levels, follow_heaps_that_move_apart_from_build_to_build) {
  using T = TypeParam;
  body_scene<T> scene = heaps<T>(1, 2000);
  scene.radii.clear();
  scene.sizes.clear();
  scene.orientations.clear();
  scene.shape = body_shape::sphere;
  scene.options.domain = make_box<T, 3>({}, vec<T, 3>::filled(T(2000)), {false, true, false});
  scene.options.method = "levels";
  scene.options.sorted = true;
  for (const backend_context& context : all_contexts()) {
    contact_detector<backend_context, T> detector(context, scene.options);
    for (const double apart : {1.0, 1.5, 40.0, 1e4, 1e6}) {
      SCOPED_TRACE(message("apart ", apart));
      body_scene<T> moved = scene;
      for (auto& center : moved.centers)
        center[0] = std::floor(center[0] / 100) * static_cast<T>(100 * apart) + std::fmod(center[0], T(100));
      const bodies_on_device<T> stored(context, moved);
      detector.build(stored.view());
      expect_contacts(bring_home(context, detector.view()), reference::contacts(moved), scale_of(moved), true);
    }
  }
}

}  // namespace

}  // namespace quadrat::test
