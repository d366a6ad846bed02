// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// Circles, sine form: the whole step at one and at four agents per unit volume, for every order and cell list.
void run_circles_step(const session& s);
/// The paper's experiment: the time of a step during a run of the original form, and the spread of neighbor counts, for
/// several densities and force modifiers in 2D and 3D.
void run_circles_experiment(const session& s);
/// The original form as a function of box width and radius.
void run_original_sweeps(const session& s);
/// The sine form as a function of volume, density and reach.
void run_sine_sweeps(const session& s);
/// Counting the neighbors of every point, including the build, for every order and cell list.
void run_visit(const session& s);

}  // namespace quadrat::bench
