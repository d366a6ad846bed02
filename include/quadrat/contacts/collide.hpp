// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// The narrow phase: the contacts of any two bodies, and of a body with a wall.
namespace quadrat {

/// Contacts of two bodies; b stands at `offset` from the center of a (the centers in a and b are not read). Gives how
/// many there are; 0: they do not touch. `manifold` is overwritten. Bodies must be sound (shapes.hpp); every offset,
/// not finite ones included, has a defined answer.
template <typename T>
[[nodiscard]] QUADRAT_HD int collide(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                     contact_manifold<T>& manifold) {
  manifold.count = 0;
  if (spheres_touch(offset, a.size[0], b.size[0])) manifold.add(sphere_contact(offset, a.size[0], b.size[0]));
  return manifold.count;
}

/// Contacts of a body, at its center, with a wall. The normal points into the wall: it is -wall.normal.
template <typename T>
[[nodiscard]] QUADRAT_HD int collide_with_plane(const body<T>& a, const plane<T>& wall, contact_manifold<T>& manifold) {
  manifold.count = 0;
  const T height = dot(wall.normal, a.center) - wall.offset;
  const T depth = a.size[0] - height;
  if (depth > T(0)) {
    const vec<T, 3> lowest = wall.normal * -a.size[0];
    manifold.add({lowest, lowest + wall.normal * depth, wall.normal * T(-1), depth, 0});
  }
  return manifold.count;
}

}  // namespace quadrat
