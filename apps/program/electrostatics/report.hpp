// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "program/electrostatics/options.hpp"
#include "program/electrostatics/sum.hpp"
#include "program/electrostatics/systems.hpp"

namespace quadrat::program {

/// One run of `quadrat electrostatics`: its input and its outcome.
struct electrostatics_run {
  charged_systems systems;
  std::vector<scaled_pair> scaled_pairs;
  electrostatics_outcome outcome;
  double reading_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

[[nodiscard]] nlohmann::ordered_json as_json(const electrostatics_command& command, const electrostatics_run& run);

/// A few lines for people.
[[nodiscard]] std::string as_text(const electrostatics_command& command, const electrostatics_run& run);

}  // namespace quadrat::program
