// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// The ranks of this topic are threads of the program. On CUDA each has a device: 1, 2, 4, ... of them. On the CPU they
/// divide the threads.

/// The granular step with a fixed number of grains per rank.
void run_weak_scaling(const session& s);
/// The granular step with a fixed total number of grains.
void run_strong_scaling(const session& s);
/// The granular step with a fixed number of grains per rank, and the same with grains that change ranks in every step.
void run_exchange(const session& s);
/// The granular step: the work while ghosts travel, and the work after that.
void run_overlap(const session& s);
/// The step of the SRD fluid with a fixed total number of particles.
void run_distributed_srd(const session& s);
/// The step of Circles with a fixed total number of agents.
void run_distributed_circles(const session& s);
/// Energy and forces of a fixed total number of charges.
void run_distributed_ewald(const session& s);
/// Spreading a fixed total number of points onto one mesh.
void run_distributed_spread(const session& s);
/// The step of Brownian dynamics with a fixed total number of spheres.
void run_distributed_brownian(const session& s);
/// Sending positions to ghosts, packing included.
void run_halo(const session& s);
/// Migration of one particle in a hundred.
void run_migration(const session& s);
/// Fourier transforms of complex meshes, in natural and in transposed order.
void run_distributed_fft(const session& s);
/// Non-uniform Fourier transforms of a fixed total number of points.
void run_distributed_nufft(const session& s);

}  // namespace quadrat::bench
