// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// Energy and forces of charges from new positions. Errors are of forces, measured against a sum in double precision,
/// relative to the root mean square force.
void run_reciprocal(const session& s);      ///< the mesh part alone, charges at random places
void run_electrostatics(const session& s);  ///< everything, for boxes of water
void run_small_systems(const session& s);   ///< many small systems in one call
void run_equal_errors(const session& s);    ///< every method with a mesh, at errors that are the same when measured

/// Velocities of spheres by their mobility, with Brownian ones, from new positions: spheres at random places at a
/// volume fraction of 0.1. Errors are of products with random forces, measured against double precision.
void run_brownian_step(const session& s);
void run_brownian_methods(const session& s);  ///< the ways to the noise, at equal accuracy

}  // namespace quadrat::bench
