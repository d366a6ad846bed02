// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "contacts/bodies/placed.hpp"
#include "contacts/levels/cuda/kernel.cuh"
#include "quadrat/contacts/ellipsoid_contact.hpp"
#include "quadrat/contacts/narrow_phase.hpp"

/// Policies of the search of levels: which bodies may touch, and the contact of a pair. The body with the lower id
/// comes first, so that all methods compute with the same numbers.
namespace quadrat::detail {

/// Whether the groups of two slots, or of a slot and a plane, interact.
template <typename T>
[[nodiscard]] __device__ bool groups_meet(const warp_search<T>& search, std::uint32_t slot, std::uint32_t group) {
  return (search.masks[search.groups[slot]] >> group & 1u) != 0;
}

template <bool Periodic, typename T>
[[nodiscard]] __device__ vec<T, 3> offset_between(const warp_search<T>& search, const vec<T, 3>& a,
                                                  const vec<T, 3>& b) {
  return Periodic ? search.domain.separation(a, b) : b - a;
}

/// A queued pair with the lower id first.
struct ordered_pair {
  std::uint32_t a, b;  ///< slots
  particle_id id_a, id_b;

  template <typename T>
  __device__ ordered_pair(const warp_search<T>& search, const queued_pair& pair) {
    const particle_id own = search.ids[pair.own];
    const particle_id other = search.ids[pair.other];
    const bool swap = other < own;
    a = swap ? pair.other : pair.own;
    b = swap ? pair.own : pair.other;
    id_a = swap ? other : own;
    id_b = swap ? own : other;
  }
};

/// Shared by both kinds of bodies. Shape: the body of a slot, and whether two slots may meet.
template <typename T, typename Shape>
struct levels_policy {
  template <bool Repeats>
  static constexpr int blocks = Shape::template blocks<Repeats>;
  static constexpr bool rules_out = Shape::rules_out;

  template <bool Periodic>
  [[nodiscard]] __device__ static bool meets(const warp_search<T>& search, const warp_body<T>& own,
                                             const warp_body<T>& other, std::uint32_t slot, std::uint32_t at) {
    const vec<T, 3> offset = offset_between<Periodic>(search, own.center, other.center);
    if (!Shape::may_touch(search, offset, own.radius, other.radius, slot, at)) return false;
    return search.groups == nullptr || groups_meet(search, slot, search.groups[at]);
  }
  /// Whether the sphere around a body reaches a plane.
  [[nodiscard]] __device__ static bool meets_plane(const warp_search<T>& search, const warp_body<T>& own,
                                                   std::uint32_t slot, std::uint32_t number) {
    const plane<T>& wall = search.planes[number];
    const T height = dot(wall.normal, own.center) - wall.offset;
    const T lengths = std::fabs(wall.offset) + std::fabs(own.center[0]) + std::fabs(own.center[1]) +
                      std::fabs(own.center[2]) + own.radius;
    if (height - own.radius > 8 * rounding_unit<T> * lengths) return false;
    return search.groups == nullptr || groups_meet(search, slot, wall.group);
  }

  /// A cheap test whether a queued pair may touch.
  template <bool Periodic>
  [[nodiscard]] __device__ static bool may_meet(const warp_search<T>& search, const queued_pair& pair) {
    if (pair.other >= first_plane) return true;
    const vec<T, 3> offset =
        offset_between<Periodic>(search, search.records[pair.own].center, search.records[pair.other].center);
    return Shape::reach(search, pair.own, offset) + Shape::reach(search, pair.other, offset) >= squared_norm(offset);
  }

