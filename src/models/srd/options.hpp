// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/srd/accumulate.hpp"
#include "models/srd/setup.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/models/srd.hpp"

namespace quadrat::detail {

/// Throws argument_error for what is impossible, whatever the particles.
template <int D>
void check_srd(const srd_options<D>& options);

/// With nothing left out, for that many particles of the fluid. Throws argument_error for what is impossible.
template <int D>
[[nodiscard]] srd_options<D> completed(srd_options<D> options, std::size_t fluid, determinism level, bool on_cuda);

/// For completed options. Throws argument_error for masses that are not positive and finite, and for more particles
/// than can be.
template <typename T, int D>
[[nodiscard]] srd_setup<T, D> make_srd_setup(const srd_options<D>& options, std::size_t fluid,
                                             std::span<const double> solute_masses);

/// Particles that a cell can hold with fixed sums.
template <int D>
[[nodiscard]] double srd_room(const srd_options<D>& options, std::size_t fluid, std::size_t particles);

/// The largest that a particle may have.
struct srd_extremes {
  double velocity;  ///< of a component
  double energy;    ///< the square of such a velocity, for energies
};

/// Of a step's sums: what cannot be passed; energies are those of a thermostat, resolved well and cut off at 16 times
/// the thermal speed.
template <typename T, int D>
[[nodiscard]] srd_extremes srd_step_extremes(const srd_setup<T, D>& setup);

/// Fixed sums over cells (or other parts of the box) that hold at most `room` particles.
template <typename R, typename T, int D>
[[nodiscard]] srd_fixed_sums<R, D> make_fixed_sums(const srd_setup<T, D>& setup, double heaviest, double room,
                                                   const srd_extremes& most);

/// Throws argument_error where the units of a step's sums are coarse beside what the lightest particle adds.
template <typename T, int D>
void check_fixed_sums(const srd_fixed_sums<T, D>& sums, const srd_setup<T, D>& setup, double lightest);

/// Throws data_error for the first particle that cannot be where it is, or is too fast. `kind` is what the message
/// calls one.
template <typename T, int D>
void check_particles(const srd_setup<T, D>& setup, std::span<const vec<T, D>> positions,
                     std::span<const vec<T, D>> velocities, const char* kind);

}  // namespace quadrat::detail
