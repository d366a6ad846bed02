// SPDX-License-Identifier: BSD-3-Clause
#include "models/friction/options.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <utility>

#include "models/parameter_checks.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

using triple = std::array<double, 3>;

void require_all_finite(const char* name, const triple& values) {
  for (const double value : values) detail::require_finite(name, value);
}

/// What a material and a pair of materials have. `whose`: " of material 2", for messages.
void check_contact(double restitution, std::initializer_list<std::pair<const char*, double>> not_negative,
                   const std::string& whose) {
  require(restitution > 0 && restitution <= 1, "the restitution", whose, " is ", restitution,
          "; it must be above 0 and at most 1");
  for (const auto& [name, value] : not_negative) detail::require_not_negative((name + whose).c_str(), value);
}

void check_material(const granular_material& m, const std::string& whose) {
  const auto positive = [&](const char* name, double value) {
    detail::require_positive((name + whose).c_str(), value);
  };
  positive("density", m.density);
  positive("Young's modulus", m.young_modulus);
  require(m.poisson_ratio > -1 && m.poisson_ratio <= 0.5, "Poisson's ratio", whose, " is ", m.poisson_ratio,
          "; it must be above -1 and at most 0.5");
  positive("normal spring", m.normal_spring);
  positive("tangential spring", m.tangential_spring);
  check_contact(m.restitution,
                {{"friction", m.friction},
                 {"rolling friction", m.rolling_friction},
                 {"rolling damping", m.rolling_damping},
                 {"twisting friction", m.twisting_friction},
                 {"cohesion", m.cohesion}},
                whose);
}

void check_pairs(const granular_friction_options& options) {
  const std::size_t count = detail::count_of_materials(options);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const granular_material_pair& pair : options.material_pairs) {
    const std::string name = message("materials ", pair.first, " and ", pair.second);
    require(pair.first < count && pair.second < count, "a pair is of ", name, "; there are ", count,
            " materials, from 0");
    require(seen.insert(std::minmax(pair.first, pair.second)).second, "the pair of ", name, " is there twice");
    check_contact(pair.restitution.value_or(1),
                  {{"friction", pair.friction.value_or(0)},
                   {"rolling friction", pair.rolling_friction.value_or(0)},
                   {"rolling damping", pair.rolling_damping.value_or(0)},
                   {"twisting friction", pair.twisting_friction.value_or(0)},
                   {"cohesion", pair.cohesion.value_or(0)}},
                  " of " + name);
  }
}

void check_materials(const granular_friction_options& options) {
  const std::size_t count = detail::count_of_materials(options);
  require(count <= most_granular_materials, "there are ", count, " materials; at most ", most_granular_materials,
          " are possible");
  for (std::size_t k = 0; k < count; ++k) {
    check_material(detail::material_of(options, k), count > 1 ? message(" of material ", k) : std::string());
  }
  check_pairs(options);
}

// Means of two equal values are that value, in all its bits.
[[nodiscard]] double harmonic_mean(double a, double b) { return a * (2 * b / (a + b)); }
[[nodiscard]] double geometric_mean(double a, double b) { return a == b ? a : std::sqrt(a) * std::sqrt(b); }

/// Contacts of two bodies of one material: 2 E* and 8 G*, or the springs.
[[nodiscard]] std::pair<double, double> stiffness_of(const granular_material& m, contact_stiffness law) {
  if (law == contact_stiffness::linear) return {m.normal_spring, m.tangential_spring};
  const double nu = m.poisson_ratio;
  return {m.young_modulus / (1 - nu * nu), 2 * m.young_modulus / ((2 - nu) * (1 + nu))};
}

[[nodiscard]] detail::contact_constants constants_between(const granular_material& a, const granular_material& b,
                                                          contact_stiffness law) {
  const auto [normal_a, tangential_a] = stiffness_of(a, law);
  const auto [normal_b, tangential_b] = stiffness_of(b, law);
  return {harmonic_mean(normal_a, normal_b),
          harmonic_mean(tangential_a, tangential_b),
          geometric_mean(a.restitution, b.restitution),
          geometric_mean(a.friction, b.friction),
          geometric_mean(a.rolling_friction, b.rolling_friction),
          geometric_mean(a.rolling_damping, b.rolling_damping),
          geometric_mean(a.twisting_friction, b.twisting_friction),
          geometric_mean(a.cohesion, b.cohesion)};
}

