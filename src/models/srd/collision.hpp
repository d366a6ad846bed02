// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "models/arithmetic.hpp"
#include "models/srd/accumulate.hpp"
#include "models/srd/setup.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// The collision of a cell in the form that its particles read: one or two 16-byte loads in single precision.
template <typename T, int D>
struct srd_turn;

template <typename T>
struct alignas(4 * sizeof(T)) srd_turn<T, 3> {
  vec<T, 3> mean;  ///< velocity
  T scale;         ///< of velocities relative to the mean; negative: no collision
  vec<T, 3> axis;  ///< a unit vector
  T unused;

  [[nodiscard]] QUADRAT_HD vec<T, 3> turned(const vec<T, 3>& w, T cosine, T sine) const {
    const T along = multiply_add(axis[0], w[0], multiply_add(axis[1], w[1], axis[2] * w[2])) * (T(1) - cosine);
    // Unrolled by hand: the host compiler does not unroll loops over components.
    const T across[3] = {multiply_add(axis[1], w[2], -(axis[2] * w[1])), multiply_add(axis[2], w[0], -(axis[0] * w[2])),
                         multiply_add(axis[0], w[1], -(axis[1] * w[0]))};
    return {multiply_add(cosine, w[0], multiply_add(sine, across[0], along * axis[0])),
            multiply_add(cosine, w[1], multiply_add(sine, across[1], along * axis[1])),
            multiply_add(cosine, w[2], multiply_add(sine, across[2], along * axis[2]))};
  }
  QUADRAT_HD void draw(const srd_draws& draws) {
    const philox_block words = draws.words(srd_use::turn, 0);
    const T z = T(2) * srd_open_uniform<T>(words.word[0]) - T(1);
    const T radius = std::sqrt((T(1) - z) * (T(1) + z));
    const vec<T, 2> around = srd_circle(srd_uniform<T>(words.word[1]));
    axis = {radius * around[0], radius * around[1], z};
  }
};

template <typename T>
struct alignas(4 * sizeof(T)) srd_turn<T, 2> {
  vec<T, 2> mean;
  T scale;
  T sign;  ///< of the angle

  [[nodiscard]] QUADRAT_HD vec<T, 2> turned(const vec<T, 2>& w, T cosine, T sine) const {
    const T turn = sign * sine;
    return {multiply_add(cosine, w[0], -(turn * w[1])), multiply_add(turn, w[0], cosine * w[1])};
  }
  QUADRAT_HD void draw(const srd_draws& draws) {
    sign = (draws.words(srd_use::turn, 0).word[0] >> 31) == 0 ? T(1) : T(-1);
  }
};

/// The velocity after the collision. The bits are the same wherever it is inlined.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD inline vec<T, D> srd_collided(const srd_setup<T, D>& setup, const srd_turn<T, D>& turn,
                                                       const vec<T, D>& velocity) {
  if (turn.scale < T(0)) return velocity;
  const vec<T, D> w = turn.turned(velocity - turn.mean, setup.cosine, setup.sine);
  vec<T, D> result{};
  for (int axis = 0; axis < D; ++axis) result[axis] = multiply_add(turn.scale, w[axis], turn.mean[axis]);
  return result;
}

/// The wall that cuts a cell of the shifted grid: 2 axis for the lower wall, 2 axis + 1 for the upper one; -1: none.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD inline int srd_cutting_wall(const srd_setup<T, D>& setup, cell_id cell) {
  for (int axis = 0; axis < D; ++axis) {
    const auto along = static_cast<cell_id>(setup.shifted_cells[axis]);
    const cell_id index = cell % along;
    cell /= along;
    if (setup.periodic[axis]) continue;
    if (index == 0) return 2 * axis;
    if (index == along - 1) return 2 * axis + 1;
  }
  return -1;
}

/// Fills up a cell cut by a wall with ghost particles. Source: Lamura, Gompper, Ihle, Kroll 2001. The thermostat also
/// needs the ghosts' energy relative to their mean; it is drawn with their remaining degrees of freedom. Less than one
/// ghost is treated as one light ghost with all degrees of freedom: otherwise the cell would cool down.
template <typename T, typename R, int D>
QUADRAT_HD inline void srd_add_ghosts(const srd_setup<T, D>& setup, const vec<T, D>& wall_velocity,
                                      const srd_draws& draws, srd_cell<R, D>& cell) {
  const T number = setup.full - static_cast<T>(cell.count);
  if (!(number > T(0))) return;
  const vec<T, D> normal = srd_normal<T, D>(draws.words(srd_use::ghost_momentum, 0));
  const vec<T, D> momentum = normal * std::sqrt(number * setup.temperature) + wall_velocity * number;
  cell.energy += static_cast<R>(squared_norm(momentum) / (T(2) * number));
  if (setup.thermostat && number > T(1)) {
    const T shape = T(D) * (number - T(1)) / T(2);
    cell.energy += static_cast<R>(setup.temperature * srd_gamma(draws, srd_use::ghost_energy, shape));
  }
  cell.momentum += cast<R>(momentum);
  cell.mass += static_cast<R>(number);
  cell.count += static_cast<R>(number < T(1) ? T(1) : number);
}

/// The factor of the Maxwell-Boltzmann-scaling thermostat (Huang and others 2010).
template <typename T, typename R, int D>
[[nodiscard]] QUADRAT_HD inline T srd_thermostat(const srd_setup<T, D>& setup, const srd_draws& draws,
                                                 const srd_cell<R, D>& cell) {
  // If all particles have the same velocity, the relative energy is only rounding.
  constexpr R rounding = sizeof(T) == sizeof(float) ? R(0x1p-21) : R(0x1p-50);
  const R relative = cell.energy - squared_norm(cell.momentum) / (R(2) * cell.mass);
  if (!(relative > rounding * cell.energy)) return T(1);
  const T shape = static_cast<T>(R(D) * (cell.count - R(1)) / R(2));
  return std::sqrt(setup.temperature * srd_gamma(draws, srd_use::scale, shape) / static_cast<T>(relative));
}

/// The collision of a cell's particles.
template <typename T, typename R, int D>
[[nodiscard]] QUADRAT_HD inline srd_turn<T, D> srd_make_turn(const srd_setup<T, D>& setup, const srd_draws& draws,
                                                             srd_cell<R, D> cell) {
  srd_turn<T, D> turn{};
  turn.scale = T(-1);
  if (cell.count < R(1)) return turn;
  const int wall = setup.walled ? srd_cutting_wall(setup, draws.element) : -1;
  if (wall >= 0) srd_add_ghosts(setup, setup.wall_velocity[wall / 2][wall % 2], draws, cell);
  if (!(cell.count > R(1))) return turn;
  turn.mean = cast<T>(cell.momentum * (R(1) / cell.mass));
  turn.scale = setup.thermostat ? srd_thermostat(setup, draws, cell) : T(1);
  turn.draw(draws);
  return turn;
}

}  // namespace quadrat::detail
