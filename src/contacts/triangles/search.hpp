// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "contacts/triangles/tables.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/triangles.hpp"
#include "quadrat/core/macros.hpp"

/// Contacts of a sphere with triangles. A contact is a point of the surface that is closer to the center than the
/// surface around it. Each triangle there has it as its closest point; one of them reports it:
///   face      the triangle
///   edge      the first of its triangles, if no other part of them is closer
///   corner    likewise, of all triangles that have a corner there
/// Rounding can give the same point to parts of several triangles with a corner in common: of points closer together
/// than `merge`, that on a face is reported, else that on an edge, else that on a corner; then that of the first
/// triangle. For this, faces extend beyond their sides by `fine`: no point of a flat surface is beside all faces.
namespace quadrat::detail {

/// The tables of triangles, in the memory of a device. Corners have the numbers of triangle_tables.
template <typename T>
struct triangle_store {
  const vec<T, 3>* vertices;
  const vec<std::uint32_t, 3>* triangles;
  const vec<T, 3>* normals;
  const std::uint32_t* points;
  const std::uint32_t* offsets;
  const std::uint32_t* corners;
  const std::uint32_t* leaves;
  const triangle_bounds<T>* nodes;
  std::uint32_t count;  ///< of leaves
  int height;
  T reach;
  vec<T, 3> period;  ///< of the box; anything along open axes

  [[nodiscard]] QUADRAT_HD const vec<T, 3>& corner(std::uint32_t t, int k) const { return vertices[triangles[t][k]]; }

  /// Calls f(triangle) for triangles whose bounds are within `distance`, in the order of leaves.
  template <typename F>
  QUADRAT_HD void for_each_near(const vec<T, 3>& center, T distance, F&& f) const {
    int level = height;
    for (std::uint32_t leaf = 0; leaf < count;) {
      if (nodes[(1u << (height - level)) + (leaf >> level)].within(center, distance)) {
        if (level > 0) {
          --level;
          continue;
        }
        f(leaves[leaf]);
      }
      leaf += 1u << level;
      while ((leaf >> level & 1u) == 0) ++level;
    }
  }
};

template <typename T>
struct sphere_by_triangles {
  vec<T, 3> center;
  T radius;
  T fine;
  T merge;

  QUADRAT_HD sphere_by_triangles(const vec<T, 3>& at, T size, T reach) : center(at), radius(size) {
    T far = reach;
    for (int axis = 0; axis < 3; ++axis) far = std::fmax(far, std::fabs(at[axis]));
    const T rounding = T(4) * rounding_unit<T> * (far + radius);
    fine = T(1e-7) * radius + rounding;
    merge = T(1e-5) * radius + T(4) * rounding;
  }
};

/// Corner k of triangle t.
struct triangle_corner_of {
  std::uint32_t t;
  int k;

  QUADRAT_HD triangle_corner_of(std::uint32_t triangle, int corner) : t(triangle), k(corner) {}
  QUADRAT_HD explicit triangle_corner_of(std::uint32_t number) : t(number / 3), k(static_cast<int>(number % 3)) {}
  [[nodiscard]] QUADRAT_HD std::uint32_t number() const { return 3 * t + static_cast<std::uint32_t>(k); }
};

template <typename T>
class sphere_on_triangles {
 public:
  using nearest = nearest_on_triangle<T>;

  QUADRAT_HD sphere_on_triangles(const triangle_store<T>& mesh, const vec<T, 3>& center, T radius)
      : mesh_(mesh), at_(center, radius, mesh.reach) {}

  /// Calls f(triangle, its closest point) for triangles that the sphere touches, in the order of leaves.
  template <typename F>
  QUADRAT_HD void for_each_close(F&& f) const {
    mesh_.for_each_near(at_.center, at_.radius + T(2) * at_.fine, [&](std::uint32_t t) {
      const nearest found = closest(t);
      if (in_reach(found)) f(t, found);
    });
  }
  /// The same for those that report a contact.
  template <typename F>
  QUADRAT_HD void for_each_contact(F&& f) const {
    for_each_close([&](std::uint32_t t, const nearest& found) {
      if (reports(t, found)) f(t, found);
    });
  }

  [[nodiscard]] QUADRAT_HD nearest closest(std::uint32_t t) const { return nearest_of(t, at_.center); }

  /// Whether triangle t reports a contact at its closest point.
  [[nodiscard]] QUADRAT_HD bool reports(std::uint32_t t, const nearest& found) const {
    return in_reach(found) && owns(t, at_.center, found) && !is_merged(t, found);
  }

  /// The contact at the closest point of triangle t.
  [[nodiscard]] QUADRAT_HD contact_point<T> contact_at(std::uint32_t t, const nearest& found) const {
    const vec<T, 3>& front = mesh_.normals[t];
    const T distance = found.squared_distance > least_squared_length<T> ? std::sqrt(found.squared_distance) : T(0);
    vec<T, 3> normal = front * T(-1);
    if (found.part == triangle_face) {
      if (dot(found.way, front) > T(0)) normal = front;
    } else if (distance > T(0)) {
      normal = found.way * (T(1) / distance);
    }
    const T depth = std::fmax(at_.radius - distance, least_depth<T>);
    const vec<T, 3> point = normal * at_.radius;
    return {point, rounding::fused(normal, -depth, point), normal, depth, found.part};
  }

