// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "contacts/bodies/domains.hpp"
#include "contacts/bodies/place.hpp"
#include "contacts/bodies/placed.hpp"
#include "quadrat/contacts/broad_phase.hpp"
#include "quadrat/contacts/collide.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/shapes.hpp"

/// Tests of two placed bodies, one type per family of bodies, so that spheres do not pay for other shapes. `count(p,
/// q)` is the number of contacts, in either order of arguments; `collide(a, b, manifold)` finds them, where a has the
/// lower id. `Domain`: box, or system_domains for bodies of which those of different systems are never tested.
namespace quadrat::detail {

/// A contact_manifold for families with at most one contact per pair.
template <typename T>
struct single_contact {
  contact_point<T> points[1];
};

template <typename T, typename Domain = box<T, 3>>
struct sphere_family {
  using value_type = T;
  using manifold_type = single_contact<T>;

  Domain domain;
  group_filter groups;

  [[nodiscard]] QUADRAT_HD std::uint32_t count(const placed_body<T>& p, const placed_body<T>& q) const {
    // At half a periodic box the separation may have either sign; its length is the same.
    return spheres_touch(domain_of(domain, p.id).separation(p.center, q.center), p.half[0], q.half[0]) &&
           groups.meet(p.group, q.group);
  }
  QUADRAT_HD std::uint32_t collide(const placed_body<T>& a, const placed_body<T>& b, manifold_type& manifold) const {
    const vec<T, 3> offset = domain_of(domain, a.id).separation(a.center, b.center);
    if (!spheres_touch(offset, a.half[0], b.half[0]) || !groups.meet(a.group, b.group)) return 0;
    manifold.points[0] = sphere_contact(offset, a.half[0], b.half[0]);
    return 1;
  }
};

/// Whether two of the caller's boxes overlap: their closed intervals meet along every axis; along periodic axes, those
/// of the images with the nearest centers.
template <typename T>
[[nodiscard]] QUADRAT_HD bool bounds_meet(const box<T, 3>& domain, const bounds_view<T>& bounds, std::size_t first,
                                          std::size_t second) {
  const vec<T, 3> lower_a = bounds.lower[first], upper_a = bounds.upper[first];
  const vec<T, 3> lower_b = bounds.lower[second], upper_b = bounds.upper[second];
  const vec<T, 3> apart = domain.separation(center_of(domain, lower_a, upper_a), center_of(domain, lower_b, upper_b));
  bool meet = true;
  for (int axis = 0; axis < 3; ++axis) {
    const T reach = (upper_a[axis] - lower_a[axis]) * T(0.5) + (upper_b[axis] - lower_b[axis]) * T(0.5);
    meet = meet && (domain.periodic[axis] ? std::fabs(apart[axis]) <= reach
                                          : lower_a[axis] <= upper_b[axis] && lower_b[axis] <= upper_a[axis]);
  }
  return meet;
}

/// Whether the boxes of placed bodies overlap and their groups interact.
template <typename T>
[[nodiscard]] QUADRAT_HD bool boxes_meet(const box<T, 3>& domain, const group_filter& groups, const placed_body<T>& p,
                                         const placed_body<T>& q) {
  const vec<T, 3> offset = domain.separation(p.center, q.center);
  bool meet = groups.meet(p.group, q.group);
  for (int axis = 0; axis < 3; ++axis) meet = meet && std::fabs(offset[axis]) <= p.half[axis] + q.half[axis];
  return meet;
}

/// Contacts of two bodies in the order of features. Not inlined: kernels share it.
template <typename T>
QUADRAT_HD_NOINLINE std::uint32_t collide_in_order(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                                   contact_manifold<T>& manifold) {
  const int found = collide(a, b, offset, manifold);
  for (int k = 1; k < found; ++k) {
    const contact_point<T> point = manifold.points[k];
    int to = k;
    for (; to > 0 && manifold.points[to - 1].feature > point.feature; --to)
      manifold.points[to] = manifold.points[to - 1];
    manifold.points[to] = point;
  }
  return static_cast<std::uint32_t>(found);
}

/// Bodies of any shapes.
template <typename T, typename Domain = box<T, 3>>
struct any_family {
  using value_type = T;
  using manifold_type = contact_manifold<T>;

