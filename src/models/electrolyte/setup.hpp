// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/electrolyte/kernels.hpp"
#include "models/electrolyte/options.hpp"

/// The values that the electrolyte derives from its options, on one rank or several.
namespace quadrat::detail {

/// The range of the repulsion of the largest ions. It stays below half of the box despite rounding.
template <typename T>
[[nodiscard]] T reach_of_repulsion(const electrolyte_options& options) {
  const double reach = repulsion_reach * largest_diameter(options);
  return static_cast<T>(std::min(reach, 0.4999999 * std::min({options.box[0], options.box[1], options.box[2]})));
}

template <typename T>
[[nodiscard]] electrolyte_thermostat<T> thermostat_of(const electrolyte_options& options) {
  const bool always = options.dynamics == electrolyte_dynamics::langevin;
  const double kept = std::exp(-options.friction * options.time_step);
  return {always ? std::numeric_limits<std::uint64_t>::max() : options.equilibration, options.seed,
          static_cast<T>(kept), static_cast<T>(std::sqrt((1 - kept * kept) * options.temperature))};
}

[[nodiscard]] inline electrostatics_options electrolyte_sums_of(const electrolyte_options& options) {
  electrostatics_options result;
  result.method = options.method;
  result.accuracy = options.accuracy;
  result.coulomb_constant = options.coulomb_constant;
  result.remove_net_force = true;
  return result;
}

}  // namespace quadrat::detail
