// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/contacts/capsule_contacts.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Contacts of boxes with spheres and with capsules.
///
/// If the center of the sphere (the segment of the capsule) is outside the box, the contact is at the closest points:
/// depth is the radius minus their distance. If it is inside, the normal is the direction of the shortest way out,
/// among the normals of the faces and, for a segment, the directions perpendicular to it and to an edge; depth is the
/// length of that way plus the radius. If the segment lies along that face, a way out across an edge must be shorter by
/// a twentieth.
///
/// A capsule that lies on a face or along an edge has two contacts, as with another capsule (capsule_contacts.hpp).
namespace quadrat {

/// A way out across two edges is chosen only if it is shorter by this factor than that across a face, and a face of the
/// second box only if shorter than one of the first. So contacts keep their kind from step to step.
template <typename T>
inline constexpr T clearly_shorter = T(0.95);

/// The segment of a capsule in the frame of a box: points center + place * direction. A sphere: no direction, half 0.
template <typename T>
struct segment_and_box {
  vec<T, 3> center, direction, box;
  T half, radius;

  [[nodiscard]] QUADRAT_HD vec<T, 3> at(T place) const { return center + direction * place; }
  /// The vector from a point of the segment to the closest point of the box.
  [[nodiscard]] QUADRAT_HD vec<T, 3> way_from(T place) const {
    const vec<T, 3> point = at(place);
    return make_vec<T, 3>([&](int axis) { return clamp_to(point[axis], box[axis]) - point[axis]; });
  }
  /// Half of the derivative of the squared distance: increasing, and linear between the places where the segment
  /// crosses the planes of faces.
  [[nodiscard]] QUADRAT_HD T slope(T place) const { return -dot(way_from(place), direction); }

  /// A place on the segment that is closest to the box.
  [[nodiscard]] QUADRAT_HD T closest() const {
    T low = -half, high = half;
    for (int k = 0; k < 6; ++k) {
      const T face = (k & 1) != 0 ? box[k / 2] : -box[k / 2];
      const T place = (face - center[k / 2]) / direction[k / 2];
      if (!(place > low && place < high)) continue;
      (slope(place) < T(0) ? low : high) = place;
    }
    const T at_low = slope(low), at_high = slope(high);
    if (!(at_low < T(0))) return low;
    if (!(at_high > T(0))) return high;
    return low + (high - low) * (at_low / (at_low - at_high));
  }

  /// The part of the segment between the faces of all axes except those in the bit set `except`.
  [[nodiscard]] QUADRAT_HD stretch<T> between_faces(unsigned except) const {
    stretch<T> result{-half, half};
    for (int axis = 0; axis < 3; ++axis) {
      if ((except >> axis & 1u) != 0 || direction[axis] == T(0)) continue;
      const T middle = -center[axis] / direction[axis], reach = std::fabs(box[axis] / direction[axis]);
      result.low = std::fmax(result.low, middle - reach);
      result.high = std::fmin(result.high, middle + reach);
    }
    return result;
  }
};

/// A contact of a capsule that touches around the point `foot` of its segment.
template <typename T>
[[nodiscard]] QUADRAT_HD contact_point<T> swept_contact(const vec<T, 3>& foot, const vec<T, 3>& normal, T radius,
                                                        T depth, std::uint32_t feature) {
  const T least = std::fmax(depth, least_depth<T>);
  const vec<T, 3> point_a = foot + normal * radius;
  return {point_a, point_a - normal * least, normal, least, feature};
}

/// Finds the contacts of one capsule (or sphere) a with one box b.
template <typename T>
class segment_box_contacts {
 public:
  QUADRAT_HD segment_box_contacts(const vec<T, 3>& axis, T half, T radius, const body<T>& b, const vec<T, 3>& offset)
      : frame_(axes_of(b.orientation)),
        axis_(axis),
        it_{frame_.to_body(offset * T(-1)), frame_.to_body(axis), b.size, half, radius} {}

  QUADRAT_HD void find(contact_manifold<T>& manifold) const {
    const T place = it_.closest();
    const vec<T, 3> way = it_.way_from(place);
    if (!spheres_touch(way, it_.radius, T(0))) return;
    if (is_rounding(squared_norm(way), it_.half + it_.box[0] + it_.box[1] + it_.box[2])) {
      find_inside(manifold);
    } else {
      find_outside(place, way, manifold);
    }
  }

 private:
  QUADRAT_HD void find_outside(T place, const vec<T, 3>& way, contact_manifold<T>& manifold) const {
    unsigned apart = 0;
    bool along = true;
    for (int axis = 0; axis < 3; ++axis) {
      if (way[axis] == T(0)) continue;
      apart |= 1u << axis;
      along = along && std::fabs(it_.direction[axis]) < parallel_sine<T>;
    }
    stretch<T> beside{-it_.half, it_.half};
    const stretch<T> shared = along ? it_.between_faces(apart) : stretch<T>{};
    if (shared.holds_two(it_.radius)) {
      beside = shared;
      const vec<T, 3> low = it_.way_from(shared.low), high = it_.way_from(shared.high);
      if (touches_at(low) && touches_at(high)) {
        manifold.add(contact_at(shared.low, low, 0));
        manifold.add(contact_at(shared.high, high, 1));
        return;
      }
    }
    manifold.add(contact_at(place, way, beside.end_of(place, it_.radius)));
  }

