// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

/// The fluid of models/srd in 3D, alpha = 130 degrees, 10 particles per cell, with the thermostat, unless a row says
/// otherwise. The method is the kind of sums over cells. Steps are timed in the steady state, many at once, sorting
/// included. `floor_ms` is one read and one write of positions and velocities at the speed of copies.

namespace quadrat::bench {

/// The step by precision, kind of sums and time step.
void run_srd_step(const session& s);
/// The step as a function of the number of steps between two sorts.
void run_srd_sort_every(const session& s);
/// Viscosities from the decay of shear waves, against theory and reference values.
void run_srd_viscosity(const session& s);
/// The same in 2D by wavelength, against theory and the additional long-time tails.
void run_srd_tails(const session& s);
/// The profile of a flow between plates, against its parabola.
void run_srd_poiseuille(const session& s);

}  // namespace quadrat::bench
