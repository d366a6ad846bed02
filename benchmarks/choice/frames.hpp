// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace quadrat::bench {

/// Positions of a simulation at one moment, in the unit square or cube.
template <int D>
using frame = std::vector<vec<double, D>>;

/// Moments of a crowd that leaves a hall by one of two doors, by the social forces of D. Helbing, I. Farkas, T. Vicsek,
/// Nature 407 (2000) 487: persons walk, gather in front of the doors, and enter anew at the far side. Simulated when
/// they are first asked for.
[[nodiscard]] const std::vector<frame<2>>& crowd_frames();

/// Moments of a column of fluid that falls, from its rest to the wave's return, by smoothed particle hydrodynamics with
/// a weakly compressible fluid (J. J. Monaghan, J. Comput. Phys. 110 (1994) 399). The same.
template <int D>
[[nodiscard]] const std::vector<frame<D>>& dam_break_frames();

/// The edge that each particle of these frames has for itself.
template <int D>
[[nodiscard]] double dam_break_spacing();

}  // namespace quadrat::bench
