// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <span>

#include "quadrat/core/vec.hpp"

/// How much of the charges' structure is in the longest waves of a cell.
namespace quadrat::detail {

/// The longest waves: of the modes up to this one along each axis.
inline constexpr int most_long_wave = 3;

[[nodiscard]] inline bool is_long_wave(double mode) { return std::fabs(mode) < most_long_wave + 0.5; }

/// The mean square of the potential of the longest waves at the charges, each weighted with its square, relative to
/// that of charges of random signs at random places. Charges count at the centers of equal boxes, [x][y][z] of a cell
/// with these vectors; `squares` are sums of squares of charges. 1 without charges, and where a box is half of the
/// cell.
[[nodiscard]] double long_wave_excess(const vec<vec<double, 3>, 3>& vectors, const vec<int, 3>& boxes,
                                      std::span<const double> charges, std::span<const double> squares);

}  // namespace quadrat::detail
