// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/finite.hpp"
#include "ewald/domain.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/fault.hpp"

/// Puts charges into cells. Invalid ones are faults, and become charges of 0 at the origin of the first system.
namespace quadrat::detail {

/// Faults of a point's pairs are numbered from here on, those of points from 0.
inline constexpr std::uint64_t pair_fault_base = std::uint64_t{1} << 40;

template <typename T>
struct given_charges {
  points_view<T, 3> points;
  const T* charges;
  const std::uint32_t* system_of_point;
  const ewald_domain<T>* domains;
  std::uint32_t systems;

  /// fault_kind::none for a valid point.
  [[nodiscard]] QUADRAT_HD fault_kind fault_of(std::size_t i, const vec<T, 3>& point) const {
    if (!is_finite(point)) return fault_kind::not_finite;
    if (system_of_point != nullptr && system_of_point[i] >= systems) return fault_kind::key_range;
    if (!(charges[i] - charges[i] == T(0))) return fault_kind::value_range;
    const ewald_domain<T>& domain = domains[system_of(i)];
    for (int axis = 0; axis < 3; ++axis) {
      const bool wraps = domain.given.periodic[axis];  // into the summed shape, which may have other vectors
      const T fraction = wraps ? domain.shape.fraction(point, axis) : domain.given.fraction(point, axis);
      const bool inside =
          wraps ? std::fabs(fraction) <= T(domain.shape.most_boxes) : fraction >= T(0) && fraction <= T(1);
      if (!inside) return fault_kind::outside;
    }
    return fault_kind::none;
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t system_of(std::size_t i) const {
    return system_of_point == nullptr ? 0 : system_of_point[i];
  }
};

/// The cell of a point.
template <typename T>
struct charge_key {
  given_charges<T> given;
  fault_flag faults;

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD vec<T, 3> read(std::size_t i) const { return given.points[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t i, const vec<T, 3>& point) const {
    const fault_kind fault = given.fault_of(i, point);
    if (fault != fault_kind::none) {
      faults.raise(fault, i);
      return given.domains[0].grid.cells.first_cell;
    }
    const ewald_domain<T>& domain = given.domains[given.system_of(i)];
    vec<int, 3> boxes{};
    return cell_in_grid(domain.grid, domain.shape.wrap(point, boxes));
  }
};

/// Checks a point, and leaves it where it is. Index: point.
template <typename T>
struct keep_order {
  charge_key<T> key;
  particle_id* ids;

  QUADRAT_HD void operator()(std::size_t i) const {
    const fault_kind fault = key.given.fault_of(i, key.given.points[i]);
    if (fault != fault_kind::none) key.faults.raise(fault, i);
    ids[i] = static_cast<particle_id>(i);
  }
};

/// Writes a charge to its slot: what counting_buckets carries.
template <typename T>
struct place_charges {
  given_charges<T> given;
  placed_charge<T>* placed;
  vec<T, 3>* fractions;      ///< of the cell, for the mesh
  T* charges;                ///< by slot
  std::uint32_t* system_of;  ///< by slot, or nullptr
  std::uint32_t* slots;      ///< by id, or nullptr

  [[nodiscard]] QUADRAT_HD bool empty() const { return false; }
  QUADRAT_HD void move(std::size_t id, std::size_t slot) const {
    vec<T, 3> point = given.points[id];
    T charge = given.charges[id];
    std::uint32_t system = 0;
    if (given.fault_of(id, point) == fault_kind::none) {
      system = given.system_of(id);
    } else {
      point = given.domains[0].shape.origin;
      charge = T(0);
    }
    const lattice<T, 3>& shape = given.domains[system].shape;
    vec<int, 3> boxes{};
    point = shape.wrap(point, boxes);
    placed[slot] = {point, charge};
    fractions[slot] = make_vec<T, 3>([&](int axis) { return shape.fraction(point, axis); });
    charges[slot] = charge;
    if (system_of != nullptr) system_of[slot] = system;
    if (slots != nullptr) slots[id] = static_cast<std::uint32_t>(slot);
  }
};

/// Both steps, for charges that keep the given order. Index: point.
template <typename T>
struct keep_and_place {
  keep_order<T> keep;
  place_charges<T> place;

  QUADRAT_HD void operator()(std::size_t i) const {
    keep(i);
    place.move(i, i);
  }
};

}  // namespace quadrat::detail
