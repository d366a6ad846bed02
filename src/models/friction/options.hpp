// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "quadrat/core/error.hpp"
#include "quadrat/models/granular_friction.hpp"

namespace quadrat::detail {

/// The options with defaults filled in. Throws argument_error for impossible options.
[[nodiscard]] granular_friction_options completed(granular_friction_options options, std::span<const double> radii);

/// The error of a run that has blown up in this step, from 1.
[[nodiscard]] data_error friction_blow_up(std::uint64_t step, std::uint64_t grain);

/// b of granular_friction.hpp, and b_n. The restitution must be valid.
[[nodiscard]] double damping_ratio(double restitution);
[[nodiscard]] double normal_damping_ratio(const granular_friction_options& options);

/// The distance of a sphere's center from a wall, negative behind it; infinite for a wall with an opening, which has
/// two sides. `normal` must be a unit vector.
[[nodiscard]] double height_before(const granular_wall& wall, const vec<double, 3>& position);

}  // namespace quadrat::detail
