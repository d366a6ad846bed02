// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "quadrat/contacts/collide.hpp"
#include "reference/convex_overlap.hpp"
#include "support/random.hpp"

namespace quadrat::test {

/// Two bodies for a narrow phase.
template <typename T>
struct colliding_bodies {
  body<T> a, b;
  vec<T, 3> offset;

  /// A length that contains both bodies.
  [[nodiscard]] double scale() const {
    return static_cast<double>(bounding_radius(a.shape, a.size) + bounding_radius(b.shape, b.size));
  }
};

/// The spread of sizes within a body and between the two bodies; their largest distance, in scales.
struct body_mix {
  double aspect, ratio, distance;
};

template <typename T>
[[nodiscard]] body<T> random_body(std::mt19937_64& random, body_shape shape, double size, double aspect) {
  const auto number = [&] { return random_unit<double>(random); };
  body<T> result{};
  result.shape = shape;
  for (int k = 0; k < 3; ++k) result.size[k] = static_cast<T>(size * std::pow(aspect, number()));
  result.orientation = normalized(quaternion<T>{static_cast<T>(number() + 0.01), static_cast<T>(2 * number() - 1),
                                                static_cast<T>(2 * number() - 1), static_cast<T>(2 * number() - 1)});
  return result;
}

template <typename T>
[[nodiscard]] colliding_bodies<T> random_pair(std::mt19937_64& random, body_shape shape_a, body_shape shape_b,
                                              const body_mix& mix) {
  const double ratio = std::pow(mix.ratio, 2 * random_unit<double>(random) - 1);
  colliding_bodies<T> result{
      random_body<T>(random, shape_a, 1, mix.aspect), random_body<T>(random, shape_b, ratio, mix.aspect), {}};
  vec<double, 3> offset{};
  for (int k = 0; k < 3; ++k) offset[k] = (2 * random_unit<double>(random) - 1) * mix.distance * result.scale();
  result.offset = cast<T>(offset);
  return result;
}

/// Invariants of every contact, however degenerate: it is finite, its normal has unit length, its points are `depth`
/// apart along it, and features are unique.
template <typename T>
void expect_defined(const colliding_bodies<T>& c, const contact_manifold<T>& manifold) {
  const double rounding = sizeof(T) == 4 ? 3e-6 : 1e-14;
  std::set<std::uint32_t> features;
  ASSERT_LE(manifold.count, most_contacts_of_pair);
  for (int k = 0; k < manifold.count; ++k) {
    const contact_point<T>& point = manifold.points[k];
    const auto normal = cast<double>(point.normal);
    const auto gap = cast<double>(point.point_a) - cast<double>(point.point_b);
    ASSERT_GT(point.depth, T(0));
    ASSERT_TRUE(std::isfinite(point.depth));
    ASSERT_NEAR(squared_norm(normal), 1, 10 * rounding);
    ASSERT_LT(reference::length_of(gap - normal * static_cast<double>(point.depth)), rounding * c.scale());
    ASSERT_TRUE(features.insert(point.feature).second) << "two contacts have feature " << point.feature;
  }
}

/// The deepest contact; there must be one.
template <typename T>
[[nodiscard]] const contact_point<T>& deepest_of(const contact_manifold<T>& manifold) {
  int deepest = 0;
  for (int k = 1; k < manifold.count; ++k) {
    if (manifold.points[k].depth > manifold.points[deepest].depth) deepest = k;
  }
  return manifold.points[deepest];
}

inline constexpr body_shape all_shapes[] = {body_shape::sphere, body_shape::ellipsoid, body_shape::capsule,
                                            body_shape::box};

}  // namespace quadrat::test
