// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/models/granular_friction.hpp"

namespace quadrat::detail {

/// The options with defaults filled in. Throws argument_error for impossible options.
[[nodiscard]] granular_friction_options completed(granular_friction_options options, std::span<const double> radii);

/// The error of a run that has blown up in this step, from 1.
[[nodiscard]] data_error friction_blow_up(std::uint64_t step, std::uint64_t grain);

[[nodiscard]] inline std::size_t count_of_materials(const granular_friction_options& options) {
  return 1 + options.further_materials.size();
}
[[nodiscard]] inline const granular_material& material_of(const granular_friction_options& options, std::size_t k) {
  return k == 0 ? options.material : options.further_materials[k - 1];
}

/// The constants of contacts of two materials.
struct contact_constants {
  double normal_stiffness;      ///< S_n / scale
  double tangential_stiffness;  ///< S_t / scale
  double restitution;
  double friction;
  double rolling_friction;
  double rolling_damping;
  double twisting_friction;
  double cohesion;
};

/// Of materials a and b: a * count_of_materials + b. The options must be valid.
[[nodiscard]] std::vector<contact_constants> constants_of_contacts(const granular_friction_options& options);

/// b of granular_friction.hpp, and b_n. The restitution must be valid.
[[nodiscard]] double damping_ratio(double restitution);
[[nodiscard]] double normal_damping_ratio(const granular_friction_options& options, double restitution);

/// The distance of a sphere's center from a wall, negative behind it; infinite for a wall with an opening, which has
/// two sides. `normal` must be a unit vector.
[[nodiscard]] double height_before(const granular_wall& wall, const vec<double, 3>& position);

}  // namespace quadrat::detail
