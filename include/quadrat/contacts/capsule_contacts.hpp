// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Contacts of capsules with spheres and with one another.
///
/// A capsule is the set of points within its radius of its segment. The contact is therefore that of two spheres around
/// the closest points of the segments: depth is the sum of radii minus their distance. If the segments cross, the
/// normal is perpendicular to both.
///
/// Capsules that lie along each other have a contact at both ends: if the axes are parallel (to parallel_sine) and
/// overlap along a stretch, there are two contacts, at the ends of the stretch, provided that the capsules touch at
/// both. When bodies tilt, the depth of the vanishing contact goes continuously to 0.
namespace quadrat {

/// Sine of the angle up to which bodies count as parallel (1.7 degrees). Bodies at rest are parallel to much less, so
/// that rounding does not matter. At this angle a contact point is off the surface by at most 5e-4 of the radius.
template <typename T>
inline constexpr T parallel_sine = T(0.03);

/// The shortest stretch with two contacts, in radii: with a shorter one, a capsule is almost a sphere.
template <typename T>
inline constexpr T least_stretch = T(0.1);

/// A range of places along the axis of a capsule, from its center.
template <typename T>
struct stretch {
  T low, high;

  [[nodiscard]] QUADRAT_HD bool holds_two(T radius) const { return high - low > least_stretch<T> * radius; }
  /// The end to which a single contact belongs: feature 0 unless it is clearly nearer to the high end.
  [[nodiscard]] QUADRAT_HD std::uint32_t end_of(T place, T radius) const {
    return holds_two(radius) && place - low > T(0.75) * (high - low) ? 1u : 0u;
  }
};

/// Whether a distance is so small, for lengths of this scale, that its direction is rounding.
template <typename T>
[[nodiscard]] QUADRAT_HD bool is_rounding(T squared_distance, T scale) {
  const T least = T(8) * rounding_unit<T> * scale;
  return !(squared_distance > std::fmax(least * least, least_squared_length<T>));
}

template <typename T>
[[nodiscard]] QUADRAT_HD T clamp_to(T value, T half) {
  return std::fmin(std::fmax(value, -half), half);
}

/// A unit vector perpendicular to a unit vector.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> perpendicular_to(const vec<T, 3>& direction) {
  vec<T, 3> first{}, second{};
  make_tangents(direction, first, second);
  return first;
}

/// The axis of a capsule.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> axis_of(const body<T>& capsule) {
  return axes_of(capsule.orientation).axis[2];
}

/// Sphere a and capsule b.
template <typename T>
QUADRAT_HD void sphere_capsule_contact(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                       contact_manifold<T>& manifold) {
  const vec<T, 3> axis = axis_of(b);
  const vec<T, 3> delta = offset + axis * clamp_to(-dot(offset, axis), b.size[1]);
  if (!spheres_touch(delta, a.size[0], b.size[0])) return;
  manifold.add(sphere_contact(delta, a.size[0], b.size[0], perpendicular_to(axis)));
}

/// A point on each of two segments, by its place along the segment, and the vector from the first to the second.
template <typename T>
struct segment_points {
  T first, second;
  vec<T, 3> delta;
};

/// Two segments: centered at the origin along `u`, and at `offset` along `v`.
template <typename T>
struct segment_pair {
  vec<T, 3> u, v, offset;
  T half_u, half_v;

  [[nodiscard]] QUADRAT_HD segment_points<T> at(T first, T second) const {
    return {first, second, offset + v * second - u * first};
  }
  /// A point of the first segment, with the closest point on the other segment.
  [[nodiscard]] QUADRAT_HD segment_points<T> at_first(T first) const {
    return at(first, clamp_to(dot(u * first - offset, v), half_v));
  }
  [[nodiscard]] QUADRAT_HD segment_points<T> at_second(T second) const {
    return at(clamp_to(dot(offset + v * second, u), half_u), second);
  }

