// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/models/granular.hpp"
#include "quadrat/search/neighborhood.hpp"

/// The sums of a measurement, grain by grain.
namespace quadrat::detail {

/// Sums and maxima over grains.
struct granular_totals {
  double squared_speed = 0;
  double squared_overlap = 0;  ///< each pair counted twice
  double height[3] = {0, 0, 0};
  std::uint64_t contacts = 0;
  std::uint64_t candidates = 0;
  double largest_squared_speed = 0;
  std::uint64_t largest_cell = 0;
};

struct join_totals {
  QUADRAT_HD granular_totals operator()(const granular_totals& a, const granular_totals& b) const {
    granular_totals sum;
    sum.squared_speed = a.squared_speed + b.squared_speed;
    sum.squared_overlap = a.squared_overlap + b.squared_overlap;
    for (int axis = 0; axis < 3; ++axis) sum.height[axis] = a.height[axis] + b.height[axis];
    sum.contacts = a.contacts + b.contacts;
    sum.candidates = a.candidates + b.candidates;
    sum.largest_squared_speed =
        a.largest_squared_speed > b.largest_squared_speed ? a.largest_squared_speed : b.largest_squared_speed;
    sum.largest_cell = a.largest_cell > b.largest_cell ? a.largest_cell : b.largest_cell;
    return sum;
  }
};

template <typename View, typename T>
struct measure_grain {
  View view;
  points_view<T, 3> positions;
  const vec<T, 3>* velocities;
  T diameter;
  vec<double, 3> lower;

  QUADRAT_HD granular_totals operator()(std::size_t i) const {
    granular_totals totals;
    const vec<double, 3> velocity = cast<double>(velocities[i]);
    totals.squared_speed = totals.largest_squared_speed = squared_norm(velocity);
    for (int axis = 0; axis < 3; ++axis) {
      totals.height[axis] = static_cast<double>(positions[i][axis]) - lower[axis];
    }
    add_contacts(i, totals);
    add_cells(i, totals);
    return totals;
  }

 private:
  QUADRAT_HD void add_contacts(std::size_t i, granular_totals& totals) const {
    const auto self = static_cast<particle_id>(i);
    for_each_neighbor(view, positions, self, diameter, [&](particle_id, const vec<T, 3>&, T squared_distance) {
      const double overlap = static_cast<double>(diameter) - std::sqrt(static_cast<double>(squared_distance));
      totals.squared_overlap += overlap * overlap;
      ++totals.contacts;
    });
  }
  /// Counts the grains of the 27 cells around, more than a walk with a cutoff needs to read. In a folded grid, skips
  /// grains of other cells that share the storage.
  QUADRAT_HD void add_cells(std::size_t i, granular_totals& totals) const {
    const vec<int, 3> home = view.space.unfolded_cell_of(positions[i]);
    if (!view.space.folded) {
      const cell_id own = view.numbering.id(home);
      totals.largest_cell = view.cell_end(own) - view.cell_begin(own);
    }
    const cell_range<3> around = view.space.moore_neighborhood(home);
    for_each_strip(view.space, around, [&](const vec<int, 3>& cell, int last) {
      const cell_id first = view.numbering.id(cell);
      const slot_range slots = view.run_of_cells(first, first + static_cast<cell_id>(last - cell[0]));
      if (view.space.folded) {
        for (std::uint32_t slot = slots.first; slot < slots.last; ++slot) add_near(home, view.particle(slot), totals);
      } else {
        totals.candidates += slots.last - slots.first;
      }
    });
    --totals.candidates;
  }
  QUADRAT_HD void add_near(const vec<int, 3>& home, particle_id other, granular_totals& totals) const {
    const vec<int, 3> cell = view.space.unfolded_cell_of(positions[other]);
    int farthest = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const int apart = cell[axis] < home[axis] ? home[axis] - cell[axis] : cell[axis] - home[axis];
      farthest = apart > farthest ? apart : farthest;
    }
    totals.candidates += farthest <= 1 ? 1 : 0;
    totals.largest_cell += farthest == 0 ? 1 : 0;
  }
};

/// `lower`: of the box.
[[nodiscard]] inline granular_statistics statistics_of(const granular_totals& totals,
                                                       const granular_parameters& parameters,
                                                       const vec<double, 3>& lower, std::size_t grains) {
  const double count = std::max(static_cast<double>(grains), 1.0);
  granular_statistics result;
  result.kinetic_energy = totals.squared_speed / 2;
  result.kinetic_energy_per_particle = result.kinetic_energy / count;
  result.contact_energy = parameters.spring / parameters.time_step / 2 * totals.squared_overlap / 2;
  for (int axis = 0; axis < 3; ++axis) {
    result.gravitational_energy -= parameters.gravity[static_cast<std::size_t>(axis)] * totals.height[axis];
  }
  result.mean_height = lower[1] + totals.height[1] / count;
  result.contacts_per_particle = static_cast<double>(totals.contacts) / count;
  result.candidates_per_particle = static_cast<double>(totals.candidates) / count;
  result.largest_cell = totals.largest_cell;
  result.max_speed = std::sqrt(totals.largest_squared_speed);
  return result;
}

}  // namespace quadrat::detail
