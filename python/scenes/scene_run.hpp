// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Scenes of the program, run from Python, without types of Python. The extension module contains
/// these functions; so does the library of quadrat_cuda13, with models for GPUs. Errors are the library's exceptions.
/// Everything else calls functions of quadrat/quadrat.h.
namespace quadrat::python {

/// Settings that replace those of the scene's file; empty: as in the file.
struct scene_settings {
  std::string file{}, device{}, method{}, precision{}, deterministic{}, output{};
  std::optional<bool> autotune{};
  std::optional<std::int64_t> steps{}, particles{}, threads{}, seed{}, frame_every{}, statistics_every{};
};

/// An array of values of particles, on the host.
struct state_array {
  std::string name{};
  bool wide = false;  ///< float64 instead of float32
  std::vector<std::size_t> shape{};
  std::vector<std::byte> bytes{};
};

/// The particles as files of frames hold them, in order of id.
struct scene_frame {
  std::vector<state_array> arrays{};
  std::vector<double> lower{}, upper{};
  std::vector<unsigned char> periodic{};
};

struct scene_facts {
  std::string name{}, particles{}, precision{}, method{}, device{};
  std::string settings{};  ///< JSON: every key of the scene with its value
  std::uint64_t steps = 0;
  std::int64_t frame_every = 0, statistics_every = 0;
  double time_step = 1;
};

/// The simulation of a scene.
class scene_run {
 public:
  scene_run() = default;
  scene_run(const scene_run&) = delete;
  scene_run& operator=(const scene_run&) = delete;
  virtual ~scene_run() = default;
  [[nodiscard]] virtual scene_facts facts() const = 0;
  virtual void advance(std::uint64_t steps) = 0;
  [[nodiscard]] virtual std::uint64_t step() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::vector<state_array> state() = 0;
  [[nodiscard]] virtual scene_frame frame() = 0;
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> measure() = 0;
  /// Begins to write what `quadrat run` writes, into the folder of the settings; then `record` writes what is due at
  /// the present step, and `end_record` the rest: of a run that has come to its end, or was stopped.
  virtual void begin_record(bool overwrite) = 0;
  virtual void record() = 0;
  virtual void end_record(bool complete) = 0;
};

/// Throws argument_error in builds without the program, whose libraries scenes need.
[[nodiscard]] std::unique_ptr<scene_run> open_scene(const scene_settings& settings);

/// The same, in the library of quadrat_cuda13. The name changes with the declarations above, so that builds must match.
inline constexpr const char* open_scene_name = "quadrat_python_open_scene_1";
extern "C" using open_scene_function = scene_run * (const scene_settings&);

}  // namespace quadrat::python
