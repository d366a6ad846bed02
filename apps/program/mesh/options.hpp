// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "program/box_options.hpp"
#include "program/device_options.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/mesh/spread_plan.hpp"

namespace CLI {
class App;
}

namespace quadrat::program {

/// The options that `quadrat spread` and `quadrat interpolate` share.
struct mesh_options {
  std::string points;
  box_options box;
  int order = 4;
  std::string method;  ///< empty: chosen automatically
  bool clip = false;
  bool accept_outside = false;
  std::string ends = "lower";
  double uses = 1;
  device_options device;
  std::optional<std::string> precision;
  std::optional<std::string> output;
  bool json = false;
  bool explain = false;
  bool quiet = false;
};

/// Adds all of these options except the output.
void add_mesh_options(CLI::App& command, mesh_options& options);

/// The methods that can be selected, one per line.
[[nodiscard]] std::string mesh_methods_text();

/// Converts the options to those of a plan. Throws argument_error that names the option; also for methods with wrong
/// results.
[[nodiscard]] spread_options plan_options(const mesh_options& options);

/// One number per dimension, or one for all of them. Only the first `dimension` components are used. Throws
/// argument_error that names the option and what is counted.
[[nodiscard]] vec<int, 3> extents_of_option(const std::string& text, int dimension,
                                            const std::string& option = "--mesh",
                                            const std::string& what = "mesh points");

}  // namespace quadrat::program
