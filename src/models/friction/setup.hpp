// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "models/friction/force.hpp"
#include "models/friction/options.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/models/granular_friction.hpp"

namespace quadrat::detail {

/// The constants of a run, in its precision.
template <typename T>
struct friction_setup {
  friction_law<T> law;
  std::vector<friction_wall<T>> walls;
  std::vector<T> radii;  ///< by particle
  box<T, 3> domain;
  vec<T, 3> gravity;
  T largest_radius;
  T skin;
};

[[nodiscard]] inline vec<double, 3> to_vec(const std::array<double, 3>& a) { return {a[0], a[1], a[2]}; }

template <typename T>
[[nodiscard]] friction_law<T> make_friction_law(const granular_friction_options& options) {
  const granular_material& m = options.material;
  const bool hertz = options.stiffness == contact_stiffness::hertz;
  const double nu = m.poisson_ratio;
  const double normal = hertz ? m.young_modulus / (1 - nu * nu) : m.normal_spring;
  const double tangential = hertz ? 2 * m.young_modulus / ((2 - nu) * (1 + nu)) : m.tangential_spring;
  const double damping = 2 * (hertz ? std::sqrt(5.0 / 6) : 1.0);
  friction_law<T> law{};
  law.hertz = hertz;
  law.attraction = options.attraction;
  law.normal_stiffness = static_cast<T>(normal);
  law.elastic_share = static_cast<T>(hertz ? 2.0 / 3 : 1.0);
  law.energy_share = static_cast<T>(hertz ? 4.0 / 15 : 0.5);
  law.tangential_stiffness = static_cast<T>(tangential);
  law.normal_damping = static_cast<T>(damping * normal_damping_ratio(options));
  law.tangential_damping = static_cast<T>(damping * damping_ratio(m.restitution) * std::sqrt(tangential / normal));
  law.friction = static_cast<T>(m.friction);
  law.rolling_friction = static_cast<T>(m.rolling_friction);
  law.time_step = static_cast<T>(options.time_step);
  law.density_factor = static_cast<T>(4.0 / 3 * std::numbers::pi * m.density);
  return law;
}

template <typename T>
[[nodiscard]] friction_wall<T> make_friction_wall(const granular_wall& wall) {
  friction_wall<T> result{};
  result.normal = cast<T>(to_vec(wall.normal));
  result.offset = static_cast<T>(dot(to_vec(wall.normal), to_vec(wall.point)));
  if (wall.opening) {
    result.center = cast<T>(to_vec(wall.opening->center));
    result.opening = static_cast<T>(wall.opening->radius);
  }
  return result;
}

template <typename T>
[[nodiscard]] friction_setup<T> make_friction_setup(const granular_friction_options& options,
                                                    std::span<const double> radii) {
  friction_setup<T> setup{};
  setup.law = make_friction_law<T>(options);
  for (const granular_wall& wall : options.walls) setup.walls.push_back(make_friction_wall<T>(wall));
  setup.domain = make_box(cast<T>(to_vec(options.lower)), cast<T>(to_vec(options.upper)), vec<bool, 3>::filled(false));
  setup.gravity = cast<T>(to_vec(options.gravity));
  setup.skin = static_cast<T>(options.skin);
  for (std::size_t i = 0; i < radii.size(); ++i) {
    const T radius = static_cast<T>(radii[i]);
    const T lightness = setup.law.inverse_inertia(radius);
    require(lightness > T(0) && std::isfinite(lightness), "the radius of grain ", i, " is ", radii[i], "; numbers of ",
            sizeof(T), " bytes cannot hold the moment of inertia of such a grain");
    setup.radii.push_back(radius);
  }
  setup.largest_radius = radii.empty() ? setup.skin : *std::max_element(setup.radii.begin(), setup.radii.end());
  return setup;
}

}  // namespace quadrat::detail
