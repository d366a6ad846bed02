// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace quadrat::bench {

/// Positions of a simulation at one time, in the unit square or cube.
template <int D>
using frame = std::vector<vec<double, D>>;

/// Frames of a crowd that leaves a hall by one of two doors, by the social-force model of D. Helbing, I. Farkas, T.
/// Vicsek, Nature 407 (2000) 487: persons walk, gather in front of the doors, and enter again at the far side.
/// Simulated on first use.
[[nodiscard]] const std::vector<frame<2>>& crowd_frames();

/// Frames of a falling column of fluid, from rest to the wave's return, by smoothed particle hydrodynamics with a
/// weakly compressible fluid (J. J. Monaghan, J. Comput. Phys. 110 (1994) 399). Simulated on first use.
template <int D>
[[nodiscard]] const std::vector<frame<D>>& dam_break_frames();

/// The edge of the mean volume per particle in these frames.
template <int D>
[[nodiscard]] double dam_break_spacing();

}  // namespace quadrat::bench
