// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "models/friction/kernels.hpp"
#include "quadrat/core/macros.hpp"

namespace quadrat::detail {

/// Sums and maxima over grains.
struct friction_totals {
  double kinetic_energy = 0;
  double rotational_energy = 0;
  double elastic_energy = 0;
  double moment[3] = {0, 0, 0};  ///< mass times position
  double height = 0;
  std::uint64_t contacts = 0;
  std::uint64_t passed = 0;
  double largest_overlap = 0;
  double largest_squared_speed = 0;
};

struct join_friction_totals {
  QUADRAT_HD friction_totals operator()(const friction_totals& a, const friction_totals& b) const {
    friction_totals sum;
    sum.kinetic_energy = a.kinetic_energy + b.kinetic_energy;
    sum.rotational_energy = a.rotational_energy + b.rotational_energy;
    sum.elastic_energy = a.elastic_energy + b.elastic_energy;
    for (int axis = 0; axis < 3; ++axis) sum.moment[axis] = a.moment[axis] + b.moment[axis];
    sum.height = a.height + b.height;
    sum.contacts = a.contacts + b.contacts;
    sum.passed = a.passed + b.passed;
    sum.largest_overlap = a.largest_overlap > b.largest_overlap ? a.largest_overlap : b.largest_overlap;
    sum.largest_squared_speed =
        a.largest_squared_speed > b.largest_squared_speed ? a.largest_squared_speed : b.largest_squared_speed;
    return sum;
  }
};

/// Measures one grain, with velocities at the time of its position.
template <typename T, typename Materials>
struct measure_friction {
  friction_forces<T, Materials> forces;
  moving_grains<T> grains;
  const grain_report<T>* reports;
  vec<double, 3> corner;
  vec<double, 3> up;  ///< a unit vector, or 0

  QUADRAT_HD friction_totals operator()(std::size_t i) const {
    const auto slot = static_cast<std::uint32_t>(i);
    const grain_place<T> place = grains.places[slot];
    const vec<double, 3> position = cast<double>(place.position) + cast<double>(grains.remainders[slot]);
    const std::uint32_t material = forces.materials.of_grain(slot);
    const friction_law<T>& law = forces.materials.between(material, material);
    const double mass = static_cast<double>(law.mass(place.radius));
    friction_totals totals;
    totals.largest_squared_speed = squared_norm(cast<double>(grains.velocities[slot].velocity));
    totals.kinetic_energy = mass * totals.largest_squared_speed / 2;
    totals.rotational_energy = squared_norm(cast<double>(grains.spins[slot].spin)) /
                               static_cast<double>(law.inverse_inertia(place.radius)) / 2;
    totals.elastic_energy = static_cast<double>(reports[slot].energy);
    for (int axis = 0; axis < 3; ++axis) totals.moment[axis] = mass * (position[axis] - corner[axis]);
    totals.height = dot(position - corner, up);
    totals.contacts = reports[slot].contacts;
    totals.largest_overlap = static_cast<double>(reports[slot].deepest);
    totals.passed = passed(place.position) ? 1 : 0;
    return totals;
  }

 private:
  QUADRAT_HD bool passed(const vec<T, 3>& position) const {
    for (std::uint32_t k = 0; k < forces.wall_count; ++k) {
      const friction_wall<T>& wall = forces.walls[k];
      if (wall.opening > T(0) && dot(wall.normal, position) < wall.offset) return true;
    }
    return false;
  }
};

}  // namespace quadrat::detail
