// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "models/circles/engine.hpp"
#include "models/parameter_checks.hpp"
#include "models/random.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/circles.hpp"

namespace quadrat {

circles_parameters circles_defaults(circles_form form) {
  circles_parameters parameters;
  parameters.form = form;
  if (form == circles_form::original) parameters.radius = 5;
  return parameters;
}

void check(const circles_parameters& parameters) {
  detail::require_positive("width", parameters.width);
  detail::require_positive("radius", parameters.radius);
  if (parameters.form == circles_form::sine) {
    detail::require_finite("force", parameters.force);
    return;
  }
  require(parameters.width > 1, "the width is ", parameters.width,
          "; it must be more than 1, since agents of the original form live in [0, W - 1]");
  detail::require_finite("repulsion", parameters.repulsion);
  detail::require_finite("attraction", parameters.attraction);
}

std::size_t circles_count(const circles_parameters& parameters, int dimension, double density) {
  detail::require_not_negative("density", density);
  double count = density;
  for (int axis = 0; axis < dimension; ++axis) count *= parameters.width;
  // 100^3 x 0.01 must not be 9,999 because 0.01 is a little less.
  count = std::floor(count * (1 + 1e-12));
  require(count <= static_cast<double>(max_count), "a density of ", density, " makes ", count, " agents; at most ",
          max_count, " are possible");
  return static_cast<std::size_t>(count);
}

void detail::throw_circles_fault(std::uint64_t fault) {
  if (fault == no_run_fault) return;
  const std::uint64_t agent = fault & 0xffffffffu;
  throw data_error(message("the run blew up in step ", fault >> 32, ": agent ", agent,
                           " got a position that is not finite; a smaller force would help"),
                   agent);
}

template <int D>
box<double, D> circles_box(const circles_parameters& parameters) {
  check(parameters);
  const bool original = parameters.form == circles_form::original;
  const double lower = original ? 0 : -parameters.width / 2;
  const double upper = original ? parameters.width - 1 : parameters.width / 2;
  return make_box(vec<double, D>::filled(lower), vec<double, D>::filled(upper), vec<bool, D>::filled(false));
}

template <int D>
std::vector<vec<double, D>> circles_initial_positions(const circles_parameters& parameters, std::size_t count,
                                                      std::uint64_t seed) {
  require(count <= max_count, "the number of agents is ", count, "; at most ", max_count, " are possible");
  const box<double, D> domain = circles_box<D>(parameters);
  std::vector<vec<double, D>> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < D; ++axis) {
      points[i][axis] = domain.lower[axis] + domain.length[axis] * detail::uniform(seed, i, axis);
    }
  }
  return points;
}

template box<double, 2> circles_box(const circles_parameters&);
template box<double, 3> circles_box(const circles_parameters&);
template std::vector<vec<double, 2>> circles_initial_positions(const circles_parameters&, std::size_t, std::uint64_t);
template std::vector<vec<double, 3>> circles_initial_positions(const circles_parameters&, std::size_t, std::uint64_t);

}  // namespace quadrat