  [[nodiscard]] QUADRAT_HD bool touches_at(const vec<T, 3>& way) const {
    return spheres_touch(way, it_.radius, T(0)) && squared_norm(way) > least_squared_length<T>;
  }

  [[nodiscard]] QUADRAT_HD contact_point<T> contact_at(T place, const vec<T, 3>& way, std::uint32_t feature) const {
    const T distance = std::sqrt(squared_norm(way));
    const vec<T, 3> normal = frame_.to_space(way * (T(1) / distance));
    return swept_contact(axis_ * place, normal, it_.radius, it_.radius - distance, feature);
  }

  QUADRAT_HD void find_inside(contact_manifold<T>& manifold) const {
    int face = 0;
    T shortest = way_out_of_face(0);
    for (int axis = 1; axis < 3; ++axis) {
      if (!(way_out_of_face(axis) < shortest)) continue;
      face = axis;
      shortest = way_out_of_face(axis);
    }
    int edge = -1;
    const bool along = std::fabs(it_.direction[face]) < parallel_sine<T>;
    T across = along ? shortest * clearly_shorter<T> : shortest;
    vec<T, 3> normal{};
    for (int axis = 0; axis < 3; ++axis) {
      vec<T, 3> tried{};
      const T way = way_out_of_edge(axis, tried);
      if (!(way < across)) continue;
      edge = axis;
      across = way;
      normal = tried;
    }
    if (edge < 0) {
      leave_through_face(face, manifold);
    } else {
      leave_across_edge(edge, normal, across, manifold);
    }
  }

  /// The distance that the segment must move along this axis to leave the box.
  [[nodiscard]] QUADRAT_HD T way_out_of_face(int axis) const {
    return it_.box[axis] + it_.half * std::fabs(it_.direction[axis]) - std::fabs(it_.center[axis]);
  }

  /// The same in the direction perpendicular to the segment and to the edges along this axis; `normal` points into the
  /// box. The largest number if there is no such direction.
  [[nodiscard]] QUADRAT_HD T way_out_of_edge(int axis, vec<T, 3>& normal) const {
    const int one = (axis + 1) % 3, other = (axis + 2) % 3;
    const T x = it_.direction[one], y = it_.direction[other];
    const T length = std::sqrt(x * x + y * y);
    if (is_rounding(length * length, T(1))) return largest_number<T>;
    const T outward = it_.center[one] * y - it_.center[other] * x;
    const T scale = (outward > T(0) ? T(-1) : T(1)) / length;
    normal[one] = y * scale;
    normal[other] = -x * scale;
    return it_.box[one] * std::fabs(normal[one]) + it_.box[other] * std::fabs(normal[other]) -
           std::fabs(outward) / length;
  }

  QUADRAT_HD void leave_through_face(int face, contact_manifold<T>& manifold) const {
    const T side = it_.center[face] < T(0) ? T(-1) : T(1);
    const vec<T, 3> normal = frame_.axis[face] * -side;
    const stretch<T> all{-it_.half, it_.half};
    const stretch<T> inside = it_.between_faces(1u << face);
    const stretch<T> over = inside.low <= inside.high ? inside : all;
    const auto depth_at = [&](T place) { return it_.radius + it_.box[face] - side * it_.at(place)[face]; };
    const auto add = [&](T place, std::uint32_t feature) {
      manifold.add(swept_contact(axis_ * place, normal, it_.radius, depth_at(place), feature));
    };
    const bool along = std::fabs(it_.direction[face]) < parallel_sine<T> && over.holds_two(it_.radius);
    if (along && depth_at(over.low) > T(0) && depth_at(over.high) > T(0)) {
      add(over.low, 0);
      add(over.high, 1);
      return;
    }
    const T place = side * it_.direction[face] < T(0) ? over.high : over.low;
    add(place, (along ? over : all).end_of(place, it_.radius));
  }

  QUADRAT_HD void leave_across_edge(int axis, const vec<T, 3>& normal, T way, contact_manifold<T>& manifold) const {
    const int one = (axis + 1) % 3, other = (axis + 2) % 3;
    const T x = it_.direction[one], y = it_.direction[other];
    const T to_edge_x = std::copysign(it_.box[one], -normal[one]) - it_.center[one];
    const T to_edge_y = std::copysign(it_.box[other], -normal[other]) - it_.center[other];
    const T place = clamp_to((to_edge_x * x + to_edge_y * y) / (x * x + y * y), it_.half);
    const std::uint32_t end = stretch<T>{-it_.half, it_.half}.end_of(place, it_.radius);
    manifold.add(swept_contact(axis_ * place, frame_.to_space(normal), it_.radius, it_.radius + way, end));
  }

  axes<T> frame_;
  vec<T, 3> axis_;
  segment_and_box<T> it_;
};

/// Sphere a and box b.
template <typename T>
QUADRAT_HD void sphere_box_contact(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                   contact_manifold<T>& manifold) {
  segment_box_contacts<T>(vec<T, 3>{}, T(0), a.size[0], b, offset).find(manifold);
}

/// Capsule a and box b. Features as with two capsules.
template <typename T>
QUADRAT_HD void capsule_box_contacts(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                     contact_manifold<T>& manifold) {
  segment_box_contacts<T>(axis_of(a), a.size[1], a.size[0], b, offset).find(manifold);
}

}  // namespace quadrat
