// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "program/mesh/options.hpp"
#include "program/mesh/transfer.hpp"
#include "program/particle_file.hpp"

namespace quadrat::program {

/// What `quadrat spread` and `quadrat interpolate` say in the end.
struct mesh_report {
  std::string command;              ///< "spread" or "interpolate"
  std::string values_file;          ///< of the point values, if they were read
  std::string mesh_file;            ///< of the mesh values, if they were read
  std::string reproducible;         ///< of spreading
  std::vector<double> values_sums;  ///< see sums_of; none of gradients
  std::vector<double> mesh_sums;
  double reading_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

/// Prints what the options ask for.
void finish(const mesh_report& report, const mesh_options& options, const mesh_task& task,
            const particle_file& particles, const mesh_outcome& outcome);

/// What --json prints (docs/guides/mesh.md describes it).
[[nodiscard]] nlohmann::ordered_json as_json(const mesh_report& report, const mesh_options& options,
                                             const mesh_task& task, const particle_file& particles,
                                             const mesh_outcome& outcome);

/// The same for people, in a few lines.
[[nodiscard]] std::string as_text(const mesh_report& report, const mesh_options& options, const mesh_task& task,
                                  const particle_file& particles, const mesh_outcome& outcome);

}  // namespace quadrat::program
