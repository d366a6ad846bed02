// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/io/scene.hpp"
#include "quadrat/models/brownian.hpp"

namespace quadrat::io {

template <>
inline constexpr std::array<std::string_view, 3> names_of<brownian_start>{brownian_start_names};
template <>
inline constexpr std::array<std::string_view, 2> names_of<brownian_scheme>{brownian_scheme_names};

/// A scene of Brownian dynamics. Every member is one key of the file, in the table of the same name
/// (docs/reference/scenes.md says what each means).
struct brownian_scene {
  scene_table scene;
  struct {
    std::optional<triple> size;  ///< default: a cube that follows from the volume fraction
  } box;
  struct {
    std::int64_t count = 1000;
    double radius = 1;                      ///< hydrodynamic
    std::optional<double> volume_fraction;  ///< without box.size: 0.1
    brownian_start start = brownian_start::lattice;
    std::int64_t chain_length = 1;  ///< spheres per chain
    std::int64_t seed = 1;
  } particles;
  struct {
    double viscosity = 1;
    double temperature = 1;  ///< kT
  } fluid;
  struct {
    double time_step = 0.01;
    brownian_scheme scheme = brownian_scheme::euler_maruyama;
    triple force{0, 0, 0};  ///< on each sphere
    double repulsion = 0;
    std::optional<double> repulsion_range;  ///< default: 2 radius
    double spring = 0;
    double spring_length = 0;
  } physics;
  struct {
    std::string method = "auto";
    double accuracy = 1e-3;
  } hydrodynamics;
  run_table run{.steps = 1000};
  output_table output;
  struct : camera_table {
    double displacement = 0;  ///< at the top of the color bar; 0: from the data
  } camera;
};

/// See is_scene.
template <is_scene<brownian_scene> Scene, typename Visitor>
void visit_keys(Scene& s, Visitor&& visitor) {
  visit_scene_table(s.scene, visitor);
  visitor("box", "size", s.box.size);
  visitor("particles", "count", s.particles.count);
  visitor("particles", "radius", s.particles.radius);
  visitor("particles", "volume_fraction", s.particles.volume_fraction);
  visitor("particles", "start", s.particles.start);
  visitor("particles", "chain_length", s.particles.chain_length);
  visitor("particles", "seed", s.particles.seed);
  visitor("fluid", "viscosity", s.fluid.viscosity);
  visitor("fluid", "temperature", s.fluid.temperature);
  visitor("physics", "time_step", s.physics.time_step);
  visitor("physics", "scheme", s.physics.scheme);
  visitor("physics", "force", s.physics.force);
  visitor("physics", "repulsion", s.physics.repulsion);
  visitor("physics", "repulsion_range", s.physics.repulsion_range);
  visitor("physics", "spring", s.physics.spring);
  visitor("physics", "spring_length", s.physics.spring_length);
  visitor("hydrodynamics", "method", s.hydrodynamics.method);
  visitor("hydrodynamics", "accuracy", s.hydrodynamics.accuracy);
  visitor("run", "steps", s.run.steps);
  visit_run_table(s.run, visitor);
  visit_output_table(s.output, visitor);
  visit_camera_table(s.camera, visitor);
  visitor("camera", "displacement", s.camera.displacement);
}

/// Throws scene_error for the first invalid value.
void check(const brownian_scene& scene, const scene_places& places);

/// Fills in omitted values that follow from the rest. Call it after check.
void complete(brownian_scene& scene, const scene_places& places);

/// The options passed to the model. The scene must be completed.
[[nodiscard]] brownian_options options_of(const brownian_scene& scene);

/// The initial state of the scene.
[[nodiscard]] std::vector<vec<double, 3>> positions_of(const brownian_scene& scene);

}  // namespace quadrat::io
