// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "quadrat/io/scene.hpp"

namespace quadrat::program {

/// The command line of `quadrat run`. What is given here replaces the scene's value.
struct run_options {
  std::string scene;
  std::optional<std::string> device, method, deterministic, precision, output;
  std::optional<std::int64_t> steps, particles, threads, seed;
  bool json = false;
  bool resume = false;
  bool quiet = false;
};

/// Reads the scene, puts the options in place of its values, checks the result and completes it; the device is decided.
/// Throws io_error and io::scene_error, which blames an impossible value on where it came from.
[[nodiscard]] io::granular_scene load_scene(const run_options& options);

}  // namespace quadrat::program