 private:
  [[nodiscard]] QUADRAT_HD bool in_reach(const nearest& found) const {
    return found.squared_distance < at_.radius * at_.radius;
  }

  [[nodiscard]] QUADRAT_HD nearest nearest_of(std::uint32_t t, const vec<T, 3>& center) const {
    const vec<T, 3> corners[3] = {mesh_.corner(t, 0) - center, mesh_.corner(t, 1) - center,
                                  mesh_.corner(t, 2) - center};
    return find_nearest_on_triangle(corners, mesh_.normals[t], at_.fine);
  }

  /// Calls f(other corner, center for its triangle) for the other corners at the point of `own` until it returns false;
  /// returns whether it never did. The image of the other triangle has that corner where `own` is.
  template <typename F>
  QUADRAT_HD bool all_around(const triangle_corner_of& own, const vec<T, 3>& center, F&& f) const {
    const std::uint32_t point = mesh_.points[mesh_.triangles[own.t][own.k]];
    for (std::uint32_t entry = mesh_.offsets[point]; entry < mesh_.offsets[point + 1]; ++entry) {
      const triangle_corner_of other(mesh_.corners[entry]);
      if (other.number() == own.number()) continue;
      if (!f(other, center + (mesh_.corner(other.t, other.k) - mesh_.corner(own.t, own.k)))) return false;
    }
    return true;
  }

  /// The triangles that have a corner at the point of corner k.
  [[nodiscard]] QUADRAT_HD std::uint32_t degree(std::uint32_t t, int k) const {
    const std::uint32_t point = mesh_.points[mesh_.triangles[t][k]];
    return mesh_.offsets[point + 1] - mesh_.offsets[point];
  }

  /// The corner of the other triangle that is at corner k of the own one, -1 if there is none.
  [[nodiscard]] QUADRAT_HD int corner_there(const triangle_corner_of& other, const triangle_corner_of& own,
                                            int k) const {
    const vec<T, 3> way = mesh_.corner(own.t, k) - mesh_.corner(own.t, own.k);
    for (int j = 0; j < 3; ++j) {
      bool same = mesh_.points[mesh_.triangles[other.t][j]] == mesh_.points[mesh_.triangles[own.t][k]];
      const vec<T, 3> apart = mesh_.corner(other.t, j) - mesh_.corner(other.t, other.k) - way;
      for (int axis = 0; axis < 3; ++axis) same = same && std::fabs(apart[axis]) <= T(0.5) * mesh_.period[axis];
      if (same && j != other.k) return j;
    }
    return -1;
  }

  /// Whether the closest point of t is a contact that t reports, if the closest points of its neighbors are elsewhere.
  [[nodiscard]] QUADRAT_HD bool owns(std::uint32_t t, const vec<T, 3>& center, const nearest& found) const {
    if (found.part == triangle_face) return true;
    const bool corner = found.part >= triangle_corner;
    int k = static_cast<int>(found.part - (corner ? triangle_corner : triangle_edge));
    int end = (k + 1) % 3;
    if (!corner && degree(t, end) < degree(t, k)) {  // which finds the triangles of the edge sooner
      const int begin = k;
      k = end;
      end = begin;
    }
    const triangle_corner_of own(t, k);
    return all_around(own, center, [&](const triangle_corner_of& other, const vec<T, 3>& seen_from) {
      const int other_end = corner ? other.k : corner_there(other, own, end);
      if (other_end < 0) return true;
      const std::uint32_t there = nearest_of(other.t, seen_from).part;
      const std::uint32_t first = triangle_corner + static_cast<std::uint32_t>(other.k);
      if (corner) return there == first && own.number() < other.number();
      const int edge = other_end == (other.k + 1) % 3 ? other.k : other_end;
      if (there == triangle_edge + static_cast<std::uint32_t>(edge)) return own.t < other.t;
      return there == first || there == triangle_corner + static_cast<std::uint32_t>(other_end);
    });
  }

  /// Of points that are one, the least rank is reported.
  [[nodiscard]] QUADRAT_HD static std::uint64_t rank(const triangle_corner_of& at, std::uint32_t part) {
    const std::uint64_t kind = part == triangle_face ? 0 : (part < triangle_corner ? 1 : 2);
    return kind << 32 | at.number();
  }

  /// Whether a neighbor of t reports the contact at the closest point of t.
  [[nodiscard]] QUADRAT_HD bool is_merged(std::uint32_t t, const nearest& found) const {
    if (found.part == triangle_face && found.inside > at_.merge) return false;
    int crowded = 0;  // that corner comes last: most are merged with a triangle beside them
    for (int k = 1; k < 3; ++k) crowded = degree(t, k) > degree(t, crowded) ? k : crowded;
    for (int k = 1; k <= 3; ++k) {
      const triangle_corner_of own(t, (crowded + k) % 3);
      const bool alone = all_around(own, at_.center, [&](const triangle_corner_of& other, const vec<T, 3>& seen_from) {
        const nearest there = nearest_of(other.t, seen_from);
        const bool same = in_reach(there) && squared_norm(there.way - found.way) <= at_.merge * at_.merge;
        return !(same && rank(other, there.part) < rank(own, found.part) && owns(other.t, seen_from, there));
      });
      if (!alone) return true;
    }
    return false;
  }

  const triangle_store<T>& mesh_;
  sphere_by_triangles<T> at_;
};

}  // namespace quadrat::detail
