// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::io {

using triple = std::array<double, 3>;
using int_triple = std::array<std::int64_t, 3>;

/// How the grains are placed at step 0.
enum class start_state { lattice, left_half, uniform_random };
/// The law of the forces between grains: Green's springs, or friction over Hertz's or linear springs.
enum class granular_force_law { springs, hertz, linear };
/// The floating-point type of a simulation.
enum class number_precision { float32, float64 };
/// Where a simulation runs; `automatic` takes a GPU when there is one.
enum class device_choice { automatic, cpu, cuda };
/// The kinds of files that frames are written as.
enum class frame_file_format { vtp, vtu, xyz };

/// The names of an enumeration's values in scene files, in the order of the values.
template <typename Enum>
inline constexpr std::array<std::string_view, 0> names_of{};
template <>
inline constexpr std::array<std::string_view, 3> names_of<start_state>{"lattice", "left_half", "uniform_random"};
template <>
inline constexpr std::array<std::string_view, 3> names_of<granular_force_law>{"springs", "hertz", "linear"};
template <>
inline constexpr std::array<std::string_view, 2> names_of<number_precision>{"float", "double"};
template <>
inline constexpr std::array<std::string_view, 3> names_of<device_choice>{"auto", "cpu", "cuda"};
template <>
inline constexpr std::array<std::string_view, 3> names_of<frame_file_format>{"vtp", "vtu", "xyz"};
template <>
inline constexpr std::array<std::string_view, 3> names_of<determinism>{"none", "run_to_run", "canonical"};

template <typename Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) {
  return names_of<Enum>[static_cast<std::size_t>(value)];
}

/// [scene], [run], [output] and [camera] are the same for every model, except for extra keys.
struct scene_table {
  std::string name;  ///< empty: the file's name without extension
  std::string model;
};
struct run_table {
  std::int64_t steps = 2000;
  number_precision precision = number_precision::float32;
  device_choice device = device_choice::automatic;
  std::int64_t threads = 0;  ///< 0: all
  quadrat::determinism deterministic = quadrat::determinism::none;
};
struct output_table {
  std::string directory;  ///< empty: "out/" followed by the scene's name
  std::int64_t frame_every = 0;
  std::vector<frame_file_format> frame_format{frame_file_format::vtp};
  std::int64_t checkpoint_every = 0;
  std::int64_t statistics_every = 100;
  bool preview = true;
};
struct camera_table {
  double azimuth = 25;    ///< degrees, about the vertical axis, from the front
  double elevation = 18;  ///< degrees above the horizon
  double zoom = 1;
};

/// Calls `visitor(table, key, member)` for the keys of a table that every model has; likewise below.
template <typename Table, typename Visitor>
void visit_scene_table(Table& scene, Visitor&& visitor) {
  visitor("scene", "name", scene.name);
  visitor("scene", "model", scene.model);
}
/// All of [run] except `steps`, which comes first.
template <typename Table, typename Visitor>
void visit_run_table(Table& run, Visitor&& visitor) {
  visitor("run", "precision", run.precision);
  visitor("run", "device", run.device);
  visitor("run", "threads", run.threads);
  visitor("run", "deterministic", run.deterministic);
}
template <typename Table, typename Visitor>
void visit_output_table(Table& output, Visitor&& visitor) {
  visitor("output", "directory", output.directory);
  visitor("output", "frame_every", output.frame_every);
  visitor("output", "frame_format", output.frame_format);
  visitor("output", "checkpoint_every", output.checkpoint_every);
  visitor("output", "statistics_every", output.statistics_every);
  visitor("output", "preview", output.preview);
}
template <typename Table, typename Visitor>
void visit_camera_table(Table& camera, Visitor&& visitor) {
  visitor("camera", "azimuth", camera.azimuth);
  visitor("camera", "elevation", camera.elevation);
  visitor("camera", "zoom", camera.zoom);
}

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
    start_state start = start_state::lattice;
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

/// Calls `visitor(table, key, member)` for every key of the scene, in the order of the documentation. Reading, checking
/// for unknown keys, printing and comparing all walk this one list.
template <typename Scene, typename Visitor>
  requires requires(Scene& s) { s.grid; }
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

/// An invalid scene: what() is "FILE:LINE:COLUMN: what is wrong" (or "--option: ..." for an overridden value).
class scene_error : public argument_error {
 public:
  using argument_error::argument_error;
};

/// Where the values of a scene came from, so that later errors can point at their source.
class scene_places {
 public:
  scene_places() = default;
  explicit scene_places(std::string file) : file_(std::move(file)) {}

  /// Says where the key "table.key" (or the table) was set: "scene.toml:3:9" or "--steps".
  void set(std::string key, std::string place) { places_[std::move(key)] = std::move(place); }
  /// The place of the key; if it was left out, that of its table; failing that, the file.
  [[nodiscard]] const std::string& of(const std::string& key) const;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

 private:
  std::string file_;
  std::map<std::string, std::string, std::less<>> places_;
};

template <typename Scene>
struct scene_file {
  Scene scene;
  scene_places places;
};

/// Which scene a file has, by its model and, for the granular model, its law: "granular", "friction", "brownian",
/// "circles", "srd", "electrolyte". Throws io_error when the file cannot be read; scene_error for invalid TOML, a
/// missing model, and an unknown one.
[[nodiscard]] std::string_view kind_of_scene(const std::filesystem::path& file);

/// Reads a scene of any model. Throws io_error when the file cannot be read; scene_error for invalid TOML, unknown
/// tables and keys (naming the nearest valid one), and wrong types. Values are not checked here: see check.
template <typename Scene>
[[nodiscard]] scene_file<Scene> read_scene(const std::filesystem::path& file);

/// The same from text; `name` is its name in messages.
template <typename Scene>
[[nodiscard]] scene_file<Scene> parse_scene(std::string_view text, const std::string& name);

/// Throws scene_error for the first invalid value. `methods` are the valid names for run.method.
void check(const granular_scene& scene, const scene_places& places, std::span<const std::string_view> methods);

/// Fills in omitted values that follow from the rest: grid.cells, scene.name, output.directory. Call it after check.
void complete(granular_scene& scene, const scene_places& places);

/// The largest cell counts that a grid may have: sites of a lattice of spacing 2 radius along each axis, up to
/// rounding.
[[nodiscard]] int_triple lattice_sites(const granular_scene& scene);

/// The default cell counts: the largest allowed. A grid with many more cells than grains is folded (core/folding.hpp).
[[nodiscard]] int_triple default_cells(const granular_scene& scene);

/// One line "table.key = value" for each key (numbers with all their digits), except those that were left out.
template <typename Scene>
[[nodiscard]] std::string to_text(const Scene& scene);

/// A key with two different values; a value is empty if the key was left out.
struct scene_difference {
  std::string key;
  std::string stored;
  std::string asked;
};

/// The first key that matters for continuing a run and differs between two texts of to_text.
/// What is written, how long the run is, the number of threads, autotuning, SRD's sorting and the camera never matter.
/// The device matters when the run is deterministic, and the method (of Circles, all of [search]; of SRD, run.sums)
/// when it is `run_to_run` (at `canonical` it makes no difference).
[[nodiscard]] std::optional<scene_difference> first_difference(std::string_view stored, std::string_view asked);

}  // namespace quadrat::io