  /// The closest points: the best of the four ends and, if within the segments, of the closest points of the lines.
  /// Only the latter divide by a quantity that vanishes for parallel axes.
  [[nodiscard]] QUADRAT_HD segment_points<T> closest() const {
    segment_points<T> best = at_first(-half_u);
    keep_closer(at_first(half_u), best);
    keep_closer(at_second(-half_v), best);
    keep_closer(at_second(half_v), best);
    const vec<T, 3> normal = cross(u, v);
    const T squared = squared_norm(normal);
    if (squared > rounding_unit<T> * rounding_unit<T>) {
      const T first = dot(cross(offset, v), normal) / squared;
      if (std::fabs(first) < half_u) keep_closer(at_first(first), best);
    }
    return best;
  }

  /// Whether the axes are parallel and the segments overlap along a stretch; if so, returns the points at its ends.
  /// Ends are compared along the mean of both axes, so that exchanging the segments changes nothing.
  [[nodiscard]] QUADRAT_HD bool run_beside(T radius, segment_points<T>& low, segment_points<T>& high) const {
    if (!(squared_norm(cross(u, v)) < parallel_sine<T> * parallel_sine<T>)) return false;
    const T sense = std::copysign(T(1), dot(u, v));
    const vec<T, 3> mean = (u + v * sense) * T(0.5);
    const T reach_u = half_u * dot(u, mean), reach_v = half_v * std::fabs(dot(v, mean)), middle = dot(offset, mean);
    const bool low_of_v = middle - reach_v > -reach_u, high_of_v = middle + reach_v < reach_u;
    const stretch<T> shared{low_of_v ? middle - reach_v : -reach_u, high_of_v ? middle + reach_v : reach_u};
    if (!shared.holds_two(radius)) return false;
    low = low_of_v ? at_second(-sense * half_v) : at_first(-half_u);
    high = high_of_v ? at_second(sense * half_v) : at_first(half_u);
    return true;
  }

 private:
  QUADRAT_HD static void keep_closer(const segment_points<T>& candidate, segment_points<T>& best) {
    if (squared_norm(candidate.delta) < squared_norm(best.delta)) best = candidate;
  }
};

/// The contact of spheres around two points of capsules.
template <typename T>
[[nodiscard]] QUADRAT_HD contact_point<T> segment_contact(const segment_pair<T>& segments,
                                                          const segment_points<T>& points, T radius_a, T radius_b,
                                                          std::uint32_t feature) {
  const vec<T, 3> normal = cross(segments.u, segments.v);
  const T squared = squared_norm(normal);
  const T side = dot(normal, segments.offset) < T(0) ? T(-1) : T(1);
  const vec<T, 3> fallback = squared > parallel_sine<T> * parallel_sine<T> ? normal * (side / std::sqrt(squared))
                                                                           : perpendicular_to(segments.u);
  const bool crossing = is_rounding(squared_norm(points.delta), segments.half_u + segments.half_v);
  const vec<T, 3> delta = crossing ? vec<T, 3>{} : points.delta;
  contact_point<T> result = sphere_contact(delta, radius_a, radius_b, fallback);
  const vec<T, 3> foot = segments.u * points.first;
  result.point_a += foot;
  result.point_b += foot;
  result.feature = feature;
  return result;
}

/// Two capsules. Features: 0 and 1 for the ends of the stretch on a, 1 at the end to which its axis points; for a
/// single contact see stretch::end_of.
template <typename T>
QUADRAT_HD void capsules_contact(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                 contact_manifold<T>& manifold) {
  const segment_pair<T> segments{axis_of(a), axis_of(b), offset, a.size[1], b.size[1]};
  const segment_points<T> closest = segments.closest();
  const T radius_a = a.size[0], radius_b = b.size[0];
  if (!spheres_touch(closest.delta, radius_a, radius_b)) return;

  const T thinner = std::fmin(radius_a, radius_b);
  stretch<T> beside{-segments.half_u, segments.half_u};
  segment_points<T> low{}, high{};
  if (segments.run_beside(thinner, low, high)) {
    beside = {low.first, high.first};
    if (spheres_touch(low.delta, radius_a, radius_b) && spheres_touch(high.delta, radius_a, radius_b)) {
      manifold.add(segment_contact(segments, low, radius_a, radius_b, 0));
      manifold.add(segment_contact(segments, high, radius_a, radius_b, 1));
      return;
    }
  }
  const std::uint32_t end = beside.end_of(closest.first, thinner);
  manifold.add(segment_contact(segments, closest, radius_a, radius_b, end));
}

}  // namespace quadrat
