// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// The step of the granular model at several sizes and densities, on frozen positions in the steady state.
void run_step(const session& s);
/// The step at each level of reproducibility, and in double precision.
void run_levels(const session& s);
/// The step in boxes much wider than the grains.
void run_sparse_step(const session& s);
/// The gain from a second thread (CPU only).
void run_threads(const session& s);
/// Figure 2 of the paper: updates per second over a whole simulation.
void run_simulation(const session& s);

}  // namespace quadrat::bench
