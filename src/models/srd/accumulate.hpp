// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/wide_access.hpp"
#include "parallel/atomic_row.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/parallel/atomic.hpp"

/// Sums over the particles of a cell: in floating point, or in fixed point, where the order of additions does not
/// matter. On a GPU a cell is reset long after it was read. A store right after the load, to the same sector, would
/// make the pass over cells three times as slow.
namespace quadrat::detail {

/// The sums of a cell.
template <typename R, int D>
struct srd_cell {
  vec<R, D> momentum;
  R mass;
  R energy;  ///< kinetic
  R count;
};

/// The sums needed besides momentum and count.
struct srd_sum_kinds {
  bool energy;
  bool mass;    ///< if not, every particle has mass 1
  bool racing;  ///< several threads add concurrently
};

template <typename T>
QUADRAT_HD inline void srd_add(T* target, T value, bool racing) {
#if defined(__CUDA_ARCH__)
  static_cast<void>(racing);
  atomic_add(target, value);
#else
  if (racing) {
    atomic_add(target, value);
  } else {
    *target += value;
  }
#endif
}

/// Adds four adjacent numbers, in one operation if the device supports it.
template <typename T>
QUADRAT_HD inline void srd_add_four(T* target, T a, T b, T c, T d, bool racing) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) {
    const float value[4] = {a, b, c, d};
    atomic_add_row<4>(target, value);
    return;
  }
#endif
  srd_add(target, a, racing);
  srd_add(target + 1, b, racing);
  srd_add(target + 2, c, racing);
  srd_add(target + 3, d, racing);
}

/// The sums of a cell in the precision of the run; in single precision one sector of the cache. 3D: momentum, energy;
/// count, mass. 2D: momentum, energy, count; mass.
template <typename T>
struct alignas(4 * sizeof(T)) srd_floating_cell {
  T value[8];
};

template <typename T, int D>
struct srd_floating_sums {
  srd_floating_cell<T>* cells;
  srd_sum_kinds kinds;

  QUADRAT_HD void add(cell_id cell, const vec<T, D>& velocity, T particle_mass) const {
    T* const sums = cells[cell].value;
    const T energy = particle_mass * squared_norm(velocity) / 2;
    const vec<T, D> p = velocity * particle_mass;
    if constexpr (D == 3) {
      srd_add_four(sums, p[0], p[1], p[2], energy, kinds.racing);
      srd_add(sums + 4, T(1), kinds.racing);
    } else {
      srd_add_four(sums, p[0], p[1], energy, T(1), kinds.racing);
    }
    if (kinds.mass) srd_add(sums + 5, particle_mass, kinds.racing);
  }

  [[nodiscard]] QUADRAT_HD srd_cell<T, D> read(cell_id cell) const {
    const srd_floating_cell<T> sums = wide_load(cells + cell);
    srd_cell<T, D> result{};
    QUADRAT_UNROLL
    for (int axis = 0; axis < D; ++axis) result.momentum[axis] = sums.value[axis];
    result.energy = sums.value[D];
    result.count = sums.value[D + 1];
    result.mass = kinds.mass ? sums.value[5] : result.count;
    return result;
  }
  QUADRAT_HD void reset(cell_id cell) const { wide_store(cells + cell, srd_floating_cell<T>{}); }
};

/// Sums in 64-bit fixed point: momentum, energy, count, mass. The contribution of a particle is clamped, so that no sum
/// of up to `room` particles wraps around.
template <typename T, int D>
struct srd_fixed_sums {
  static constexpr std::size_t words = 6;  ///< of a cell

  std::int64_t* values;
  srd_sum_kinds kinds;
  T momentum_scale;  ///< powers of two
  T energy_scale;
  T mass_scale;
  double momentum_unit;  ///< their reciprocals
  double energy_unit;
  double mass_unit;
  T limit;  ///< the largest contribution of a particle

  [[nodiscard]] QUADRAT_HD std::int64_t fixed(T value) const {
    const T bounded = value < -limit ? -limit : (value > limit ? limit : value);
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>) {
      return __float2ll_rn(bounded);
    } else {
      return __double2ll_rn(bounded);
    }
#else
    return static_cast<std::int64_t>(bounded + (bounded < 0 ? T(-0.5) : T(0.5)));
#endif
  }

  QUADRAT_HD void add(cell_id cell, const vec<T, D>& velocity, T particle_mass) const {
    std::int64_t* const sums = values + words * cell;
    for (int axis = 0; axis < D; ++axis) {
      srd_add(sums + axis, fixed(particle_mass * velocity[axis] * momentum_scale), kinds.racing);
    }
    if (kinds.energy) {
      srd_add(sums + D, fixed(particle_mass * squared_norm(velocity) / 2 * energy_scale), kinds.racing);
    }
    srd_add(sums + D + 1, std::int64_t{1}, kinds.racing);
    if (kinds.mass) srd_add(sums + D + 2, fixed(particle_mass * mass_scale), kinds.racing);
  }

  [[nodiscard]] QUADRAT_HD srd_cell<double, D> read(cell_id cell) const {
    const std::int64_t* const sums = values + words * cell;
    srd_cell<double, D> result{};
    for (int axis = 0; axis < D; ++axis) {
      result.momentum[axis] = static_cast<double>(sums[axis]) * momentum_unit;
    }
    result.energy = static_cast<double>(sums[D]) * energy_unit;
    result.count = static_cast<double>(sums[D + 1]);
    result.mass = kinds.mass ? static_cast<double>(sums[D + 2]) * mass_unit : result.count;
    return result;
  }
  QUADRAT_HD void reset(cell_id cell) const {
    for (std::size_t i = 0; i < D + 3; ++i) values[words * cell + i] = 0;
  }
};

}  // namespace quadrat::detail
