// SPDX-License-Identifier: BSD-3-Clause
#include "models/friction/options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "models/parameter_checks.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

using triple = std::array<double, 3>;

void require_all_finite(const char* name, const triple& values) {
  for (const double value : values) detail::require_finite(name, value);
}

void check_material(const granular_material& material) {
  detail::require_positive("density", material.density);
  detail::require_positive("Young's modulus", material.young_modulus);
  require(material.poisson_ratio > -1 && material.poisson_ratio <= 0.5, "Poisson's ratio is ", material.poisson_ratio,
          "; it must be above -1 and at most 0.5");
  require(material.restitution > 0 && material.restitution <= 1, "the restitution is ", material.restitution,
          "; it must be above 0 and at most 1");
  detail::require_not_negative("friction", material.friction);
  detail::require_not_negative("rolling friction", material.rolling_friction);
  detail::require_positive("normal spring", material.normal_spring);
  detail::require_positive("tangential spring", material.tangential_spring);
}

[[nodiscard]] double length_of(const triple& v) { return std::hypot(v[0], v[1], v[2]); }

[[nodiscard]] double dot(const triple& a, const triple& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// The wall with a unit normal, and with the center of its opening projected onto the plane.
[[nodiscard]] granular_wall checked_wall(granular_wall wall, std::size_t number, double largest_radius) {
  require_all_finite("point of a wall", wall.point);
  const double length = length_of(wall.normal);
  require(length > 0 && std::isfinite(length), "the normal of wall ", number, " is (", wall.normal[0], ", ",
          wall.normal[1], ", ", wall.normal[2], "); it must be finite and not 0");
  for (double& component : wall.normal) component /= length;
  if (!wall.opening) return wall;
  require_all_finite("center of an opening", wall.opening->center);
  require(wall.opening->radius >= largest_radius && std::isfinite(wall.opening->radius), "the opening of wall ", number,
          " has radius ", wall.opening->radius, "; it must be finite and not less than that of the largest grain, ",
          largest_radius);
  const double height = dot(wall.normal, wall.opening->center) - dot(wall.normal, wall.point);
  for (std::size_t axis = 0; axis < 3; ++axis) wall.opening->center[axis] -= height * wall.normal[axis];
  return wall;
}

/// The ratio of speeds after and before a head-on collision, for a contact that ends when its force is zero.
[[nodiscard]] double clipped_restitution(double ratio) {
  if (std::fabs(ratio - 1) < 1e-6) return std::exp(-2 * (2 * ratio + 1) / 3);  // the limit
  const double root = std::sqrt(std::fabs(1 - ratio * ratio));
  return std::exp(-2 * ratio * (ratio < 1 ? std::acos(ratio) : std::acosh(ratio)) / root);
}

[[nodiscard]] triple face_normal(std::size_t axis, double sign) {
  triple normal{};
  normal[axis] = sign;
  return normal;
}

}  // namespace

std::vector<granular_wall> walls_of_box(const triple& lower, const triple& upper) {
  std::vector<granular_wall> walls;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    walls.push_back({lower, face_normal(axis, 1)});
    walls.push_back({upper, face_normal(axis, -1)});
  }
  return walls;
}

double detail::damping_ratio(double restitution) {
  const double loss = -std::log(restitution);
  return loss / std::hypot(loss, std::numbers::pi);
}

double detail::normal_damping_ratio(const granular_friction_options& options) {
  const double e = options.material.restitution;
  // If forces do not pull, b_n lies between b and this bound, for any e.
  double low = damping_ratio(e), high = 1 + 1 / std::sqrt(e);
  if (options.attraction || options.damping == contact_damping::formula) return low;
  for (double middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2) {
    (clipped_restitution(middle) > e ? low : high) = middle;
  }
  return low;
}

double longest_granular_time_step(const granular_friction_options& options, double smallest_radius) {
  const granular_material& m = options.material;
  check_material(m);
  detail::require_positive("radius", smallest_radius);
  const double pi = std::numbers::pi;
  const double damped = std::max(1.0, detail::normal_damping_ratio(options));
  if (options.stiffness == contact_stiffness::linear) {
    const double mass = 4.0 / 3 * pi * m.density * std::pow(smallest_radius, 3);
    return pi * std::sqrt(mass / 2 / std::max(m.normal_spring, m.tangential_spring)) / 5 / damped;
  }
  const double shear_modulus = m.young_modulus / (2 + 2 * m.poisson_ratio);
  return pi * smallest_radius * std::sqrt(m.density / shear_modulus) / (0.1631 * m.poisson_ratio + 0.8766) / damped;
}

granular_friction_options detail::completed(granular_friction_options options, std::span<const double> radii) {
  check_material(options.material);
  require_all_finite("gravity", options.gravity);
  constexpr double any_radius = 1;
  if (radii.empty()) radii = std::span(&any_radius, 1);
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  double sum = 0;
  for (std::size_t i = 0; i < radii.size(); ++i) {
    require(radii[i] > 0 && std::isfinite(radii[i]), "the radius of grain ", i, " is ", radii[i],
            "; it must be positive and finite");
    smallest = std::min(smallest, radii[i]);
    largest = std::max(largest, radii[i]);
    sum += radii[i];
  }
  require(options.walls.size() <= most_granular_walls, "there are ", options.walls.size(), " walls; at most ",
          most_granular_walls, " are possible");
  for (std::size_t k = 0; k < options.walls.size(); ++k) {
    options.walls[k] = checked_wall(options.walls[k], k, largest);
  }
  const double longest = longest_granular_time_step(options, smallest);
  if (options.time_step == 0) options.time_step = longest / 10;
  require(options.time_step > 0 && options.time_step <= longest, "the time step is ", options.time_step,
          " s; it must be positive, and at most ", longest, " s for contacts of these grains to be stable");
  if (options.skin == 0) options.skin = sum / static_cast<double>(radii.size()) / 5;
  detail::require_positive("skin", options.skin);
  return options;
}

data_error detail::friction_blow_up(std::uint64_t step, std::uint64_t grain) {
  return data_error(
      message("the run blew up in step ", step, ": grain ", grain,
              " got a velocity that is not finite, moved by more than half of its radius at once, or was pushed by "
              "more than half of its radius into a wall; a smaller time step or a stiffer material would help"),
      grain);
}

double detail::height_before(const granular_wall& wall, const vec<double, 3>& position) {
  if (wall.opening) return std::numeric_limits<double>::infinity();
  return dot(wall.normal, {position[0], position[1], position[2]}) - dot(wall.normal, wall.point);
}

}  // namespace quadrat
