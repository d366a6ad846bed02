// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/contacts/capsule_contacts.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Contacts of bodies with walls: at the deepest points of a sphere, of the caps of a capsule, or at the corners of a
/// box, each if strictly below the surface of the wall. Depth is the distance to the surface.
namespace quadrat {

/// Adds a contact of a body at `point`, relative to its center, below the surface of a wall by `depth`, if that is
/// positive.
template <typename T>
QUADRAT_HD void add_wall_contact(const vec<T, 3>& point, T depth, const plane<T>& wall, std::uint32_t feature,
                                 contact_manifold<T>& manifold) {
  if (!(depth > T(0))) return;
  manifold.add({point, point + wall.normal * depth, wall.normal * T(-1), depth, feature});
}

/// `height`: of the body's center above the surface of the wall.
template <typename T>
QUADRAT_HD void sphere_wall_contact(const body<T>& a, const plane<T>& wall, T height, contact_manifold<T>& manifold) {
  add_wall_contact(wall.normal * -a.size[0], a.size[0] - height, wall, 0, manifold);
}

/// Features: 0 and 1 for the two caps, 1 for the one to which the axis points. A capsule that is almost a sphere
/// (least_stretch) has one contact, of feature 0.
template <typename T>
QUADRAT_HD void capsule_wall_contacts(const body<T>& a, const plane<T>& wall, T height, contact_manifold<T>& manifold) {
  const T radius = a.size[0], half = a.size[1];
  const vec<T, 3> high = axis_of(a) * half, down = wall.normal * -radius;
  const T rise = dot(high, wall.normal);
  if (!stretch<T>{-half, half}.holds_two(radius)) {
    const T sense = rise > T(0) ? T(-1) : T(1);
    add_wall_contact(high * sense + down, radius - height - sense * rise, wall, 0, manifold);
    return;
  }
  add_wall_contact(down - high, radius - height + rise, wall, 0, manifold);
  add_wall_contact(down + high, radius - height - rise, wall, 1, manifold);
}

/// Features: the number of the corner; bit k is set on the positive side of axis k.
template <typename T>
QUADRAT_HD void box_wall_contacts(const body<T>& a, const plane<T>& wall, T height, contact_manifold<T>& manifold) {
  const axes<T> frame = axes_of(a.orientation);
  for (std::uint32_t corner = 0; corner < 8; ++corner) {
    const vec<T, 3> point = frame.to_space(
        make_vec<T, 3>([&](int axis) { return (corner >> axis & 1u) != 0 ? a.size[axis] : -a.size[axis]; }));
    add_wall_contact(point, -(height + dot(point, wall.normal)), wall, corner, manifold);
  }
}

}  // namespace quadrat
