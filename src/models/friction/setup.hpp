// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "contacts/bodies/place.hpp"
#include "contacts/triangles/tables.hpp"
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
  std::vector<friction_law<T>> laws;  ///< of materials a and b: a * material_count + b
  std::uint32_t material_count;
  bool plain;  ///< one_material will do
  bool rolling_springs;
  std::vector<friction_wall<T>> walls;
  std::vector<std::uint32_t> wall_materials;
  triangle_tables<T> triangles;  ///< of all meshes
  std::vector<std::uint32_t> triangle_materials;
  std::vector<T> radii;                  ///< by particle
  std::vector<std::uint32_t> materials;  ///< by particle
  box<T, 3> domain;
  vec<T, 3> gravity;
  T largest_radius;
  T skin;

  [[nodiscard]] T time_step() const { return laws[0].time_step; }
  /// Of the history of a contact: those of friction_partners.
  [[nodiscard]] std::uint32_t layers() const { return rolling_springs ? 2 : 1; }
};

[[nodiscard]] inline vec<double, 3> to_vec(const std::array<double, 3>& a) { return {a[0], a[1], a[2]}; }

/// `density`: of the first material.
template <typename T>
[[nodiscard]] friction_law<T> make_friction_law(const granular_friction_options& options, const contact_constants& m,
                                                double density) {
  const bool hertz = options.stiffness == contact_stiffness::hertz;
  const double normal = m.normal_stiffness;
  const double tangential = m.tangential_stiffness;
  const double damping = 2 * (hertz ? std::sqrt(5.0 / 6) : 1.0);
  friction_law<T> law{};
  law.hertz = hertz;
  law.attraction = options.attraction;
  law.rolling_spring = options.rolling == rolling_resistance::sds;
  law.normal_stiffness = static_cast<T>(normal);
  law.elastic_share = static_cast<T>(hertz ? 2.0 / 3 : 1.0);
  law.energy_share = static_cast<T>(hertz ? 4.0 / 15 : 0.5);
  law.tangential_stiffness = static_cast<T>(tangential);
  law.normal_damping = static_cast<T>(damping * normal_damping_ratio(options, m.restitution));
  law.tangential_damping = static_cast<T>(damping * damping_ratio(m.restitution) * std::sqrt(tangential / normal));
  law.friction = static_cast<T>(m.friction);
  law.rolling_friction = static_cast<T>(m.rolling_friction);
  law.rolling_damping = static_cast<T>(2 * m.rolling_damping * std::sqrt(3.5));
  law.twisting_friction = static_cast<T>(m.twisting_friction);
  law.cohesion = static_cast<T>(2 * std::numbers::pi * m.cohesion);
  law.time_step = static_cast<T>(options.time_step);
  law.density_factor = static_cast<T>(4.0 / 3 * std::numbers::pi * density);
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
void set_laws(friction_setup<T>& setup, const granular_friction_options& options) {
  setup.material_count = static_cast<std::uint32_t>(count_of_materials(options));
  setup.rolling_springs = options.rolling == rolling_resistance::sds;
  setup.plain = setup.material_count == 1 && !setup.rolling_springs && options.meshes.empty();
  const std::vector<contact_constants> contacts = constants_of_contacts(options);
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const granular_material& first = material_of(options, k / setup.material_count);
    setup.laws.push_back(make_friction_law<T>(options, contacts[k], first.density));
    setup.plain = setup.plain && contacts[k].twisting_friction == 0 && contacts[k].cohesion == 0;
  }
}

template <typename T>
void set_meshes(friction_setup<T>& setup, std::span<const granular_mesh> meshes) {
  granular_mesh all;
  for (std::size_t k = 0; k < meshes.size(); ++k) {
    const granular_mesh& mesh = meshes[k];
    try {
      check_triangles<T>({mesh.vertices, mesh.triangles});
    } catch (const data_error& problem) {
      throw data_error(message("mesh ", k, ": ", problem.what()), problem.index().value());
    }
    const auto base = static_cast<std::uint32_t>(all.vertices.size());
    all.vertices.insert(all.vertices.end(), mesh.vertices.begin(), mesh.vertices.end());
    for (const vec<std::uint32_t, 3>& t : mesh.triangles) {
      all.triangles.push_back(t + vec<std::uint32_t, 3>::filled(base));
    }
    setup.triangle_materials.resize(all.triangles.size(), static_cast<std::uint32_t>(mesh.material));
  }
  setup.triangles = make_triangle_tables({all.vertices, all.triangles}, open_box<T>());
}

/// `materials`: by grain; empty: all 0.
template <typename T>
[[nodiscard]] friction_setup<T> make_friction_setup(const granular_friction_options& options,
                                                    std::span<const double> radii,
                                                    std::span<const std::uint32_t> materials) {
  friction_setup<T> setup{};
  set_laws(setup, options);
  for (const granular_wall& wall : options.walls) {
    setup.walls.push_back(make_friction_wall<T>(wall));
    setup.wall_materials.push_back(static_cast<std::uint32_t>(wall.material));
  }
  set_meshes(setup, options.meshes);
  setup.domain = make_box(cast<T>(to_vec(options.lower)), cast<T>(to_vec(options.upper)), vec<bool, 3>::filled(false));
  setup.gravity = cast<T>(to_vec(options.gravity));
  setup.skin = static_cast<T>(options.skin);
  for (std::size_t i = 0; i < radii.size(); ++i) {
    const T radius = static_cast<T>(radii[i]);
    const std::uint32_t material = materials.empty() ? 0 : materials[i];
    require(material < setup.material_count, "grain ", i, " is of material ", material, "; there are ",
            setup.material_count, " materials, from 0");
    const T lightness = setup.laws[material * (setup.material_count + 1)].inverse_inertia(radius);
    require(lightness > T(0) && std::isfinite(lightness), "the radius of grain ", i, " is ", radii[i], "; numbers of ",
            sizeof(T), " bytes cannot hold the moment of inertia of such a grain");
    setup.radii.push_back(radius);
    setup.materials.push_back(material);
  }
  setup.largest_radius = radii.empty() ? setup.skin : *std::max_element(setup.radii.begin(), setup.radii.end());
  return setup;
}

}  // namespace quadrat::detail
