// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/srd/random.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// The constants of a run, in its precision. The unit of mass is the mass of a fluid particle.
template <typename T, int D>
struct srd_setup {
  vec<int, D> cells;          ///< of the box
  vec<int, D> shifted_cells;  ///< of the shifted grid: one more along an axis with walls
  vec<bool, D> periodic;
  vec<T, D> size;  ///< of the box
  T edge;
  T inverse_edge;
  T time_step;
  vec<T, D> acceleration;
  vec<T, D> wall_velocity[D][2];
  T cosine;  ///< of the angle of rotation
  T sine;
  T temperature;  ///< kT / m
  T full;         ///< number of particles up to which ghosts fill a cell
  T fastest;      ///< larger velocity components are a fault
  std::uint64_t seed;
  std::uint32_t fluid;      ///< particles of the fluid, which come first
  std::uint32_t particles;  ///< solutes included
  bool thermostat;
  bool walled;  ///< there are walls along some axis

  [[nodiscard]] QUADRAT_HD bool solutes() const { return particles > fluid; }

  /// The number of a cell, x fastest.
  [[nodiscard]] QUADRAT_HD static cell_id number_of(const vec<int, D>& cell, const vec<int, D>& grid) {
    auto number = static_cast<cell_id>(cell[D - 1]);
    for (int axis = D - 2; axis >= 0; --axis) {
      number = number * static_cast<cell_id>(grid[axis]) + static_cast<cell_id>(cell[axis]);
    }
    return number;
  }

  /// The indices of a position's cell in the shifted grid. All code uses this expression; it has no product that the
  /// compiler could contract.
  [[nodiscard]] QUADRAT_HD vec<int, D> shifted_indices(const vec<T, D>& position, const vec<T, D>& shift) const {
    vec<int, D> cell{};
    for (int axis = 0; axis < D; ++axis) {
      const int index = static_cast<int>((position[axis] + shift[axis]) * inverse_edge);
      const int last = shifted_cells[axis] - 1;
      cell[axis] = index <= last ? index : (periodic[axis] ? 0 : last);
    }
    return cell;
  }
  [[nodiscard]] QUADRAT_HD cell_id shifted_cell(const vec<T, D>& position, const vec<T, D>& shift) const {
    return number_of(shifted_indices(position, shift), shifted_cells);
  }

  /// The position's cell in the unshifted grid.
  [[nodiscard]] QUADRAT_HD cell_id home_cell(const vec<T, D>& position) const {
    vec<int, D> cell{};
    for (int axis = 0; axis < D; ++axis) {
      const int index = static_cast<int>(position[axis] * inverse_edge);
      cell[axis] = index < cells[axis] ? index : cells[axis] - 1;
    }
    return number_of(cell, cells);
  }
};

/// The shift of a step's grid: uniform in [0, edge) along each axis.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD inline vec<T, D> srd_shift(const srd_setup<T, D>& setup, std::uint64_t step) {
  const philox_block words = srd_draws{setup.seed, step, 0}.words(srd_use::shift, 0);
  vec<T, D> shift{};
  for (int axis = 0; axis < D; ++axis) shift[axis] = setup.edge * srd_uniform<T>(words.word[axis]);
  return shift;
}

/// The progress of a run, in device memory, since captured graphs of steps read and write it.
template <typename T, int D>
struct srd_clock {
  std::uint64_t step;     ///< finished steps
  std::uint64_t pending;  ///< whether the collision of the last step is pending
  vec<T, D> last_shift;   ///< grid shift of that collision
  vec<T, D> next_shift;   ///< of the next one
};

/// The particles by slot: the fluid's in any order, then solutes by id.
template <typename T, int D>
struct srd_slots {
  T* position[D];
  T* velocity[D];
  const std::uint32_t* ids;  ///< of the fluid
  const T* solute_masses;

  [[nodiscard]] QUADRAT_HD vec<T, D> position_of(std::size_t slot) const {
    vec<T, D> result{};
    for (int axis = 0; axis < D; ++axis) result[axis] = position[axis][slot];
    return result;
  }
  [[nodiscard]] QUADRAT_HD vec<T, D> velocity_of(std::size_t slot) const {
    vec<T, D> result{};
    for (int axis = 0; axis < D; ++axis) result[axis] = velocity[axis][slot];
    return result;
  }
  QUADRAT_HD void set_position(std::size_t slot, const vec<T, D>& value) const {
    for (int axis = 0; axis < D; ++axis) position[axis][slot] = value[axis];
  }
  QUADRAT_HD void set_velocity(std::size_t slot, const vec<T, D>& value) const {
    for (int axis = 0; axis < D; ++axis) velocity[axis][slot] = value[axis];
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t id_of(const srd_setup<T, D>& setup, std::size_t slot) const {
    return slot < setup.fluid ? ids[slot] : static_cast<std::uint32_t>(slot);
  }
  [[nodiscard]] QUADRAT_HD T mass_of(const srd_setup<T, D>& setup, std::size_t slot) const {
    return slot < setup.fluid ? T(1) : solute_masses[slot - setup.fluid];
  }
};

/// Marks the place of a cell, instead of a particle, in a run_fault.
inline constexpr std::uint32_t srd_cell_mark = 0x80000000u;

}  // namespace quadrat::detail
