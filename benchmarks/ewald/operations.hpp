// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// Energy and forces of charges at new positions. Errors are of forces, measured against a sum in double precision and
/// relative to the root mean square force.
void run_reciprocal(const session& s);      ///< the mesh part alone, charges at random places
void run_electrostatics(const session& s);  ///< everything, for boxes of water
void run_lattice(const session& s);         ///< everything, for alternating charges on a jittered lattice
void run_small_systems(const session& s);   ///< many small systems in one call
void run_equal_errors(const session& s);    ///< every method with a mesh, at equal measured errors

}  // namespace quadrat::bench
