// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "quadrat/io/granular_scene.hpp"
#include "quadrat/models/granular_friction.hpp"

namespace quadrat::io {

template <>
inline constexpr std::array<std::string_view, 2> names_of<contact_damping> = contact_damping_names;
template <>
inline constexpr std::array<std::string_view, 2> names_of<rolling_resistance> = rolling_resistance_names;

/// A wall, with the name of its material; empty: the first.
struct scene_wall : granular_wall {
  std::string material_name{};
};

/// A wall of triangles from a file in the format STL or OBJ. Its vertices are scaled, turned, then moved.
struct scene_mesh {
  std::string file{};                     ///< in a scene that has been read, from the current folder
  std::optional<std::string> material{};  ///< default: the first
  std::optional<double> scale{};
  std::optional<triple> rotate{};  ///< degrees about the axes x, then y, then z of space
  std::optional<triple> translate{};
};

/// A material by name. What is left out is as in [physics].
struct scene_material {
  std::string name{};
  std::optional<double> density{};
  std::optional<double> young_modulus{};
  std::optional<double> poisson_ratio{};
  std::optional<double> normal_spring{};
  std::optional<double> tangential_spring{};
  std::optional<double> restitution{};
  std::optional<double> friction{};
  std::optional<double> rolling_friction{};
  std::optional<double> rolling_damping{};
  std::optional<double> twisting_friction{};
  std::optional<double> cohesion{};
};

/// Values of contacts between two materials. What is left out is a geometric mean.
struct scene_material_pair : granular_material_pair {
  std::vector<std::string> between{};  ///< two names
};

/// Elements of arrays of tables. `visit_members(record, visitor)` calls `visitor(key, member)` for all keys.
template <typename T>
concept scene_record =
    std::is_same_v<T, scene_material> || std::is_same_v<T, scene_material_pair> || std::is_same_v<T, scene_mesh>;

/// What materials and pairs have.
template <typename Record, typename Visitor>
void visit_contact_members(Record& r, Visitor&& visitor) {
  visitor("restitution", r.restitution);
  visitor("friction", r.friction);
  visitor("rolling_friction", r.rolling_friction);
  visitor("rolling_damping", r.rolling_damping);
  visitor("twisting_friction", r.twisting_friction);
  visitor("cohesion", r.cohesion);
}
template <is_scene<scene_material> Material, typename Visitor>
void visit_members(Material& m, Visitor&& visitor) {
  visitor("name", m.name);
  visitor("density", m.density);
  visitor("young_modulus", m.young_modulus);
  visitor("poisson_ratio", m.poisson_ratio);
  visitor("normal_spring", m.normal_spring);
  visitor("tangential_spring", m.tangential_spring);
  visit_contact_members(m, visitor);
}
template <is_scene<scene_material_pair> Pair, typename Visitor>
void visit_members(Pair& pair, Visitor&& visitor) {
  visitor("between", pair.between);
  visit_contact_members(pair, visitor);
}

template <is_scene<scene_mesh> Mesh, typename Visitor>
void visit_members(Mesh& mesh, Visitor&& visitor) {
  visitor("file", mesh.file);
  visitor("material", mesh.material);
  visitor("scale", mesh.scale);
  visitor("rotate", mesh.rotate);
  visitor("translate", mesh.translate);
}

/// A scene of the granular model with the law "hertz" or "linear": grains with friction, in SI units. Every member is
/// one key of the file, in the table of the same name (docs/reference/scenes.md says what each means).
struct friction_scene {
  scene_table scene;
  struct {
    triple lower{0, 0, 0};
    triple upper{0.2, 0.2, 0.2};
    std::optional<std::string> material;  ///< of the faces; default: the first
    std::vector<scene_wall> walls;        ///< in addition to the faces of the box
    std::optional<std::vector<scene_mesh>> meshes;
  } box;
  struct {
    std::int64_t count = 2000;
    double radius = 0.005;                  ///< of the largest grains
    std::optional<double> smallest_radius;  ///< default: all equal
    std::optional<triple> lower;            ///< of the region where grains start; default: the box
    std::optional<triple> upper;
    double jitter = 0.1;  ///< of the largest radius
    std::int64_t seed = 1;
    std::optional<std::vector<std::string>> material;  ///< each grain draws one of these names; default: the first
  } particles;
  struct {
    granular_force_law law = granular_force_law::hertz;
    std::optional<double> time_step;  ///< default: the model's choice
    triple gravity{0, -9.81, 0};
    double density = granular_material{}.density;
    std::optional<double> young_modulus;      ///< Hertz only
    std::optional<double> poisson_ratio;      ///< Hertz only
    std::optional<double> normal_spring;      ///< linear only
    std::optional<double> tangential_spring;  ///< linear only
    double restitution = granular_material{}.restitution;
    contact_damping damping = contact_damping::exact;
    double friction = granular_material{}.friction;
    double rolling_friction = granular_material{}.rolling_friction;
    std::optional<rolling_resistance> rolling;  ///< default: constant
    std::optional<double> rolling_damping;
    std::optional<double> twisting_friction;
    std::optional<double> cohesion;
    std::optional<std::vector<scene_material>> materials;
    std::optional<std::vector<scene_material_pair>> material_pairs;
  } physics;
  run_table run{.steps = 10000};
  output_table output;
  struct : camera_table {
    double speed = 0;  ///< m/s at the top of the color bar; 0: from the data
  } camera;
};

/// See is_scene.
template <is_scene<friction_scene> Scene, typename Visitor>
void visit_keys(Scene& s, Visitor&& visitor) {
  visit_scene_table(s.scene, visitor);
  visitor("box", "lower", s.box.lower);
  visitor("box", "upper", s.box.upper);
  visitor("box", "material", s.box.material);
  visitor("box", "walls", s.box.walls);
  visitor("box", "meshes", s.box.meshes);
  visitor("particles", "count", s.particles.count);
  visitor("particles", "radius", s.particles.radius);
  visitor("particles", "smallest_radius", s.particles.smallest_radius);
  visitor("particles", "lower", s.particles.lower);
  visitor("particles", "upper", s.particles.upper);
  visitor("particles", "jitter", s.particles.jitter);
  visitor("particles", "seed", s.particles.seed);
  visitor("particles", "material", s.particles.material);
  visitor("physics", "law", s.physics.law);
  visitor("physics", "time_step", s.physics.time_step);
  visitor("physics", "gravity", s.physics.gravity);
  visitor("physics", "density", s.physics.density);
  visitor("physics", "young_modulus", s.physics.young_modulus);
  visitor("physics", "poisson_ratio", s.physics.poisson_ratio);
  visitor("physics", "normal_spring", s.physics.normal_spring);
  visitor("physics", "tangential_spring", s.physics.tangential_spring);
  visitor("physics", "restitution", s.physics.restitution);
  visitor("physics", "damping", s.physics.damping);
  visitor("physics", "friction", s.physics.friction);
  visitor("physics", "rolling_friction", s.physics.rolling_friction);
  visitor("physics", "rolling", s.physics.rolling);
  visitor("physics", "rolling_damping", s.physics.rolling_damping);
  visitor("physics", "twisting_friction", s.physics.twisting_friction);
  visitor("physics", "cohesion", s.physics.cohesion);
  visitor("physics", "materials", s.physics.materials);
  visitor("physics", "material_pairs", s.physics.material_pairs);
  visitor("run", "steps", s.run.steps);
  visit_run_table(s.run, visitor);
  visit_output_table(s.output, visitor);
  visit_camera_table(s.camera, visitor);
  visitor("camera", "speed", s.camera.speed);
}

/// Throws scene_error for the first invalid value.
void check(const friction_scene& scene, const scene_places& places);

/// Fills in what was left out. Call it after check.
void complete(friction_scene& scene, const scene_places& places);

/// The options passed to the model. Reads the files of meshes; throws io_error as read_triangle_mesh.
[[nodiscard]] granular_friction_options options_of(const friction_scene& scene);
[[nodiscard]] granular_fill fill_of(const friction_scene& scene);

}  // namespace quadrat::io
