// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "quadrat/io/scene.hpp"
#include "quadrat/models/circles.hpp"

namespace quadrat::io {

template <>
inline constexpr std::array<std::string_view, 2> names_of<circles_form>{circles_form_names};

/// A scene of the Circles model. Every member is one key of the file, in the table of the same name
/// (docs/reference/scenes.md says what each means).
struct circles_scene {
  scene_table scene;
  struct {
    std::int64_t dimension = 2;
    double width = 100;
  } box;
  struct {
    std::optional<std::int64_t> count;  ///< width^dimension x density
    std::optional<double> density;      ///< without count: 0.01 in the original form, 1 in the sine form
    std::int64_t seed = 1;
  } agents;
  struct {
    circles_form form = circles_form::sine;
    std::optional<double> radius;      ///< 5 in the original form, 2 in the sine form
    std::optional<double> force;       ///< sine form: 0.05
    std::optional<double> repulsion;   ///< original form: 1e-3
    std::optional<double> attraction;  ///< original form: 1e-3
  } physics;
  struct {
    std::string order = "auto";
    std::string cell_list = "auto";
    std::int64_t cells_per_reach = 0;  ///< 0: the order's own choice
  } search;
  struct : run_table {
    bool autotune = true;  ///< choose the search by timing steps; not in deterministic runs
  } run{{.steps = 1000}, true};
  struct : output_table {
    bool record = true;  ///< whether the time and the neighbors of every step are written
  } output;
  struct : camera_table {
    double neighbors = 0;  ///< at the top of the color bar; 0: from the data
  } camera;
};

/// See is_scene.
template <is_scene<circles_scene> Scene, typename Visitor>
void visit_keys(Scene& s, Visitor&& visitor) {
  visit_scene_table(s.scene, visitor);
  visitor("box", "dimension", s.box.dimension);
  visitor("box", "width", s.box.width);
  visitor("agents", "count", s.agents.count);
  visitor("agents", "density", s.agents.density);
  visitor("agents", "seed", s.agents.seed);
  visitor("physics", "form", s.physics.form);
  visitor("physics", "radius", s.physics.radius);
  visitor("physics", "force", s.physics.force);
  visitor("physics", "repulsion", s.physics.repulsion);
  visitor("physics", "attraction", s.physics.attraction);
  visitor("search", "order", s.search.order);
  visitor("search", "cell_list", s.search.cell_list);
  visitor("search", "cells_per_reach", s.search.cells_per_reach);
  visitor("run", "steps", s.run.steps);
  visitor("run", "autotune", s.run.autotune);
  visit_run_table(s.run, visitor);
  visit_output_table(s.output, visitor);
  visitor("output", "record", s.output.record);
  visit_camera_table(s.camera, visitor);
  visitor("camera", "neighbors", s.camera.neighbors);
}

/// Throws scene_error for the first invalid value.
void check(const circles_scene& scene, const scene_places& places);

/// Fills in omitted values that follow from the rest: agents.count and density, the constants of the form, what is
/// "auto" in [search], scene.name, output.directory. Call it after check.
void complete(circles_scene& scene, const scene_places& places);

/// The constants of the model.
[[nodiscard]] circles_parameters parameters_of(const circles_scene& scene);

}  // namespace quadrat::io
