// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "models/granular_engine.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat {

namespace {

void require_finite(const char* name, double value) {
  require(std::isfinite(value), "the ", name, " is ", value, "; it must be finite");
}

void require_positive(const char* name, double value) {
  require(value > 0 && std::isfinite(value), "the ", name, " is ", value, "; it must be positive and finite");
}

}  // namespace

void check(const granular_parameters& parameters) {
  require_positive("radius", parameters.radius);
  require_positive("time step", parameters.time_step);
  for (const double component : parameters.gravity) require_finite("gravity", component);
  require_finite("spring", parameters.spring);
  require_finite("damping", parameters.damping);
  require_finite("shear", parameters.shear);
  require_finite("attraction", parameters.attraction);
  require_finite("global damping", parameters.global_damping);
  require_finite("wall restitution", parameters.wall_restitution);
  if (!parameters.collider) return;
  require_positive("collider radius", parameters.collider->radius);
  for (const double component : parameters.collider->center) require_finite("collider center", component);
}

void detail::throw_if_blown_up(std::uint64_t word) {
  if (word == ~std::uint64_t{0}) return;
  throw data_error(message("the run blew up in step ", word >> 32, ": grain ", word & 0xffffffffu,
                           " got a velocity that is not finite, or crossed half of the box at once; "
                           "a smaller time step or spring, or fewer grains in the box, would help"));
}

}  // namespace quadrat
