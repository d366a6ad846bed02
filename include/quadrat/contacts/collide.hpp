// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/contacts/box_box_contacts.hpp"
#include "quadrat/contacts/box_contacts.hpp"
#include "quadrat/contacts/capsule_contacts.hpp"
#include "quadrat/contacts/ellipsoid_box_contact.hpp"
#include "quadrat/contacts/ellipsoid_contact.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/contacts/wall_contacts.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// The narrow phase: the contacts of any two bodies, and of a body with a wall.
///
/// Bodies touch if their interiors overlap (strictly). Each contact has a unit normal n from a to b, and the depth by
/// which b must move along n to end this contact. The choice of the normal, the number of contacts and their numbering
/// (features) are described with each pair of shapes: capsule_contacts.hpp, box_contacts.hpp, box_box_contacts.hpp,
/// ellipsoid_contact.hpp, ellipsoid_box_contact.hpp, wall_contacts.hpp. Features of one pair are unique.
///
/// Exchanging a and b reverses normals and exchanges points, and changes nothing else but rounding, with three
/// exceptions: two capsules number their ends by a, for two boxes of equal size a counts as the larger, and concentric
/// bodies have a defined normal that may be the same for both orders.
///
/// Rounding: the decision, depths and points are accurate to 4e-6 (float) or 4e-14 (double) of the sum of sizes. If a
/// capsule lies along a body, its points may be off its surface by 5e-4 of its size; if corners of boxes lie above one
/// another, by 1.5e-4 of the shorter half edge (clipping_tolerance).
namespace quadrat {

namespace detail {

/// The same contacts with the bodies exchanged: `offset` is from the new body a to the center that points were relative
/// to.
template <typename T>
QUADRAT_HD void exchange_bodies(const vec<T, 3>& offset, contact_manifold<T>& manifold) {
  for (int k = 0; k < manifold.count; ++k) {
    contact_point<T>& point = manifold.points[k];
    const vec<T, 3> point_b = offset + point.point_a;
    point.point_a = offset + point.point_b;
    point.point_b = point_b;
    point.normal = point.normal * T(-1);
  }
}

/// Shapes in the order of the enumeration.
template <typename T>
QUADRAT_HD void collide_ordered(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                contact_manifold<T>& manifold) {
  if (b.shape == body_shape::sphere || b.shape == body_shape::ellipsoid) {
    if (ellipsoids_contact(a, b, offset, manifold.points[0])) manifold.count = 1;
  } else if (a.shape == body_shape::ellipsoid) {
    if (ellipsoid_box_contact(a, b, offset, manifold.points[0])) manifold.count = 1;
  } else if (b.shape == body_shape::capsule) {
    if (a.shape == body_shape::capsule) capsules_contact(a, b, offset, manifold);
    if (a.shape == body_shape::sphere) sphere_capsule_contact(a, b, offset, manifold);
  } else {
    if (a.shape == body_shape::box) boxes_contact(a, b, offset, manifold);
    if (a.shape == body_shape::capsule) capsule_box_contacts(a, b, offset, manifold);
    if (a.shape == body_shape::sphere) sphere_box_contact(a, b, offset, manifold);
  }
}

}  // namespace detail

/// Contacts of two bodies; the center of b is at `offset` from that of a (the centers in a and b are not read). Returns
/// their number; 0: the bodies do not touch. `manifold` is overwritten. Bodies must be valid (sizes_are_sound). The
/// result is defined for every offset, even one that is not finite.
template <typename T>
QUADRAT_HD_NOINLINE int collide(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                contact_manifold<T>& manifold) {
  manifold.count = 0;
  if (!spheres_touch(offset, bounding_radius(a.shape, a.size), bounding_radius(b.shape, b.size))) return 0;
  const bool boxes = a.shape == body_shape::box && b.shape == body_shape::box;
  if (b.shape < a.shape || (boxes && second_box_is_larger(a.size, b.size))) {
    detail::collide_ordered(b, a, offset * T(-1), manifold);
    detail::exchange_bodies(offset, manifold);
  } else {
    detail::collide_ordered(a, b, offset, manifold);
  }
  return manifold.count;
}

/// Contacts of a body, at its center, with a wall. The normal points into the wall: it is -wall.normal. No contacts if
/// the height of the center is not finite.
template <typename T>
QUADRAT_HD_NOINLINE int collide_with_plane(const body<T>& a, const plane<T>& wall, contact_manifold<T>& manifold) {
  manifold.count = 0;
  const T height = dot(wall.normal, a.center) - wall.offset;
  if (!(std::fabs(height) <= largest_number<T>)) return 0;
  switch (a.shape) {
    case body_shape::sphere:
      sphere_wall_contact(a, wall, height, manifold);
      break;
    case body_shape::ellipsoid:
      if (ellipsoid_plane_contact(a, wall, manifold.points[0])) manifold.count = 1;
      break;
    case body_shape::capsule:
      capsule_wall_contacts(a, wall, height, manifold);
      break;
    case body_shape::box:
      box_wall_contacts(a, wall, height, manifold);
      break;
  }
  return manifold.count;
}

}  // namespace quadrat
