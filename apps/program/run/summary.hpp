// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program/run/output_folder.hpp"
#include "program/run/plan.hpp"
#include "program/run/simulation.hpp"

namespace quadrat::program {

/// Data about a finished or stopped run.
struct run_report {
  std::uint64_t first_step = 0;  ///< first step of this process: 0, or the step of the checkpoint
  std::uint64_t last_step = 0;
  bool resumed = false;
  int signal = 0;  ///< the signal that stopped it, or 0
  double simulation_seconds = 0;
  double measuring_seconds = 0;
  double writing_seconds = 0;
  double total_seconds = 0;
  std::size_t frames = 0;
  std::vector<rank_report> ranks;  ///< empty if there is only one
  measurement statistics;

  [[nodiscard]] std::uint64_t steps() const { return last_step - first_step; }
  /// Particle steps per second of simulation; 0 without steps.
  [[nodiscard]] double updates_per_second(std::size_t particles) const;
};

/// The contents of summary.json (described in docs/reference/scenes.md).
[[nodiscard]] nlohmann::ordered_json as_json(const run_report& report, const run_plan& plan, const simulation& model,
                                             const output_folder& folder);

/// A few lines for people.
[[nodiscard]] std::string as_text(const run_report& report, const run_plan& plan, const simulation& model,
                                  const output_folder& folder);

/// A line of a summary with the command that plots a table.
[[nodiscard]] std::string plot_hint(const std::string& table);

/// Version, commit and compilers.
[[nodiscard]] nlohmann::ordered_json program_json();

/// f(0) to f(count - 1) as a JSON array. Arrays and objects are created as such: a null value that fails to become one
/// for lack of memory is left broken, and crashes when it is destroyed (nlohmann-json 3.11.2).
template <typename F>
[[nodiscard]] nlohmann::ordered_json array_json(int count, F&& f) {
  auto result = nlohmann::ordered_json::array();
  for (int k = 0; k < count; ++k) result.push_back(f(k));
  return result;
}

}  // namespace quadrat::program