  Domain domain;
  group_filter groups;
  bodies_view<T> bodies;

  [[nodiscard]] QUADRAT_HD std::uint32_t count(const placed_body<T>& p, const placed_body<T>& q) const {
    manifold_type manifold;
    return p.id < q.id ? collide(p, q, manifold) : collide(q, p, manifold);
  }
  QUADRAT_HD std::uint32_t collide(const placed_body<T>& a, const placed_body<T>& b, manifold_type& manifold) const {
    if (!boxes_meet(domain_of(domain, a.id), groups, a, b)) return 0;
    const vec<T, 3> offset = domain_of(domain, a.id).separation(a.center, b.center);
    return collide_in_order(at(a), at(b), offset, manifold);
  }

 private:
  [[nodiscard]] QUADRAT_HD body<T> at(const placed_body<T>& placed) const {
    body<T> result = bodies[placed.id];
    result.center = placed.center;
    return result;
  }
};

/// Candidates: pairs of boxes. The caller's boxes are compared exactly as given; boxes of placed bodies, with an
/// allowance for rounding in the narrow phase.
template <typename T, typename Domain = box<T, 3>>
struct box_family {
  using value_type = T;

  Domain domain;
  group_filter groups;
  bounds_view<T> bounds;  ///< empty for bodies

  [[nodiscard]] QUADRAT_HD std::uint32_t count(const placed_body<T>& p, const placed_body<T>& q) const {
    const box<T, 3>& own = domain_of(domain, p.id);
    if (!boxes_meet(own, groups, p, q)) return 0;
    return bounds.size() == 0 || bounds_meet(own, bounds, p.id, q.id);
  }
};

/// Records: points are relative to the caller's position of a, which may lie outside the box.
template <typename T, typename Domain = box<T, 3>>
struct contact_sink {
  contact<T>* records;
  std::uint64_t capacity;
  points_view<T, 3> centers;
  Domain domain;

  /// Contacts of two bodies.
  QUADRAT_HD void write(std::uint64_t at, const contact_point<T>* points, std::uint32_t count, const placed_body<T>& a,
                        const placed_body<T>& b) const {
    const box<T, 3>& own = domain_of(domain, a.id);
    const vec<int, 3> shift = shift_between(own, centers[a.id], centers[b.id], own.separation(a.center, b.center));
    for (std::uint32_t k = 0; k < count; ++k) {
      records[at + k] = make_contact(centers[a.id], points[k], a.id, b.id, shift);
    }
  }
  QUADRAT_HD void write_of_plane(std::uint64_t at, const contact_point<T>& point, particle_id a, particle_id b) const {
    records[at] = make_contact(centers[a], point, a, b, {});
  }
  /// Writes at most `room` contacts of a pair; returns how many.
  template <typename Family>
  QUADRAT_HD std::uint32_t operator()(const Family& family, const placed_body<T>& a, const placed_body<T>& b,
                                      std::uint64_t at, std::uint32_t room) const {
    typename Family::manifold_type manifold;
    std::uint32_t found = family.collide(a, b, manifold);
    if (found > room) found = room;
    if (found > 0) write(at, manifold.points, found, a, b);
    return found;
  }
};

/// A candidate pair.
struct pair_sink {
  particle_id* first;
  particle_id* second;
  std::uint64_t capacity;

  template <typename Family, typename T>
  QUADRAT_HD std::uint32_t operator()(const Family& family, const placed_body<T>& a, const placed_body<T>& b,
                                      std::uint64_t at, std::uint32_t /*room*/) const {
    if (family.count(a, b) == 0) return 0;
    first[at] = a.id;
    second[at] = b.id;
    return 1;
  }
};

}  // namespace quadrat::detail
