// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/io/scene.hpp"
#include "quadrat/models/electrolyte.hpp"

namespace quadrat::io {

template <>
inline constexpr std::array<std::string_view, 2> names_of<electrolyte_dynamics>{"langevin", "verlet"};

/// One entry of ions.species.
struct ion_kind {
  std::int64_t count = 0;
  double charge = 0;
  double mass = 1;
  double diameter = 1;
};

/// A scene of the electrolyte. Every member is one key of the file, in the table of the same name
/// (docs/reference/scenes.md says what each means).
struct electrolyte_scene {
  scene_table scene;
  struct {
    triple size{20, 20, 20};
  } box;
  struct {
    std::vector<ion_kind> species;  ///< default: 500 of charge 1 and 500 of charge -1
    double temperature = 1;         ///< kT
    std::int64_t seed = 1;
  } ions;
  struct {
    double coulomb_constant = 1;
    double accuracy = 1e-4;
    std::string method = "auto";
    bool background = false;
  } electrostatics;
  struct {
    electrolyte_dynamics dynamics = electrolyte_dynamics::langevin;
    double time_step = 0.005;
    double friction = 1;
    std::int64_t equilibration = 0;
    double repulsion = 1;
  } physics;
  struct : run_table {
  } run;
  output_table output;
  struct : camera_table {
    double speed = 0;  ///< at the top of the color bar; 0: from the data
  } camera;
};

/// See is_scene.
template <is_scene<electrolyte_scene> Scene, typename Visitor>
void visit_keys(Scene& s, Visitor&& visitor) {
  visit_scene_table(s.scene, visitor);
  visitor("box", "size", s.box.size);
  visitor("ions", "species", s.ions.species);
  visitor("ions", "temperature", s.ions.temperature);
  visitor("ions", "seed", s.ions.seed);
  visitor("electrostatics", "coulomb_constant", s.electrostatics.coulomb_constant);
  visitor("electrostatics", "accuracy", s.electrostatics.accuracy);
  visitor("electrostatics", "method", s.electrostatics.method);
  visitor("electrostatics", "background", s.electrostatics.background);
  visitor("physics", "dynamics", s.physics.dynamics);
  visitor("physics", "time_step", s.physics.time_step);
  visitor("physics", "friction", s.physics.friction);
  visitor("physics", "equilibration", s.physics.equilibration);
  visitor("physics", "repulsion", s.physics.repulsion);
  visitor("run", "steps", s.run.steps);
  visit_run_table(s.run, visitor);
  visit_output_table(s.output, visitor);
  visit_camera_table(s.camera, visitor);
  visitor("camera", "speed", s.camera.speed);
}

/// Throws scene_error for the first invalid value.
void check(const electrolyte_scene& scene, const scene_places& places);

/// Fills in omitted values that follow from the rest. Call it after check.
void complete(electrolyte_scene& scene, const scene_places& places);

/// The options passed to the model.
[[nodiscard]] electrolyte_options options_of(const electrolyte_scene& scene);

}  // namespace quadrat::io
