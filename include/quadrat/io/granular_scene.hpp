// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "quadrat/io/scene.hpp"

namespace quadrat::io {

/// How the grains are placed at step 0.
enum class granular_start_state { lattice, left_half, uniform_random };
/// The law of the forces between grains: Green's springs, or friction over Hertz's or linear springs.
enum class granular_force_law { springs, hertz, linear };

template <>
inline constexpr std::array<std::string_view, 3> names_of<granular_start_state>{"lattice", "left_half",
                                                                                "uniform_random"};
template <>
inline constexpr std::array<std::string_view, 3> names_of<granular_force_law>{"springs", "hertz", "linear"};

/// A scene of the granular model with the law "springs": grains in a closed box. The defaults are those of Green's
/// particles model; every member is one key of the file, in the table of the same name (docs/reference/scenes.md says
/// what each means, with units).
struct granular_scene {
  scene_table scene;
  struct {
    triple lower{-1, -1, -1};
    triple upper{1, 1, 1};
  } box;
  struct {
    std::optional<int_triple> cells;  ///< default: as many as fit with edges of at least 2 radius
    std::int64_t capacity = 0;  ///< grains per cell, for methods with a fixed capacity; 0: the method's own choice
  } grid;
  struct {
    std::int64_t count = 16384;
    double radius = 1.0 / 64;
    granular_start_state start = granular_start_state::lattice;
    double jitter = 0.01;  ///< of a radius
    std::int64_t seed = 1;
  } particles;
  struct {
    granular_force_law law = granular_force_law::springs;
    double time_step = 0.5;
    triple gravity{0, -3e-4, 0};
    double spring = 0.5;
    double damping = 0.02;
    double shear = 0.1;
    double attraction = 0;
    double global_damping = 1;
    double wall_restitution = -0.5;
  } physics;
  struct {
    std::optional<triple> center;
    std::optional<double> radius;
  } collider;
  struct : run_table {
    std::string method = "auto";  ///< "auto": the program's choice for the device
    bool autotune = true;         ///< choose the method by timing steps; not in deterministic runs
  } run;
  output_table output;
  struct : camera_table {
    double speed = 0;  ///< length / time at the top of the color bar; 0: from the data
  } camera;
};

/// See is_scene.
template <is_scene<granular_scene> Scene, typename Visitor>
void visit_keys(Scene& s, Visitor&& visitor) {
  visit_scene_table(s.scene, visitor);
  visitor("box", "lower", s.box.lower);
  visitor("box", "upper", s.box.upper);
  visitor("grid", "cells", s.grid.cells);
  visitor("grid", "capacity", s.grid.capacity);
  visitor("particles", "count", s.particles.count);
  visitor("particles", "radius", s.particles.radius);
  visitor("particles", "start", s.particles.start);
  visitor("particles", "jitter", s.particles.jitter);
  visitor("particles", "seed", s.particles.seed);
  visitor("physics", "law", s.physics.law);
  visitor("physics", "time_step", s.physics.time_step);
  visitor("physics", "gravity", s.physics.gravity);
  visitor("physics", "spring", s.physics.spring);
  visitor("physics", "damping", s.physics.damping);
  visitor("physics", "shear", s.physics.shear);
  visitor("physics", "attraction", s.physics.attraction);
  visitor("physics", "global_damping", s.physics.global_damping);
  visitor("physics", "wall_restitution", s.physics.wall_restitution);
  visitor("collider", "center", s.collider.center);
  visitor("collider", "radius", s.collider.radius);
  visitor("run", "steps", s.run.steps);
  visitor("run", "method", s.run.method);
  visitor("run", "autotune", s.run.autotune);
  visit_run_table(s.run, visitor);
  visit_output_table(s.output, visitor);
  visit_camera_table(s.camera, visitor);
  visitor("camera", "speed", s.camera.speed);
}

/// Throws scene_error for the first invalid value. `methods` are the valid names for run.method.
void check(const granular_scene& scene, const scene_places& places, std::span<const std::string_view> methods);

/// Fills in omitted values that follow from the rest: grid.cells, scene.name, output.directory. Call it after check.
void complete(granular_scene& scene, const scene_places& places);

/// The largest cell counts that a grid may have: sites of a lattice of spacing 2 radius along each axis, up to
/// rounding.
[[nodiscard]] int_triple lattice_sites(const granular_scene& scene);

/// The default cell counts: the largest allowed. A grid with many more cells than grains is folded (core/folding.hpp).
[[nodiscard]] int_triple default_cells(const granular_scene& scene);

}  // namespace quadrat::io
