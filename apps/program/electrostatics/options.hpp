// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "program/device_options.hpp"
#include "quadrat/ewald/electrostatics.hpp"

namespace quadrat::program {

/// The command line of `quadrat electrostatics`.
struct electrostatics_command {
  std::string systems;
  double accuracy = 1e-5;
  double coulomb_constant = 1;
  std::string law = "coulomb";
  std::string method;  ///< empty: chosen automatically
  std::optional<double> cutoff, splitting;
  std::optional<std::string> mesh;
  std::optional<std::int64_t> order;
  std::optional<std::string> exclusions;
  bool remove_net_force = false;
  bool virial = false;
  bool deterministic = false;
  device_options device;
  std::string precision = "double";
  std::optional<std::string> output, energies, potentials;
  bool explain = false;
  bool json = false;
  bool quiet = false;
};

/// Converts the command line to the library's options. Throws argument_error that names the option.
[[nodiscard]] electrostatics_options sum_options(const electrostatics_command& command);

}  // namespace quadrat::program
