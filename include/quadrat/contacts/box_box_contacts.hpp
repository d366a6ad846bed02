// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/contacts/box_contacts.hpp"
#include "quadrat/contacts/face_clipping.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Contacts of two boxes, by separating axes (Gottschalk, Lin, Manocha 1996, "OBBTree", section 5): the face normals of
/// both, and the cross products of an edge of each. The boxes touch if they overlap along all fifteen.
///
/// The contact is along the axis of least overlap. Faces of the larger box are preferred to those of the smaller, and
/// faces to pairs of edges, unless the overlap along the other axis is smaller by a twentieth (clearly_shorter), so
/// that rounding does not change the kind of contact: depth is at most the least overlap / 0.95. For boxes of equal
/// size, a counts as the larger.
///
/// Edges: one contact, at the closest points of the two edges. A face: the most opposed face of the other box is
/// clipped to the prism over it, and each remaining corner below the face gives a contact, up to eight; the depth of
/// the deepest is the overlap. One point of such a contact is the corner, on the surface of its box and inside the
/// other (unless it comes out at the far side); the other point is the projection of the corner onto the face, which
/// may lie outside the corner's box if that is tilted. Corners outside the prism by at most clipping_tolerance are
/// kept; their points are then off the box of the face by that much.
namespace quadrat {

/// Two boxes in the frame of the first.
template <typename T>
class box_pair {
 public:
  QUADRAT_HD box_pair(const body<T>& a, const body<T>& b, const vec<T, 3>& offset)
      : size_a_(a.size), size_b_(b.size), frame_(axes_of(a.orientation)), offset_(frame_.to_body(offset)) {
    const axes<T> other = axes_of(b.orientation);
    for (int j = 0; j < 3; ++j) turned_.axis[j] = frame_.to_body(other.axis[j]);
  }

  /// The overlap of the boxes along a unit vector.
  [[nodiscard]] QUADRAT_HD T overlap_along(const vec<T, 3>& axis) const {
    T sum = -std::fabs(dot(offset_, axis));
    for (int k = 0; k < 3; ++k) {
      sum += size_a_[k] * std::fabs(axis[k]) + size_b_[k] * std::fabs(dot(turned_.axis[k], axis));
    }
    return sum;
  }

  QUADRAT_HD void find(contact_manifold<T>& manifold) const {
    int best = -1;
    T least = largest_number<T>, limit = least;
    for (int candidate = 0; candidate < 15; ++candidate) {
      // Within a group (faces of a, faces of b, edges) the least overlap wins; a later group must be clearly shorter.
      if (candidate == 3 || candidate == 6) limit = least * clearly_shorter<T>;
      vec<T, 3> axis{};
      if (!axis_of_candidate(candidate, axis)) continue;
      const T overlap = overlap_along(axis);
      if (!(overlap > T(0))) return;
      if (!(overlap < limit)) continue;
      best = candidate;
      least = limit = overlap;
    }
    if (best < 6) {
      add_face_contacts(best, least, manifold);
    } else {
      add_edge_contact(best - 6, least, manifold);
    }
  }

 private:
  /// 0 to 2: faces of a; 3 to 5: faces of b; 6 + 3 i + j: edges along axis i of a and axis j of b, if not parallel.
  [[nodiscard]] QUADRAT_HD bool axis_of_candidate(int candidate, vec<T, 3>& axis) const {
    if (candidate < 3) {
      axis[candidate] = T(1);
    } else if (candidate < 6) {
      axis = turned_.axis[candidate - 3];
    } else {
      const int i = (candidate - 6) / 3, one = (i + 1) % 3, other = (i + 2) % 3;
      const vec<T, 3>& edge = turned_.axis[(candidate - 6) % 3];
      const T squared = edge[one] * edge[one] + edge[other] * edge[other];
      if (is_rounding(squared, T(1))) return false;
      const T scale = T(1) / std::sqrt(squared);
      axis[one] = -edge[other] * scale;
      axis[other] = edge[one] * scale;
    }
    return true;
  }

  /// The contact normal, from the first box to the second.
  [[nodiscard]] QUADRAT_HD vec<T, 3> normal_of(int candidate) const {
    vec<T, 3> axis{};
    static_cast<void>(axis_of_candidate(candidate, axis));
    return dot(axis, offset_) < T(0) ? axis * T(-1) : axis;
  }

