// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/engine.hpp"
#include "models/parameter_checks.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat {

void check(const granular_parameters& parameters) {
  detail::require_positive("radius", parameters.radius);
  detail::require_positive("time step", parameters.time_step);
  for (const double component : parameters.gravity) detail::require_finite("gravity", component);
  detail::require_finite("spring", parameters.spring);
  detail::require_finite("damping", parameters.damping);
  detail::require_finite("shear", parameters.shear);
  detail::require_finite("attraction", parameters.attraction);
  detail::require_finite("global damping", parameters.global_damping);
  detail::require_finite("wall restitution", parameters.wall_restitution);
  if (!parameters.collider) return;
  detail::require_positive("collider radius", parameters.collider->radius);
  for (const double component : parameters.collider->center) detail::require_finite("collider center", component);
}

void detail::throw_if_blown_up(std::uint64_t word) {
  if (word == no_run_fault) return;
  const std::uint64_t grain = word & 0xffffffffu;
  throw data_error(message("the run blew up in step ", word >> 32, ": grain ", grain,
                           " got a velocity that is not finite, or crossed half of the box at once; "
                           "a smaller time step or spring, or fewer grains in the box, would help"),
                   grain);
}

}  // namespace quadrat
