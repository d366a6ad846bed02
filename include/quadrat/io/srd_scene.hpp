// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "quadrat/io/scene.hpp"
#include "quadrat/models/srd.hpp"

namespace quadrat::io {

/// The boundary condition along an axis of the box.
enum class srd_boundary { periodic, wall };
/// How the fluid moves at step 0.
enum class srd_start_state { thermal, shear_wave };
/// The axis of a profile.
enum class profile_axis { x, y, z, none };

template <>
inline constexpr std::array<std::string_view, 2> names_of<srd_boundary>{"periodic", "wall"};
template <>
inline constexpr std::array<std::string_view, 2> names_of<srd_start_state>{"thermal", "shear_wave"};
template <>
inline constexpr std::array<std::string_view, 4> names_of<profile_axis>{"x", "y", "z", "none"};
template <>
inline constexpr std::array<std::string_view, 3> names_of<srd_sums>{srd_sums_names};

/// A scene of the SRD fluid. Every member is one key of the file, in the table of the same name
/// (docs/reference/scenes.md says what each means). In two dimensions the z components are not used: cells has 1 there,
/// vectors have 0.
struct srd_scene {
  scene_table scene;
  struct {
    std::int64_t dimension = 3;
    std::optional<int_triple> cells;  ///< default: 20 along each axis
    double cell_edge = 1;
    std::array<srd_boundary, 3> boundaries{};
  } box;
  struct {
    std::optional<triple> lower_x, upper_x, lower_y, upper_y, lower_z, upper_z;

    /// The lower (0) or the upper (1) wall of an axis.
    [[nodiscard]] const std::optional<triple>& of(int axis, int side) const {
      const std::array<const std::optional<triple>*, 6> all{&lower_x, &upper_x, &lower_y, &upper_y, &lower_z, &upper_z};
      return *all[2 * static_cast<std::size_t>(axis) + static_cast<std::size_t>(side)];
    }
  } wall_velocity;
  struct {
    std::optional<std::int64_t> count;  ///< default: per_cell times the number of cells
    std::optional<double> per_cell;     ///< without count: 10
    double mass = 1;
    double temperature = 1;  ///< kT
    srd_start_state start = srd_start_state::thermal;
    std::optional<double> amplitude;  ///< of the shear wave; default: half of sqrt(kT / m)
    std::int64_t seed = 1;
  } particles;
  struct {
    std::int64_t count = 0;
    std::optional<double> mass;  ///< of each; default: that of the fluid in a cell
  } solutes;
  struct {
    double time_step = 0.1;
    double angle = 130;  ///< degrees
    bool thermostat = true;
    triple acceleration{0, 0, 0};
  } physics;
  struct {
    std::int64_t every = 10;  ///< steps between two samples
    profile_axis profile = profile_axis::none;
    std::optional<std::int64_t> bins;  ///< default: as many as cells along the axis
    std::int64_t from = 0;             ///< the first step that enters the profile
    std::optional<std::int64_t> to;    ///< the last; default: that of the run
  } measure;
  struct : run_table {
    std::int64_t sort_every = 0;  ///< 0: the model's choice
    srd_sums sums = srd_sums::automatic;
  } run;
  output_table output;
  struct : camera_table {
    double speed = 0;  ///< at the top of the color bar; 0: from the data
  } camera;
};

/// See is_scene.
template <is_scene<srd_scene> Scene, typename Visitor>
void visit_keys(Scene& s, Visitor&& visitor) {
  visit_scene_table(s.scene, visitor);
  visitor("box", "dimension", s.box.dimension);
  visitor("box", "cells", s.box.cells);
  visitor("box", "cell_edge", s.box.cell_edge);
  visitor("box", "boundaries", s.box.boundaries);
  visitor("wall_velocity", "lower_x", s.wall_velocity.lower_x);
  visitor("wall_velocity", "upper_x", s.wall_velocity.upper_x);
  visitor("wall_velocity", "lower_y", s.wall_velocity.lower_y);
  visitor("wall_velocity", "upper_y", s.wall_velocity.upper_y);
  visitor("wall_velocity", "lower_z", s.wall_velocity.lower_z);
  visitor("wall_velocity", "upper_z", s.wall_velocity.upper_z);
  visitor("particles", "count", s.particles.count);
  visitor("particles", "per_cell", s.particles.per_cell);
  visitor("particles", "mass", s.particles.mass);
  visitor("particles", "temperature", s.particles.temperature);
  visitor("particles", "start", s.particles.start);
  visitor("particles", "amplitude", s.particles.amplitude);
  visitor("particles", "seed", s.particles.seed);
  visitor("solutes", "count", s.solutes.count);
  visitor("solutes", "mass", s.solutes.mass);
  visitor("physics", "time_step", s.physics.time_step);
  visitor("physics", "angle", s.physics.angle);
  visitor("physics", "thermostat", s.physics.thermostat);
  visitor("physics", "acceleration", s.physics.acceleration);
  visitor("measure", "every", s.measure.every);
  visitor("measure", "profile", s.measure.profile);
  visitor("measure", "bins", s.measure.bins);
  visitor("measure", "from", s.measure.from);
  visitor("measure", "to", s.measure.to);
  visitor("run", "steps", s.run.steps);
  visit_run_table(s.run, visitor);
  visitor("run", "sort_every", s.run.sort_every);
  visitor("run", "sums", s.run.sums);
  visit_output_table(s.output, visitor);
  visit_camera_table(s.camera, visitor);
  visitor("camera", "speed", s.camera.speed);
}

/// Throws scene_error for the first invalid value.
void check(const srd_scene& scene, const scene_places& places);

/// Fills in omitted values that follow from the rest. Call it after check.
void complete(srd_scene& scene, const scene_places& places);

/// The options passed to the model. D must be the scene's dimension, and the scene must be completed.
template <int D>
[[nodiscard]] srd_options<D> options_of(const srd_scene& scene);

/// The initial state of the scene.
template <int D>
[[nodiscard]] srd_particles<D> particles_of(const srd_scene& scene);

}  // namespace quadrat::io
