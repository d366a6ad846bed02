// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/srd_accumulate.hpp"
#include "models/srd_setup.hpp"
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

/// Fixed sums over cells (or other parts of the box) that hold at most `room` particles. `thermal`: energies are those
/// of a thermostat, resolved well and cut off at 16 times the thermal speed; otherwise nothing that can be is cut off.
template <typename R, typename T, int D>
[[nodiscard]] srd_fixed_sums<R, D> make_fixed_sums(const srd_setup<T, D>& setup, double heaviest, double room,
                                                   bool thermal);

/// Throws data_error for the first particle that cannot be where it is, or is too fast. `kind` is what the message
/// calls one.
template <typename T, int D>
void check_particles(const srd_setup<T, D>& setup, std::span<const vec<T, D>> positions,
                     std::span<const vec<T, D>> velocities, const char* kind);

}  // namespace quadrat::detail
