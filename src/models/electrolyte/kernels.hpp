// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/finite.hpp"
#include "models/electrolyte/random.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/interaction.hpp"

/// Loop bodies of the electrolyte; one call per ion.
namespace quadrat::detail {

/// The repulsion of two ions, for accumulate_neighbors. The cutoff of the walk is at least the diameter of every pair.
template <typename T>
struct electrolyte_repulsion {
  const T* radii;
  T strength;

  QUADRAT_HD interaction<T, 3> operator()(particle_id i, particle_id j, const vec<T, 3>& r, T rr) const {
    const T diameter = radii[i] + radii[j];
    const T u = diameter * diameter / rr, sixth = u * u * u;
    if (sixth <= T(0.5)) return {};
    const T energy = T(4) * strength * sixth * (sixth - T(1)) + strength;
    const T slope = T(-24) * strength * sixth * (T(2) * sixth - T(1)) / rr;
    return make_interaction(r, rr, energy, slope);
  }
};

/// The arrays of all ions, by number.
template <typename T>
struct electrolyte_ions {
  vec<T, 3>* positions;
  vec<T, 3>* velocities;
  const T* masses;
  const interaction<T, 3>* repulsion;
  const vec<T, 3>* coulomb;

  [[nodiscard]] QUADRAT_HD vec<T, 3> force(std::size_t i) const { return repulsion[i].force + coulomb[i]; }
};

/// The thermostat: changes velocities between the two moves of a step, while steps are below `until`.
template <typename T>
struct electrolyte_thermostat {
  std::uint64_t until;
  std::uint64_t seed;
  T kept;   ///< c
  T noise;  ///< sqrt((1 - c^2) kT)
};

/// The first half of a step: computes the new positions.
template <typename T>
struct electrolyte_move {
  electrolyte_ions<T> ions;
  electrolyte_thermostat<T> thermostat;
  box<T, 3> domain;
  T time_step;
  T farthest;  ///< farther moves are a fault
  step_words words;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint64_t step = *words.now;
    if (i == 0) *words.next = step + 1;
    move(i, static_cast<std::uint32_t>(i), step);
  }
  /// Moves ion number `ion` at place i.
  QUADRAT_HD void move(std::size_t i, std::uint32_t ion, std::uint64_t step) const {
    const T mass = ions.masses[i];
    vec<T, 3> velocity = ions.velocities[i] + ions.force(i) * (time_step / (T(2) * mass));
    vec<T, 3> by = velocity * time_step;
    if (step < thermostat.until) {
      by = velocity * (time_step / T(2));
      const auto normal = electrolyte_normal<T>(thermostat.seed, electrolyte_use::thermostat, step, ion);
      velocity = velocity * thermostat.kept + normal * (thermostat.noise / std::sqrt(mass));
      by += velocity * (time_step / T(2));
    }
    if (!(squared_norm(by) <= farthest * farthest)) {  // also true for NaN
      words.fault.raise(step + 1, ion);
      velocity = by = vec<T, 3>{};
    }
    ions.velocities[i] = velocity;
    ions.positions[i] = domain.wrap(ions.positions[i] + by);
  }
};

/// The second half of a step: uses the forces at the new positions.
template <typename T>
struct electrolyte_kick {
  electrolyte_ions<T> ions;
  T time_step;
  step_words words;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (!kick(i)) words.fault.raise(*words.next, static_cast<particle_id>(i));
  }
  /// Returns whether the velocity is finite.
  [[nodiscard]] QUADRAT_HD bool kick(std::size_t i) const {
    const vec<T, 3> velocity = ions.velocities[i] + ions.force(i) * (time_step / (T(2) * ions.masses[i]));
    ions.velocities[i] = velocity;
    return is_finite(velocity);
  }
};

/// Wraps positions that the host has given into the box.
template <typename T>
struct electrolyte_wrap {
  vec<T, 3>* positions;
  box<T, 3> domain;
  QUADRAT_HD void operator()(std::size_t i) const { positions[i] = domain.wrap(positions[i]); }
};

template <typename T>
struct electrolyte_force {
  electrolyte_ions<T> ions;
  vec<T, 3>* forces;
  QUADRAT_HD void operator()(std::size_t i) const { forces[i] = ions.force(i); }
};

/// An ion's contribution to twice the kinetic energy, the momentum (3), the energy of repulsion, and its virial.
using electrolyte_sums = vec<double, 6>;
template <typename T>
struct electrolyte_share {
  electrolyte_ions<T> ions;

  QUADRAT_HD electrolyte_sums operator()(std::size_t i) const {
    const auto mass = static_cast<double>(ions.masses[i]);
    const vec<double, 3> v = cast<double>(ions.velocities[i]);
    return {mass * squared_norm(v),
            mass * v[0],
            mass * v[1],
            mass * v[2],
            static_cast<double>(ions.repulsion[i].energy),
            static_cast<double>(ions.repulsion[i].virial)};
  }
};

}  // namespace quadrat::detail
