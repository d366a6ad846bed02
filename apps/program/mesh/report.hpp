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

/// The data that `quadrat spread` and `quadrat interpolate` report at the end.
struct mesh_report {
  std::string command;              ///< "spread" or "interpolate"
  std::string values_file;          ///< file of the point values, if one was read
  std::string mesh_file;            ///< file of the mesh values, if one was read
  std::string reproducible;         ///< level of determinism of spreading
  std::vector<double> values_sums;  ///< see sums_of; empty for gradients
  std::vector<double> mesh_sums;
  double reading_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

/// Prints what the options request.
void finish(const mesh_report& report, const mesh_options& options, const mesh_task& task,
            const particle_file& particles, const mesh_outcome& outcome);

/// The output of --json (described in docs/guides/mesh.md).
[[nodiscard]] nlohmann::ordered_json as_json(const mesh_report& report, const mesh_options& options,
                                             const mesh_task& task, const particle_file& particles,
                                             const mesh_outcome& outcome);

/// A few lines for people.
[[nodiscard]] std::string as_text(const mesh_report& report, const mesh_options& options, const mesh_task& task,
                                  const particle_file& particles, const mesh_outcome& outcome);

}  // namespace quadrat::program
