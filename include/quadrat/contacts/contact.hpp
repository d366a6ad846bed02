// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/contacts/rounding.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat {

/// One contact of two bodies: 72 bytes in float, 136 in double. Body a has the smaller id; a plane is always b.
///
/// The normal has length one and points from a to b. point_a lies on the surface of a, inside of b; point_b on the
/// surface of b, inside of a; point_a - point_b = depth * normal: moving b by that much along the normal ends this
/// contact (collide.hpp says for each pair of shapes which contact that is). Across a periodic face all points are
/// given where a is: b stands as the image nearest to a. (normal, tangent_1, tangent_2) is a right-handed orthonormal
/// frame.
template <typename T>
struct contact {
  vec<T, 3> point_a;  ///< rA of the paper
  vec<T, 3> point_b;  ///< rB
  vec<T, 3> normal;
  vec<T, 3> tangent_1;
  vec<T, 3> tangent_2;
  T depth;  ///< > 0
  particle_id a;
  particle_id b;
};

static_assert(sizeof(contact<float>) == 72 && sizeof(contact<double>) == 136);

/// Contacts in the memory of a context.
template <typename T>
struct contacts_view {
  std::uint64_t count;
  const contact<T>* records;
  /// Tells the contacts of one pair apart, the same from step to step as long as bodies keep touching in the same way
  /// (a corner of a box, an end of a capsule): collide.hpp. nullptr where each pair has one contact, of feature 0.
  const std::uint32_t* features;
};

/// Two unit vectors that make a right-handed frame with a normal of length one (Duff and others 2017, "Building an
/// orthonormal basis, revisited"): a function of the normal alone.
template <typename T>
QUADRAT_HD void make_tangents(const vec<T, 3>& normal, vec<T, 3>& tangent_1, vec<T, 3>& tangent_2) {
  const T sign = std::copysign(T(1), normal[2]);
  const T p = -rounding::inverse(sign + normal[2]);
  const T q = normal[0] * normal[1] * p;
  const T x = normal[0] * p, y = normal[1] * p;
  tangent_1 = {rounding::fused(sign * normal[0], x, T(1)), sign * q, -sign * normal[0]};
  tangent_2 = {q, rounding::fused(normal[1], y, sign), -normal[1]};
}

}  // namespace quadrat
