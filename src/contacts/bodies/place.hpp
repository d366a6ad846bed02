// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "contacts/bodies/domains.hpp"
#include "contacts/bodies/placed.hpp"
#include "quadrat/contacts/broad_phase.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/parallel/fault.hpp"

/// The first pass over the caller's bodies: checks them, wraps centers along periodic axes, and computes the box of
/// each body.
namespace quadrat::detail {

template <typename T>
[[nodiscard]] QUADRAT_HD bool all_finite(const vec<T, 3>& v) {
  return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
}

/// The fault of a body; the host determines it again for the message.
enum class body_fault { none, system, center, too_far, shape, size, orientation, group, too_long };

/// An open box at an arbitrary place: nothing wraps.
template <typename T>
[[nodiscard]] box<T, 3> open_box() {
  return {{}, vec<T, 3>::filled(T(1)), vec<bool, 3>::filled(false)};
}

/// Whether a body with these half extents is longer than half of the box along a periodic axis: it could then touch two
/// images of another body.
template <typename T>
[[nodiscard]] QUADRAT_HD bool too_long(const box<T, 3>& domain, const vec<T, 3>& half) {
  bool result = false;
  for (int axis = 0; axis < 3; ++axis) {
    result = result || (domain.periodic[axis] && !(T(2) * half[axis] <= domain.length[axis] * T(0.5)));
  }
  return result;
}

template <typename T>
struct place_body {
  bodies_view<T> bodies;
  system_domains<T> domains;

  [[nodiscard]] QUADRAT_HD body_fault fault_of(std::size_t i) const {
    const box<T, 3>& domain = domains.of(static_cast<particle_id>(i));
    if (domains.given_system_of(static_cast<particle_id>(i)) >= domains.count) return body_fault::system;
    if (!all_finite(bodies.centers[i])) return body_fault::center;
    if (too_far(domain, bodies.centers[i])) return body_fault::too_far;
    const body_shape shape = bodies.shape_of(i);
    if (shape > body_shape::box) return body_fault::shape;
    const vec<T, 3> size = bodies.size_of(i);
    if (!sizes_are_sound(shape, size, T(1))) return body_fault::size;
    const T turned = bodies.orientations != nullptr ? squared_norm(bodies.orientations[i]) : T(1);
    if (!sizes_are_sound(shape, size, turned)) return body_fault::orientation;
    if (bodies.groups != nullptr && bodies.groups[i] >= 32) return body_fault::group;
    return too_long(domain, half_extents(bodies[i])) ? body_fault::too_long : body_fault::none;
  }

  QUADRAT_HD placed_body<T> operator()(std::size_t i, const fault_flag& faults) const {
    placed_body<T> placed{};
    placed.id = static_cast<particle_id>(i);
    const box<T, 3>& domain = domains.of(placed.id);
    placed.center = domain.lower;  // a search may run before the host sees the fault
    if (fault_of(i) != body_fault::none) {
      faults.raise(fault_kind::value_range, i);
      return placed;
    }
    placed.center = domain.wrap(bodies.centers[i]);
    placed.half = half_extents(bodies[i]);
    placed.group = bodies.groups != nullptr ? bodies.groups[i] : 0;
    if (bodies.spheres()) return placed;
    // The narrow phase rounds relative to the whole body, which may be much longer than its extent along an axis.
    const T rounding = 64 * rounding_unit<T> * bounding_radius(bodies.shape_of(i), bodies.size_of(i));
    for (int axis = 0; axis < 3; ++axis) placed.half[axis] += rounding;
    return placed;
  }
};

/// Half edges of a caller's box, and its center, wrapped along periodic axes.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> half_edges(const vec<T, 3>& lower, const vec<T, 3>& upper) {
  return (upper - lower) * T(0.5);
}
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> center_of(const box<T, 3>& domain, const vec<T, 3>& lower, const vec<T, 3>& upper) {
  return domain.wrap(lower + half_edges(lower, upper));
}

enum class bounds_fault { none, not_finite, upside_down, group, too_long };

template <typename T>
struct place_bounds {
  bounds_view<T> bounds;
  box<T, 3> domain;

  [[nodiscard]] QUADRAT_HD bounds_fault fault_of(std::size_t i) const {
    const vec<T, 3> lower = bounds.lower[i], upper = bounds.upper[i];
    if (!all_finite(lower) || !all_finite(upper) || !all_finite(upper - lower)) return bounds_fault::not_finite;
    for (int axis = 0; axis < 3; ++axis) {
      if (lower[axis] > upper[axis]) return bounds_fault::upside_down;
    }
    if (bounds.groups != nullptr && bounds.groups[i] >= 32) return bounds_fault::group;
    return too_long(domain, half_edges(lower, upper)) ? bounds_fault::too_long : bounds_fault::none;
  }

  QUADRAT_HD placed_body<T> operator()(std::size_t i, const fault_flag& faults) const {
    placed_body<T> placed{};
    placed.id = static_cast<particle_id>(i);
    placed.center = domain.lower;
    if (fault_of(i) != bounds_fault::none) {
      faults.raise(fault_kind::value_range, i);
      return placed;
    }
    const vec<T, 3> lower = bounds.lower[i], upper = bounds.upper[i];
    placed.center = center_of(domain, lower, upper);
    placed.half = half_edges(lower, upper);
    placed.group = bounds.groups != nullptr ? bounds.groups[i] : 0;
    for (int axis = 0; axis < 3; ++axis) {
      // The center's rounding error is relative to the corners.
      const T scale = std::fmax(std::fabs(lower[axis]), std::fabs(upper[axis])) + placed.half[axis];
      placed.half[axis] += 4 * rounding_unit<T> * scale + least_extent<T>;
    }
    return placed;
  }
};

}  // namespace quadrat::detail
