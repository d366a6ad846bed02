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

/// Throws argument_error for options that are impossible, whatever the particles.
template <int D>
void check_srd(const srd_options<D>& options);

/// The options with defaults filled in, for this number of fluid particles. Throws argument_error for impossible
/// options.
template <int D>
[[nodiscard]] srd_options<D> completed(srd_options<D> options, std::size_t fluid, determinism level, bool on_cuda);

/// The setup of completed options. Throws argument_error for masses that are not positive and finite, and for too many
/// particles.
template <typename T, int D>
[[nodiscard]] srd_setup<T, D> make_srd_setup(const srd_options<D>& options, std::size_t fluid,
                                             std::span<const double> solute_masses);

/// The number of particles that a cell can hold with fixed-point sums.
template <int D>
[[nodiscard]] double srd_room(const srd_options<D>& options, std::size_t fluid, std::size_t particles);

/// The largest values that a particle may contribute.
struct srd_extremes {
  double velocity;  ///< of a component
  double energy;    ///< the square of such a velocity component, for energies
};

/// Bounds for the sums of a step. Energies are used by the thermostat: they are finely resolved, and clamped at 16
/// times the thermal speed.
template <typename T, int D>
[[nodiscard]] srd_extremes srd_step_extremes(const srd_setup<T, D>& setup);

/// Fixed-point sums over cells, or other parts of the box, with at most `room` particles each.
template <typename R, typename T, int D>
[[nodiscard]] srd_fixed_sums<R, D> make_fixed_sums(const srd_setup<T, D>& setup, double heaviest, double room,
                                                   const srd_extremes& most);

/// Throws argument_error if the units of a step's sums are too coarse for the lightest particle.
template <typename T, int D>
void check_fixed_sums(const srd_fixed_sums<T, D>& sums, const srd_setup<T, D>& setup, double lightest);

/// Throws data_error for the first particle with an invalid position, or with too high a speed. `kind` names a particle
/// in the message.
template <typename T, int D>
void check_particles(const srd_setup<T, D>& setup, std::span<const vec<T, D>> positions,
                     std::span<const vec<T, D>> velocities, const char* kind);

/// Throws data_error for the word of a run_fault that is set. `fastest`: that of the setup.
template <typename T>
void throw_srd_fault(std::uint64_t fault, T fastest);

}  // namespace quadrat::detail
