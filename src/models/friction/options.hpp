// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "quadrat/models/granular_friction.hpp"

namespace quadrat::detail {

/// With nothing left out. Throws argument_error for what is impossible.
[[nodiscard]] granular_friction_options completed(granular_friction_options options, std::span<const double> radii);

/// b of granular_friction.hpp, and b_n. The restitution must be possible.
[[nodiscard]] double damping_ratio(double restitution);
[[nodiscard]] double normal_damping_ratio(const granular_friction_options& options);

/// How far the center of a sphere stands before a wall, behind it if negative; infinite for a wall with an opening,
/// which has no behind. `normal` of length one.
[[nodiscard]] double height_before(const granular_wall& wall, const vec<double, 3>& position);

}  // namespace quadrat::detail
