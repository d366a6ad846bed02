// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// Velocities of spheres by their mobility, and Brownian velocities, for new positions: random spheres at a volume
/// fraction of 0.1. Errors are of products with random forces, measured against double precision.
void run_brownian_step(const session& s);
void run_brownian_methods(const session& s);  ///< the methods for the noise, at equal accuracy

}  // namespace quadrat::bench
