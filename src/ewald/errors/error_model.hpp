// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ewald/choice/choice.hpp"
#include "ewald/errors/mesh_error.hpp"
#include "ewald/splitting.hpp"
#include "quadrat/core/vec.hpp"

/// What predicted_errors and the search for parameters share.
namespace quadrat::detail {

/// Predictions are this much above the mean over random systems, of which single ones scatter.
inline constexpr double error_margin = 1.2;

/// The alpha of the Gaussian splitting that resembles a splitting.
[[nodiscard]] double gaussian_splitting(split_shape shape, double cutoff, double parameter);

/// The band limit of esp's window, with which the mesh is coarsest for the error that this splitting has.
[[nodiscard]] double window_band(int order, double splitting);

/// Both in units of the reference force.
[[nodiscard]] double short_range_error(const ewald_splitting& splitting, const charged_system& system);
/// The part of the mesh's error that is due to the modes above c / cutoff, which a prolate splitting leaves out: they
/// hold 4 sqrt(pi c) exp(-2c) of the energy of psi for large c (Fuchs 1964); the factor (1 - 1 / 4c) makes the error
/// right to a hundredth from c = 5 on.
[[nodiscard]] double left_out_error(double cutoff, double band, const charged_system& system);
/// `window`: nullptr for `direct`. `nodes`: as for mesh_errors.
[[nodiscard]] double mesh_error(const ewald_splitting& splitting, const split_spectrum& spectrum,
                                const window_aliases* window, const vec<int, 3>& mesh, const charged_system& system,
                                int nodes);
/// Root mean squares of a charge's half of the energies and virials of its pairs. The error of a system's energy is the
/// sum of those of its charges, so that over the number of charges it is at most this, however correlated they are.
[[nodiscard]] ewald_errors energy_errors(const ewald_splitting& splitting, const split_spectrum& spectrum,
                                         const window_aliases* window, const vec<int, 3>& mesh,
                                         const charged_system& system);

}  // namespace quadrat::detail
