// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/finite.hpp"
#include "hydro/domain.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/fault.hpp"

/// Puts spheres into cells. Invalid ones are faults, and are placed at the origin of the box.
namespace quadrat::detail {

/// A vector that is loaded as a whole.
template <typename T>
struct alignas(4 * sizeof(T)) sphere_vector {
  vec<T, 3> value;
  T unused;
};

template <typename T>
struct given_spheres {
  points_view<T, 3> points;
  sphere_domain<T> domain;

  /// fault_kind::none for a valid point.
  [[nodiscard]] QUADRAT_HD fault_kind fault_of(const vec<T, 3>& point) const {
    if (!is_finite(point)) return fault_kind::not_finite;
    for (int axis = 0; axis < 3; ++axis) {
      if (!(std::fabs(domain.shape.fraction(point, axis)) <= T(lattice<T, 3>::most_boxes))) return fault_kind::outside;
    }
    return fault_kind::none;
  }
  [[nodiscard]] QUADRAT_HD vec<T, 3> wrapped(const vec<T, 3>& point) const {
    vec<int, 3> boxes{};
    return fault_of(point) == fault_kind::none ? domain.shape.wrap(point, boxes) : domain.shape.origin;
  }
};

/// Equal boxes that measure crowding: the sum over boxes of the pairs in them.
template <typename T>
struct sphere_boxes {
  static constexpr int most = 64;  ///< along an axis
  lattice<T, 3> shape;
  vec<int, 3> boxes;

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(boxes[0]) * static_cast<std::size_t>(boxes[1]) * static_cast<std::size_t>(boxes[2]);
  }
  [[nodiscard]] QUADRAT_HD std::size_t of(const vec<T, 3>& wrapped) const {
    std::size_t box = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const int at = static_cast<int>(shape.fraction(wrapped, axis) * static_cast<T>(boxes[axis]));
      box = box * static_cast<std::size_t>(boxes[axis]) +
            static_cast<std::size_t>(at < boxes[axis] ? at : boxes[axis] - 1);
    }
    return box;
  }
};

/// Index: point.
template <typename T>
struct count_in_boxes {
  given_spheres<T> given;
  sphere_boxes<T> boxes;
  std::uint32_t* counts;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t i) const {
    const vec<T, 3> point = given.points[i];
    const fault_kind fault = given.fault_of(point);
    if (fault != fault_kind::none) faults.raise(fault, i);
    atomic_add(counts + boxes.of(given.wrapped(point)), 1u);
  }
};

/// Index: box.
struct pairs_in_box {
  const std::uint32_t* counts;

  QUADRAT_HD double operator()(std::size_t box) const {
    const auto n = static_cast<double>(counts[box]);
    return n * (n - 1);
  }
};

/// The cell of a sphere.
template <typename T>
struct sphere_key {
  given_spheres<T> given;

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD vec<T, 3> read(std::size_t i) const { return given.points[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t /*i*/, const vec<T, 3>& point) const {
    return cell_in_grid(given.domain.grid, given.wrapped(point));
  }
};

/// Index: slot.
template <typename T>
struct place_spheres {
  given_spheres<T> given;
  const particle_id* ids;
  sphere_vector<T>* places;

  QUADRAT_HD void operator()(std::size_t slot) const { places[slot] = {given.wrapped(given.points[ids[slot]]), T(0)}; }
};

}  // namespace quadrat::detail
