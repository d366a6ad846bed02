// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quadrat::program {

/// The command line of `quadrat run`. Its values replace those of the scene.
struct run_options {
  std::string scene;
  std::optional<std::string> device, method, deterministic, precision, output;
  std::vector<std::string> frame_format;  ///< empty: that of the scene
  std::optional<std::int64_t> steps, particles, threads, seed;
  std::optional<std::int64_t> frame_every, statistics_every;  ///< not on the command line; set by the Python package
  std::int64_t devices = 1;                                   ///< number of ranks in this process
  double progress_seconds = 10;
  std::optional<bool> autotune;
  bool json = false;
  bool explain = false;
  bool resume = false;
  bool overwrite = false;
  bool quiet = false;
  bool from_python = false;

  /// How errors name an option: "--frame-format", or frame_format as Python's keyword.
  [[nodiscard]] std::string named(std::string flag) const {
    if (!from_python) return flag;
    flag.erase(0, flag.starts_with("--no-") ? 5 : 2);
    std::replace(flag.begin(), flag.end(), '-', '_');
    return flag;
  }
};

}  // namespace quadrat::program
