// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ewald/choice/choice.hpp"
#include "ewald/errors/mesh_error.hpp"
#include "ewald/splitting.hpp"
#include "quadrat/core/vec.hpp"

/// Shared by predicted_errors and the search for parameters.
namespace quadrat::detail {

/// Predictions exceed the mean over random systems by this factor, because single systems scatter.
inline constexpr double error_margin = 1.2;

/// The alpha of the Gaussian splitting most similar to a splitting.
[[nodiscard]] double gaussian_splitting(split_shape shape, double cutoff, double parameter);

/// The band limit of esp's window that allows the coarsest mesh at the error of this splitting.
[[nodiscard]] double window_band(int order, double splitting);

/// Both in units of the reference force.
[[nodiscard]] double short_range_error(const ewald_splitting& splitting, const charged_system& system);
/// The part of the mesh's error due to the modes above c / cutoff, which a prolate splitting omits: they hold 4 sqrt(pi
/// c) exp(-2c) of the energy of psi for large c (Fuchs 1964); the factor (1 - 1 / 4c) makes the error right to a
/// hundredth from c = 5 on.
[[nodiscard]] double left_out_error(double cutoff, double band, const charged_system& system);
/// `window`: nullptr for `direct`. `nodes`: as for mesh_errors.
[[nodiscard]] double mesh_error(const ewald_splitting& splitting, const split_spectrum& spectrum,
                                const window_aliases* window, const vec<int, 3>& mesh, const charged_system& system,
                                int nodes);
/// Root mean squares of a charge's half of the energies and virials of its pairs. The error of a system's energy is the
/// sum over its charges. Per charge it is at most this, however correlated they are.
[[nodiscard]] ewald_errors energy_errors(const ewald_splitting& splitting, const split_spectrum& spectrum,
                                         const window_aliases* window, const vec<int, 3>& mesh,
                                         const charged_system& system);

}  // namespace quadrat::detail
