// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// Non-uniform Fourier transforms of types 1, 2 and 3, by modes, tolerance, kind of values and precision: the transform
/// with points set, setting them, and both. Points are uniform in [-pi, pi), in random memory order; targets of type 3
/// in [-modes/2, modes/2).
void run_nufft_1d(const session& s);
void run_nufft_2d(const session& s);
void run_nufft_3d(const session& s);

/// Fast Fourier transforms of a mesh to its modes by every library that is found, by dimension, mesh, precision, kind
/// of values, and for all modes or half of them along each axis.
void run_fft(const session& s);

/// Power spectra of uniform points, from positions to bins on the host, with one mesh and interlaced.
void run_power_spectrum(const session& s);

}  // namespace quadrat::bench
