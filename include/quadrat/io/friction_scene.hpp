// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/io/granular_scene.hpp"
#include "quadrat/models/granular_friction.hpp"

namespace quadrat::io {

template <>
inline constexpr std::array<std::string_view, 2> names_of<contact_damping> = contact_damping_names;

/// A scene of the granular model with the law "hertz" or "linear": grains with friction, in SI units. Every member is
/// one key of the file, in the table of the same name (docs/reference/scenes.md says what each means).
struct friction_scene {
  scene_table scene;
  struct {
    triple lower{0, 0, 0};
    triple upper{0.2, 0.2, 0.2};
    std::vector<granular_wall> walls;  ///< in addition to the faces of the box
  } box;
  struct {
    std::int64_t count = 2000;
    double radius = 0.005;                  ///< of the largest grains
    std::optional<double> smallest_radius;  ///< default: all equal
    std::optional<triple> lower;            ///< of the region where grains start; default: the box
    std::optional<triple> upper;
    double jitter = 0.1;  ///< of the largest radius
    std::int64_t seed = 1;
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
  visitor("box", "walls", s.box.walls);
  visitor("particles", "count", s.particles.count);
  visitor("particles", "radius", s.particles.radius);
  visitor("particles", "smallest_radius", s.particles.smallest_radius);
  visitor("particles", "lower", s.particles.lower);
  visitor("particles", "upper", s.particles.upper);
  visitor("particles", "jitter", s.particles.jitter);
  visitor("particles", "seed", s.particles.seed);
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

/// The options passed to the model.
[[nodiscard]] granular_friction_options options_of(const friction_scene& scene);
[[nodiscard]] granular_fill fill_of(const friction_scene& scene);

}  // namespace quadrat::io
