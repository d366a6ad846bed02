// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/contacts/ellipsoid_pair.hpp"
#include "quadrat/contacts/ellipsoid_search.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/quaternion.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Contacts of ellipsoids and spheres with one another and with planes.
///
/// Two ellipsoids are in contact if their interiors overlap. With h(n) the support function of a body relative to its
/// center, n a unit vector, they overlap if f(n) = h_a(n) + h_b(n) - n . offset is positive for all n (then no plane
/// separates them). Equivalently, the contact function of Perram and Wertheim (J. Comput. Phys. 58, 1985) is below 1.
///
/// The contact is a local minimum of f, where the surfaces have a common normal: moving b by f(n) along n separates the
/// bodies, and no shorter move in a nearby direction does. Normal n, depth f(n); point_a and point_b where the outward
/// normals are n and -n, so that point_a - point_b = depth * normal. If there are several local minima, it is the one
/// reached by descent from Perram and Wertheim's normal, so that depth goes to 0 where an overlap ends. If directions
/// tie by symmetry (concentric bodies, needles on one axis), one of them is chosen.
///
/// Accuracy, with L the longest half-axis: the decision, the depth, the distance of the points from the surfaces, and
/// point_a - point_b - depth * normal are accurate to 4e-6 L in float and 4e-14 L in double, at aspect ratios of 1 to
/// 100 and size ratios of 1 to 1000; results are defined for all valid sizes (sizes_are_sound). Along the surfaces, the
/// points are within 8e-6 L and 8e-14 L, times the aspect ratio, of the places with normals n and -n.
namespace quadrat {

/// Whether a and b, each a sphere or an ellipsoid, touch. b is at `offset` from the center of a; both centers are
/// ignored. Two spheres: spheres_touch.
template <typename T>
[[nodiscard]] QUADRAT_HD bool ellipsoids_touch(const body<T>& a, const body<T>& b, const vec<T, 3>& offset) {
  if (a.shape == body_shape::sphere && b.shape == body_shape::sphere) {
    return spheres_touch(offset, a.size[0], b.size[0]);
  }
  if (!ellipsoids::bounding_spheres_touch(a, b, offset)) return false;
  const axes<T> frame = ellipsoids::fused_axes(ellipsoids::frame_of(a, b));
  const ellipsoids::body_pair<T> bodies = ellipsoids::pair_in_frame(frame, a, b, offset);
  vec<T, 3> normal{};
  const ellipsoids::overlap found = ellipsoids::find_overlap(bodies, normal);
  if (found != ellipsoids::overlap::close) return found == ellipsoids::overlap::certain;
  return ellipsoids::descend(bodies, normal);
}

/// The contact of a and b if ellipsoids_touch; otherwise returns false and leaves `point` unchanged. The depth is
/// positive. Two spheres: sphere_contact. The feature is 0. About 1,000 operations for shallow contacts; iterations are
/// bounded.
template <typename T>
[[nodiscard]] QUADRAT_HD bool ellipsoids_contact(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                                 contact_point<T>& point) {
  if (a.shape == body_shape::sphere && b.shape == body_shape::sphere) {
    if (!spheres_touch(offset, a.size[0], b.size[0])) return false;
    point = sphere_contact(offset, a.size[0], b.size[0]);
    return true;
  }
  if (!ellipsoids::bounding_spheres_touch(a, b, offset)) return false;
  const axes<T> frame = ellipsoids::fused_axes(ellipsoids::frame_of(a, b));
  const ellipsoids::body_pair<T> bodies = ellipsoids::pair_in_frame(frame, a, b, offset);
  vec<T, 3> normal{};
  const ellipsoids::overlap found = ellipsoids::find_overlap(bodies, normal);
  if (found == ellipsoids::overlap::none) return false;
  if (!ellipsoids::descend(bodies, normal) && found == ellipsoids::overlap::close) return false;
  const ellipsoids::supports<T> at(bodies, normal);
  // The gap along the surfaces that Newton's method left is shared equally: its effect on the surfaces is quadratic.
  const vec<T, 3> far_point = rounding::sum(bodies.offset, at.point_b(bodies) * T(-1));
  const vec<T, 3> middle = ellipsoids::to_space(frame, T(0.5) * rounding::sum(at.point_a(bodies), far_point));
  point.normal = ellipsoids::to_space(frame, normal);
  point.depth = std::fmax(at.depth, least_depth<T>);
  point.point_a = rounding::fused(point.normal, T(0.5) * point.depth, middle);
  point.point_b = rounding::fused(point.normal, T(-0.5) * point.depth, middle);
  point.feature = 0;
  return true;
}

/// The contact of a sphere or an ellipsoid with a wall; returns false and leaves `point` unchanged if its deepest point
/// is not below the surface. The normal points into the wall; point_a is the deepest point, point_b its projection on
/// the surface, both relative to the center of a.
template <typename T>
[[nodiscard]] QUADRAT_HD bool ellipsoid_plane_contact(const body<T>& a, const plane<T>& wall, contact_point<T>& point) {
  const vec<T, 3> inward = wall.normal * T(-1);
  vec<T, 3> deepest = inward * a.size[0];
  T reach = a.size[0];
  if (a.shape != body_shape::sphere) {
    const axes<T> frame = ellipsoids::fused_axes(a.orientation);
    const vec<T, 3> scaled = ellipsoids::by_component(a.size, ellipsoids::components(frame, inward));
    reach = std::sqrt(ellipsoids::inner(scaled, scaled));
    deepest = ellipsoids::to_space(frame, ellipsoids::by_component(a.size, scaled) * (T(1) / reach));
  }
  const T depth = reach - (ellipsoids::inner(wall.normal, a.center) - wall.offset);
  if (!(depth > T(0))) return false;
  point = {deepest, rounding::fused(inward, -depth, deepest), inward, depth, 0};
  return true;
}

}  // namespace quadrat
