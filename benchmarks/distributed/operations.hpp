// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// The ranks of this topic are threads of the program: on CUDA one for each device, 1, 2, 4, ... of them; on the CPU
/// they share out the threads.

/// The granular step with as many grains for each rank.
void run_weak_scaling(const session& s);
/// The granular step with as many grains in all.
void run_strong_scaling(const session& s);
/// The granular step with as many grains for each rank, and the same with grains that change ranks in every step.
void run_exchange(const session& s);
/// The granular step, while ghosts travel and after them.
void run_overlap(const session& s);
/// The step of the SRD fluid with as many particles in all.
void run_distributed_srd(const session& s);
/// The step of Circles with as many agents in all.
void run_distributed_circles(const session& s);
/// Energy and forces of as many charges in all.
void run_distributed_ewald(const session& s);
/// Spreading of as many points in all onto one mesh.
void run_distributed_spread(const session& s);
/// The step of Brownian dynamics with as many spheres in all.
void run_distributed_brownian(const session& s);
/// Positions of ghosts, packing included.
void run_halo(const session& s);
/// One particle of a hundred changes its rank.
void run_migration(const session& s);
/// Fourier transforms of complex meshes, in natural and in transposed order.
void run_distributed_fft(const session& s);

}  // namespace quadrat::bench
