// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "program/run/options.hpp"
#include "program/run/simulation.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {

/// The model-independent parts of a run's scene.
struct run_plan {
  std::string name;
  std::string particles;  ///< name of the particles: "grains"
  io::output_table output;
  std::uint64_t steps = 0;
  double time_step = 1;
  std::string precision;
  std::string text;  ///< all keys and values, as io::to_text gives them
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();  ///< the same as JSON, for the summary
  std::function<std::unique_ptr<simulation>()> make;                   ///< makes the simulation at step 0
  /// Makes the simulation over ranks. Rank 0 gets the simulation of all ranks; the others return nullptr when rank 0
  /// has ended.
  std::function<std::unique_ptr<simulation>(communicator&)> make_on;
};

/// Reads the scene, applies the options, checks and completes the result, and chooses the device. Throws io_error;
/// io::scene_error, which names the source of an invalid value; backend_error if this build lacks the model.
[[nodiscard]] run_plan load_plan(const run_options& options);

/// The models that scenes can have, by their names in QUADRAT_MODELS. Models that this build lacks have no plan. CMake
/// generates the list.
struct model_of_scenes {
  std::string_view name;
  run_plan (*plan)(const run_options&);
};
[[nodiscard]] std::span<const model_of_scenes> models_of_scenes();

}  // namespace quadrat::program
