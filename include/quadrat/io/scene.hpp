// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::io {

using triple = std::array<double, 3>;
using int_triple = std::array<std::int64_t, 3>;

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

/// The scene of each model has `visit_keys(scene, visitor)`, which takes it const or not and calls
/// `visitor(table, key, member)` for every key, in the order of the documentation. Reading, checking for unknown keys,
/// printing and comparing all walk this one list.
template <typename Given, typename Scene>
concept is_scene = std::is_same_v<std::remove_const_t<Given>, Scene>;

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

/// Which scene a file has, by its model and, for the granular model, its law: "granular", "friction", "srd", ..., as in
/// QUADRAT_MODELS. Throws io_error when the file cannot be read; scene_error for invalid TOML, a missing model, and an
/// unknown one.
[[nodiscard]] std::string_view kind_of_scene(const std::filesystem::path& file);

/// Reads a scene of any model. Throws io_error when the file cannot be read; scene_error for invalid TOML, unknown
/// tables and keys (naming the nearest valid one), and wrong types. Values are not checked here: see check.
template <typename Scene>
[[nodiscard]] scene_file<Scene> read_scene(const std::filesystem::path& file);

/// The same from text; `name` is its name in messages.
template <typename Scene>
[[nodiscard]] scene_file<Scene> parse_scene(std::string_view text, const std::string& name);

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
