// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

/// The fluid of models/srd in 3D, alpha = 130 degrees, 10 particles a cell, with the thermostat, unless a row says
/// otherwise. The method is the way in which the sums of cells are added up. A step is timed in its steady state, many
/// in one go, sorting included. `floor_ms` is one read and one write of positions and velocities at the speed of
/// copies.

namespace quadrat::bench {

/// The step by precision, kind of sums and time step.
void run_srd_step(const session& s);
/// The step over the number of steps between two sortings.
void run_srd_sort_every(const session& s);
/// Viscosities from the decay of shear waves, against theory and reference values.
void run_srd_viscosity(const session& s);
/// The same in 2D by the length of the wave, against theory and the long-time tails that come on top of it.
void run_srd_tails(const session& s);
/// The profile of a flow between plates, against its parabola.
void run_srd_poiseuille(const session& s);

}  // namespace quadrat::bench
