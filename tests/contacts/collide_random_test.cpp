// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "contacts/colliding_bodies.hpp"
#include "quadrat/contacts/collide.hpp"
#include "reference/convex_overlap.hpp"

// The narrow phase on random pairs of all shapes, compared with a slow, independent reference.

namespace quadrat::test {

namespace {

using reference::vector;

constexpr body_mix body_mixes[] = {{3, 1, 0.9}, {3, 1, 0.2}, {1.2, 3, 0.9}, {10, 1, 0.5}, {2, 300, 0.8}};

/// A way out across a face is preferred unless another way is shorter by a twentieth.
[[nodiscard]] bool prefers_faces(body_shape a, body_shape b) {
  const bool box = a == body_shape::box || b == body_shape::box;
  return box && a != body_shape::sphere && b != body_shape::sphere;
}

template <typename T>
void expect_as_reference(const colliding_bodies<T>& c, const contact_manifold<T>& manifold) {
  const auto a = reference::widened(c.a), b = reference::widened(c.b);
  const auto offset = cast<double>(c.offset);
  const double depth = reference::overlap_depth(a, b, offset), tolerance = 2e-5 * c.scale();
  if (manifold.count == 0) {
    ASSERT_LT(depth, tolerance);
    return;
  }
  ASSERT_GT(depth, -tolerance);
  const contact_point<T>& deepest = deepest_of(manifold);
  const auto normal = reference::unit(cast<double>(deepest.normal));
  const bool smooth = c.a.shape == body_shape::ellipsoid || c.b.shape == body_shape::ellipsoid;
  if (smooth) {
    // Possibly one of several minima.
    ASSERT_NEAR(deepest.depth, reference::way_apart(a, b, offset, normal), tolerance);
    ASSERT_LT(deepest.depth, reference::walk_downhill(a, b, offset, normal, 0.003) + tolerance);
  } else {
    ASSERT_GT(deepest.depth, depth - tolerance);
    ASSERT_LT(deepest.depth, (prefers_faces(c.a.shape, c.b.shape) ? depth / 0.95 : depth) + tolerance);
  }
  const double off = (smooth ? (sizeof(T) == 4 ? 5e-6 : 5e-14) : 5e-4) * c.scale();
  for (int k = 0; k < manifold.count; ++k) {
    const contact_point<T>& point = manifold.points[k];
    const auto along = reference::unit(cast<double>(point.normal));
    ASSERT_LT(point.depth, reference::way_apart(a, b, offset, along) + tolerance) << "too far";
    ASSERT_LT(reference::off_surface(a, cast<double>(point.point_a)), off);
    ASSERT_LT(reference::off_surface(b, cast<double>(point.point_b) - offset), off);
  }
}

/// The distance of a point from a box around the origin; 0 inside.
[[nodiscard]] double outside_of(const body<double>& box, const vector& point) {
  const vector local = axes_of(box.orientation).to_body(point);
  vector outside{};
  for (int k = 0; k < 3; ++k) outside[k] = std::fmax(std::fabs(local[k]) - box.size[k], 0.0);
  return reference::length_of(outside);
}

/// Each contact of one manifold has a counterpart in the other, with the bodies exchanged.
template <typename T>
void expect_exchanged(const colliding_bodies<T>& c, const contact_manifold<T>& manifold,
                      const contact_manifold<T>& other) {
  ASSERT_EQ(other.count, manifold.count);
  const double tolerance = (sizeof(T) == 4 ? 2e-3 : 1e-6) * c.scale();
  for (int k = 0; k < manifold.count; ++k) {
    const auto from_b = cast<double>(manifold.points[k].point_b) - cast<double>(c.offset);
    double nearest = 2 * c.scale();
    for (int j = 0; j < other.count; ++j) {
      const contact_point<T>& point = other.points[j];
      if (dot(point.normal, manifold.points[k].normal) > T(-0.99)) continue;
      nearest = std::fmin(nearest, reference::length_of(cast<double>(point.point_a) - from_b));
    }
    ASSERT_LT(nearest, tolerance);
  }
}

}  // namespace

template <typename T>
class collide_random_test : public testing::Test {};
using scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(collide_random_test, scalars);

TYPED_TEST(collide_random_test, agrees_with_a_reference_for_all_pairs_of_shapes) {
  std::mt19937_64 random(31);
  for (const body_shape shape_a : all_shapes) {
    for (const body_shape shape_b : all_shapes) {
      int touching = 0, apart = 0;
      for (const body_mix& mix : body_mixes) {
        for (int k = 0; k < 40; ++k) {
          SCOPED_TRACE(testing::Message() << "shapes " << static_cast<int>(shape_a) << " and "
                                          << static_cast<int>(shape_b) << ", aspect " << mix.aspect << ", case " << k);
          const auto c = random_pair<TypeParam>(random, shape_a, shape_b, mix);
          contact_manifold<TypeParam> manifold, exchanged;
          ASSERT_EQ(collide(c.a, c.b, c.offset, manifold), manifold.count);
          ASSERT_NO_FATAL_FAILURE(expect_defined(c, manifold));
          ASSERT_NO_FATAL_FAILURE(expect_as_reference(c, manifold));
          ++(manifold.count > 0 ? touching : apart);
          static_cast<void>(collide(c.b, c.a, c.offset * TypeParam(-1), exchanged));
          ASSERT_NO_FATAL_FAILURE(expect_exchanged(c, manifold, exchanged));
        }
      }
      EXPECT_GT(touching, 10);
      EXPECT_GT(apart, 10);
    }
  }
}

// Clipped corners give exact points; only corners outside by less than clipping_tolerance are off.
TYPED_TEST(collide_random_test, points_of_boxes_lie_on_their_surfaces_and_one_of_two_in_the_other_box) {
  using T = TypeParam;
  std::mt19937_64 random(33);
  int points = 0, off = 0, longer = 0, touching = 0;
  for (const body_mix& mix : body_mixes) {
    for (int k = 0; k < 2000; ++k) {
      SCOPED_TRACE(testing::Message() << "aspect " << mix.aspect << ", case " << k);
      const auto c = random_pair<T>(random, body_shape::box, body_shape::box, mix);
      contact_manifold<T> manifold;
      if (collide(c.a, c.b, c.offset, manifold) == 0) continue;
      ++touching;
      const auto a = reference::widened(c.a), b = reference::widened(c.b);
      const auto offset = cast<double>(c.offset);
      const double rounding = (sizeof(T) == 4 ? 4e-6 : 4e-14) * c.scale();
      const double thinnest = std::fmin(std::ranges::min(a.size.component), std::ranges::min(b.size.component));
      const double least = reference::shortest_way_out(a, b, offset), depth = deepest_of(manifold).depth;
      ASSERT_LT(depth, least / 0.95 + rounding);
      longer += depth > least + rounding ? 1 : 0;
      for (int j = 0; j < manifold.count; ++j) {
        const auto on_a = cast<double>(manifold.points[j].point_a), on_b = cast<double>(manifold.points[j].point_b);
        const double away = std::fmax(reference::off_surface(a, on_a), reference::off_surface(b, on_b - offset));
        ASSERT_LT(away, 1.5e-4 * c.scale() + rounding);
        ++points;
        off += away > rounding ? 1 : 0;
        if (depth > thinnest) continue;  // it may come out at the far side
        ASSERT_LT(std::fmin(outside_of(b, on_a - offset), outside_of(a, on_b)), 1.5e-4 * c.scale() + rounding);
      }
    }
  }
  EXPECT_GT(touching, 2000);
  EXPECT_LT(off, points / 1000);
  EXPECT_GT(longer, touching / 50) << "faces are preferred";
}

TYPED_TEST(collide_random_test, contacts_keep_their_features_when_bodies_hardly_move) {
  std::mt19937_64 random(32);
  for (const body_shape shape_a : all_shapes) {
    for (const body_shape shape_b : all_shapes) {
      int changed = 0, touching = 0;
      for (int k = 0; k < 400; ++k) {
        const auto c = random_pair<TypeParam>(random, shape_a, shape_b, {2, 2, 0.4});
        contact_manifold<TypeParam> before, after;
        if (collide(c.a, c.b, c.offset, before) == 0) continue;
        ++touching;
        static_cast<void>(collide(c.a, c.b, c.offset * TypeParam(1.00001), after));
        bool same = before.count == after.count;
        for (int j = 0; same && j < before.count; ++j) same = before.points[j].feature == after.points[j].feature;
        changed += same ? 0 : 1;
      }
      EXPECT_GT(touching, 50);
      // Some do change: a corner moves below a face.
      EXPECT_LE(changed, 2);
    }
  }
}

}  // namespace quadrat::test