void replace(detail::contact_constants& values, const granular_material_pair& given) {
  values.restitution = given.restitution.value_or(values.restitution);
  values.friction = given.friction.value_or(values.friction);
  values.rolling_friction = given.rolling_friction.value_or(values.rolling_friction);
  values.rolling_damping = given.rolling_damping.value_or(values.rolling_damping);
  values.twisting_friction = given.twisting_friction.value_or(values.twisting_friction);
  values.cohesion = given.cohesion.value_or(values.cohesion);
}

/// The longest time step for contacts of this material, without damping.
[[nodiscard]] double rayleigh_time(const granular_material& m, double radius) {
  const double shear_modulus = m.young_modulus / (2 + 2 * m.poisson_ratio);
  return std::numbers::pi * radius * std::sqrt(m.density / shear_modulus) / (0.1631 * m.poisson_ratio + 0.8766);
}
[[nodiscard]] double spring_time(double density, const detail::contact_constants& springs, double radius) {
  const double mass = 4.0 / 3 * std::numbers::pi * density * std::pow(radius, 3);
  const double stiffer = std::max(springs.normal_stiffness, springs.tangential_stiffness);
  return std::numbers::pi * std::sqrt(mass / 2 / stiffer) / 5;
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

std::vector<detail::contact_constants> detail::constants_of_contacts(const granular_friction_options& options) {
  const std::size_t count = count_of_materials(options);
  std::vector<contact_constants> all(count * count);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a; b < count; ++b) {
      all[a * count + b] = all[b * count + a] =
          constants_between(material_of(options, a), material_of(options, b), options.stiffness);
    }
  }
  for (const granular_material_pair& pair : options.material_pairs) {
    replace(all[pair.first * count + pair.second], pair);
    all[pair.second * count + pair.first] = all[pair.first * count + pair.second];
  }
  return all;
}

double detail::normal_damping_ratio(const granular_friction_options& options, double e) {
  // If forces do not pull, b_n lies between b and this bound, for any e.
  double low = damping_ratio(e), high = 1 + 1 / std::sqrt(e);
  if (options.attraction || options.damping == contact_damping::formula) return low;
  for (double middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2) {
    (clipped_restitution(middle) > e ? low : high) = middle;
  }
  return low;
}

double longest_granular_time_step(const granular_friction_options& options, double smallest_radius) {
  check_materials(options);
  detail::require_positive("radius", smallest_radius);
  const std::vector<detail::contact_constants> contacts = detail::constants_of_contacts(options);
  const std::size_t count = detail::count_of_materials(options);
  double longest = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a; b < count; ++b) {
      const detail::contact_constants& contact = contacts[a * count + b];
      const granular_material& one = detail::material_of(options, a);
      const granular_material& other = detail::material_of(options, b);
      const double time = options.stiffness == contact_stiffness::linear
                              ? spring_time(std::min(one.density, other.density), contact, smallest_radius)
                              : std::min(rayleigh_time(one, smallest_radius), rayleigh_time(other, smallest_radius));
      longest = std::min(longest, time / std::max(1.0, detail::normal_damping_ratio(options, contact.restitution)));
    }
  }
  return longest;
}

granular_friction_options detail::completed(granular_friction_options options, std::span<const double> radii) {
  check_materials(options);
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
    require(options.walls[k].material < count_of_materials(options), "wall ", k, " is of material ",
            options.walls[k].material, "; there are ", count_of_materials(options), " materials, from 0");
    options.walls[k] = checked_wall(options.walls[k], k, largest);
  }
  for (std::size_t k = 0; k < options.meshes.size(); ++k) {
    require(options.meshes[k].material < count_of_materials(options), "mesh ", k, " is of material ",
            options.meshes[k].material, "; there are ", count_of_materials(options), " materials, from 0");
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
