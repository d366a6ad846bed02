// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/contacts/rounding.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat {

/// One contact of two bodies, by their indices in the arrays of the build. Body a has the smaller id
/// (bodies_view::ids); without ids, the smaller index. A plane is always b, as first_plane + its number.
///
/// The normal is a unit vector from a to b. point_a lies on the surface of a, point_b on that of b, and point_a -
/// point_b = depth * normal: moving b by `depth` along the normal ends this contact (collide.hpp lists the rules for
/// each pair of shapes). If the overlap is shallow, each point lies inside the other body, except for faces of boxes
/// (box_box_contacts.hpp). (normal, tangent_1, tangent_2) is a right-handed orthonormal frame.
///
/// In a periodic box, a is at its center as given, and b is the image nearest to a, at center_b + shift * L, where L
/// are the lengths of the box. The shift refers to the centers as given, which may lie outside the box; it is 0 along
/// open axes and for planes: the S of a neighbor list. Lever arms are arm_a and arm_b.
///
/// 88 bytes in float, 152 in double, without padding: whole 8-byte words, so that the lanes of a warp write adjacent
/// words.
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
  vec<int, 3> shift;  ///< boxes from the center of b, as given, to its image that touches a
  /// Identifies a contact of a pair (a corner of a box, an end of a capsule). It stays the same from step to step as
  /// long as the bodies touch in the same way: see collide.hpp. 0 if a pair has one contact.
  std::uint32_t feature;
};

static_assert(sizeof(contact<float>) == 88 && sizeof(contact<double>) == 152);

/// Contacts in the memory of a context, and the caller's ids of their bodies (bodies_view::ids), which must still exist
/// when keys_of is called.
template <typename T>
struct contacts_view {
  std::uint64_t count;
  const contact<T>* records;
  const particle_id* ids = nullptr;
};

/// The same for kernels in the stream of an asynchronous build: `records` holds *count contacts.
template <typename T>
struct contacts_view_async {
  const std::uint64_t* count;  ///< in the memory of the context; 0 if the build has failed, which `check` reports
  std::uint64_t capacity;      ///< of `records`: the count is not above
  const contact<T>* records;
  const particle_id* ids = nullptr;
};

/// The lever arm from the center of a, as given, to point_a.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> arm_a(const contact<T>& record, const vec<T, 3>& center_a) {
  return record.point_a - center_a;
}

/// The lever arm from the center of the touching image of b to point_b; `center_b` is the center of b as given. A force
/// f on b at this contact exerts the torque arm_b x f on b. Not for planes.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> arm_b(const contact<T>& record, const vec<T, 3>& center_b, const box<T, 3>& domain) {
  vec<T, 3> arm = record.point_b - center_b;
  for (int axis = 0; axis < 3; ++axis) {
    if (record.shift[axis] != 0) arm[axis] -= static_cast<T>(record.shift[axis]) * domain.length[axis];
  }
  return arm;
}

/// Two unit vectors that form a right-handed frame with a unit normal (Duff and others 2017, "Building an orthonormal
/// basis, revisited"): a function of the normal alone.
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