  QUADRAT_HD void add(const vec<T, 3>& point_a, const vec<T, 3>& normal, T depth, std::uint32_t feature,
                      contact_manifold<T>& manifold) const {
    manifold.add(
        {frame_.to_space(point_a), frame_.to_space(point_a - normal * depth), frame_.to_space(normal), depth, feature});
  }

  QUADRAT_HD void add_edge_contact(int edges, T depth, contact_manifold<T>& manifold) const {
    const int i = edges / 3, j = edges % 3;
    const vec<T, 3> normal = normal_of(edges + 6);
    const vec<T, 3>& direction = turned_.axis[j];
    vec<T, 3> point{}, other = offset_;
    std::uint32_t feature = 0;
    for (int k = 0; k < 3; ++k) {
      const bool positive_a = normal[k] > T(0), positive_b = dot(turned_.axis[k], normal) < T(0);
      if (k != i) point[k] = positive_a ? size_a_[k] : -size_a_[k];
      if (k != j) other += turned_.axis[k] * (positive_b ? size_b_[k] : -size_b_[k]);
      feature = feature * 4 + (k != i && positive_a ? 2u : 0u) + (k != j && positive_b ? 1u : 0u);
    }
    // The place along the edge of a that is closest to the edge of b.
    const vec<T, 3> way = other - point;
    const T one = direction[(i + 1) % 3], two = direction[(i + 2) % 3];
    const T place = (way[i] - direction[i] * dot(way, direction)) / (one * one + two * two);
    point[i] = clamp_to(place, size_a_[i]);
    add(point, normal, depth, clipped_features + static_cast<std::uint32_t>(edges) * 64 + feature, manifold);
  }

  QUADRAT_HD void add_face_contacts(int candidate, T overlap, contact_manifold<T>& manifold) const {
    const vec<T, 3> normal = normal_of(candidate);
    const bool of_a = candidate < 3;
    const axes<T> own{{{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}}};
    const box_face<T> face(of_a ? own : turned_, of_a ? size_a_ : size_b_, of_a ? vec<T, 3>{} : offset_,
                           of_a ? normal : normal * T(-1), candidate % 3);
    const axes<T>& other = of_a ? turned_ : own;
    const vec<T, 3>& other_size = of_a ? size_b_ : size_a_;
    clipped_face<T> clipped(face, other, other_size, of_a ? offset_ : vec<T, 3>{});
    const std::uint32_t base = (of_a ? 0u : 1u) * (clipped_features / 2);
    for (int k = 0; k < clipped.count(); ++k) {
      const T depth = clipped.depth(k);
      if (!(depth > T(0))) continue;
      const vec<T, 3> point = clipped.point(k);
      add(of_a ? point + normal * depth : point, normal, depth, base + clipped.feature(k), manifold);
    }
    // Clipping can lose a corner that is barely inside the prism.
    if (manifold.count > 0) return;
    const vec<T, 3> deepest = clipped.deepest_corner();
    add(of_a ? deepest + normal * overlap : deepest, normal, overlap, base, manifold);
  }

  vec<T, 3> size_a_, size_b_;
  axes<T> frame_;
  vec<T, 3> offset_;
  axes<T> turned_;
};

/// Two boxes. Features: which faces or edges meet, and, for faces, which edges form the corner.
template <typename T>
QUADRAT_HD void boxes_contact(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                              contact_manifold<T>& manifold) {
  box_pair<T>(a, b, offset).find(manifold);
}

/// Whether b comes first, as the larger box, in a total order of sizes.
template <typename T>
[[nodiscard]] QUADRAT_HD bool second_box_is_larger(const vec<T, 3>& size_a, const vec<T, 3>& size_b) {
  const T volume_a = size_a[0] * size_a[1] * size_a[2], volume_b = size_b[0] * size_b[1] * size_b[2];
  if (volume_a != volume_b) return volume_b > volume_a;
  for (int axis = 0; axis < 2; ++axis) {
    if (size_a[axis] != size_b[axis]) return size_b[axis] > size_a[axis];
  }
  return size_b[2] > size_a[2];
}

}  // namespace quadrat
