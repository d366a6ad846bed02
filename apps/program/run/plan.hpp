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

/// What a scene of any model says about its run, beyond the model itself.
struct run_plan {
  std::string name;
  std::string particles;  ///< what one simulates: "grains"
  io::output_table output;
  std::uint64_t steps = 0;
  double time_step = 1;
  std::string precision;
  std::string text;  ///< every key with its value, as io::to_text gives them
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();  ///< the same for the summary
  std::function<std::unique_ptr<simulation>()> make;                   ///< at step 0
  /// The same over ranks: on rank 0 returns the simulation of all; on others returns none, when rank 0 has ended.
  std::function<std::unique_ptr<simulation>(communicator&)> make_on;
};

/// Reads the scene, puts the options in place of its values, checks the result and completes it; the device is decided.
/// Throws io_error and io::scene_error, which blames an impossible value on where it came from;
/// backend_error where this build lacks the model.
[[nodiscard]] run_plan load_plan(const run_options& options);

/// The models that scenes can have, by the names of QUADRAT_MODELS; without a plan those that this build lacks. Made by
/// CMake.
struct model_of_scenes {
  std::string_view name;
  run_plan (*plan)(const run_options&);
};
[[nodiscard]] std::span<const model_of_scenes> models_of_scenes();

}  // namespace quadrat::program
