// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/rounding.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// The contacts of two bodies.
namespace quadrat {

/// A contact in the narrow phase: points are relative to the center of body a, and b is at `offset`.
template <typename T>
struct contact_point {
  vec<T, 3> point_a;
  vec<T, 3> point_b;
  vec<T, 3> normal;
  T depth;
  std::uint32_t feature;
};

/// The most contacts of one pair: two boxes face to face.
inline constexpr int most_contacts_of_pair = 8;

template <typename T>
struct contact_manifold {
  int count = 0;
  contact_point<T> points[most_contacts_of_pair];

  QUADRAT_HD void add(const contact_point<T>& point) { points[count++] = point; }
};

/// Whether two spheres touch: their distance is strictly below the sum of their radii. Every method uses this
/// expression. `offset` is from the center of a to that of b.
template <typename T>
[[nodiscard]] QUADRAT_HD bool spheres_touch(const vec<T, 3>& offset, T radius_a, T radius_b) {
  const T sum = radius_a + radius_b;
  return squared_norm(offset) < sum * sum;
}

/// The depth assigned to contacts shallower than rounding.
template <typename T>
inline constexpr T least_depth = std::numeric_limits<T>::min();

/// Two spheres that touch. Depth: the sum of radii minus the distance. Concentric spheres get the normal `fallback`.
template <typename T>
[[nodiscard]] QUADRAT_HD contact_point<T> sphere_contact(const vec<T, 3>& offset, T radius_a, T radius_b,
                                                         const vec<T, 3>& fallback = {T(1), T(0), T(0)}) {
  const T squared = squared_norm(offset);
  const T distance = squared > least_squared_length<T> ? std::sqrt(squared) : T(0);
  const vec<T, 3> normal = distance > T(0) ? offset * (T(1) / distance) : fallback;
  const T depth = std::fmax(radius_a + radius_b - distance, least_depth<T>);
  return {normal * radius_a, rounding::fused(normal, -radius_b, offset), normal, depth, 0};
}

/// The record of a contact point of bodies a and b; `shift` as in the record.
template <typename T>
[[nodiscard]] QUADRAT_HD contact<T> make_contact(const vec<T, 3>& center_a, const contact_point<T>& point,
                                                 particle_id a, particle_id b, const vec<int, 3>& shift) {
  contact<T> record{};
  record.point_a = rounding::sum(center_a, point.point_a);
  record.point_b = rounding::sum(center_a, point.point_b);
  record.normal = point.normal;
  make_tangents(point.normal, record.tangent_1, record.tangent_2);
  record.depth = point.depth;
  record.a = a;
  record.b = b;
  record.shift = shift;
  record.feature = point.feature;
  return record;
}

}  // namespace quadrat