  template <bool Periodic>
  [[nodiscard]] __device__ static bool find(const warp_search<T>& search, const queued_pair& pair,
                                            found_contact<T>& found) {
    if (pair.other >= first_plane) {
      const std::uint32_t number = pair.other - first_plane;
      if (!ellipsoid_plane_contact(Shape::at(search, pair.own), search.planes[number], found.point)) return false;
      found.a = search.ids[pair.own];
      found.b = pair.other;
      found.center_a = search.centers[found.a];
      found.shift = {};
      return true;
    }
    const ordered_pair ordered(search, pair);
    const body<T> a = Shape::at(search, ordered.a);
    const body<T> b = Shape::at(search, ordered.b);
    const vec<T, 3> offset = offset_between<Periodic>(search, a.center, b.center);
    if (!Shape::touch(a, b, offset, found.point)) return false;
    found.a = ordered.id_a;
    found.b = ordered.id_b;
    found.center_a = a.center;
    found.shift = {};
    if constexpr (Periodic) {
      found.center_a = search.centers[found.a];
      found.shift = shift_between(search.domain, found.center_a, search.centers[found.b], offset);
    }
    return true;
  }
};

/// Spheres: the first test already decides.
template <typename T>
struct searched_sphere {
  template <bool Repeats>
  static constexpr int blocks = levels_blocks<Repeats>;
  static constexpr bool rules_out = false;

  [[nodiscard]] __device__ static bool may_touch(const warp_search<T>&, const vec<T, 3>& offset, T radius_a, T radius_b,
                                                 std::uint32_t, std::uint32_t) {
    return spheres_touch(offset, radius_a, radius_b);
  }
  [[nodiscard]] __device__ static body<T> at(const warp_search<T>& search, std::uint32_t slot) {
    const warp_body<T> own = search.records[slot];
    return {body_shape::sphere, own.center, vec<T, 3>::filled(own.radius), quaternion<T>::identity()};
  }
  [[nodiscard]] __device__ static bool touch(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                             contact_point<T>& point) {
    point = sphere_contact(offset, a.size[0], b.size[0]);
    return true;
  }
};

/// Ellipsoids: bounding spheres and boxes are tested before the lanes of a warp search for common normals
/// together.
template <typename T>
struct searched_ellipsoid {
  template <bool>
  static constexpr int blocks = 4;
  static constexpr bool rules_out = true;

  /// The support function along a vector, times the vector's length.
  [[nodiscard]] __device__ static T reach(const warp_search<T>& search, std::uint32_t slot, const vec<T, 3>& along) {
    const warp_ellipsoid<T> own = search.ellipsoids[slot];
    const vec<T, 3> inside = axes_of(own.orientation).to_body(along);
    const vec<T, 3> scaled{own.size[0] * inside[0], own.size[1] * inside[1], own.size[2] * inside[2]};
    constexpr T up = sizeof(T) == 4 ? T(1 + 4e-6) : T(1 + 8e-15);
    return std::sqrt(squared_norm(scaled)) * up;
  }

  [[nodiscard]] __device__ static bool may_touch(const warp_search<T>& search, const vec<T, 3>& offset, T radius_a,
                                                 T radius_b, std::uint32_t slot, std::uint32_t at) {
    constexpr T up = sizeof(T) == 4 ? T(1 + 2e-6) : T(1 + 4e-15);
    const T sum = (radius_a + radius_b) * up;
    if (!(squared_norm(offset) < sum * sum)) return false;
    const vec<T, 3> reach = (search.half_extents[slot] + search.half_extents[at]) * up;
    return std::fabs(offset[0]) <= reach[0] && std::fabs(offset[1]) <= reach[1] && std::fabs(offset[2]) <= reach[2];
  }
  [[nodiscard]] __device__ static body<T> at(const warp_search<T>& search, std::uint32_t slot) {
    const warp_ellipsoid<T> own = search.ellipsoids[slot];
    return {body_shape::ellipsoid, search.records[slot].center, own.size, own.orientation};
  }
  [[nodiscard]] __device__ static bool touch(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                             contact_point<T>& point) {
    return ellipsoids_contact(a, b, offset, point);
  }
};

}  // namespace quadrat::detail
