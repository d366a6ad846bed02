// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "program/device_options.hpp"
#include "program/mesh/box.hpp"
#include "program/mesh/values.hpp"
#include "program/particle_file.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat::program {

enum class mesh_operation { spread, interpolate, gradient };

/// Numbers between points and a mesh: what goes in, and how.
struct mesh_task {
  mesh_operation operation = mesh_operation::spread;
  mesh_box box;
  vec<int, 3> extents{1, 1, 1};
  int order = 4;
  spread_options plan;
  bool single = false;  ///< precision of all that is computed
};

/// Numbers on the host, in C order: [vector][point], [vector][x][y][z] or [vector][point][axis], each of its parts.
using mesh_numbers = std::variant<std::vector<float>, std::vector<double>>;

/// What came out, and how.
struct mesh_outcome {
  used_device device;
  std::string method, reason;
  quadrat::explanation explanation;
  value_kind kind;  ///< of both sides
  mesh_numbers numbers;
  std::vector<double> sums_in;  ///< see sums_of
  mesh_left_out left_out;
  std::size_t memory_bytes = 0;
  double setting_seconds = 0, transfer_seconds = 0;  ///< taking the points; the operation itself
};

/// Carries it out. Without `input` (for spreading only) the values are 1. Its numbers are taken from it. Throws what
/// the library throws.
[[nodiscard]] mesh_outcome transfer(const mesh_task& task, const device_options& device, const particle_file& particles,
                                    value_file* input);

}  // namespace quadrat::program
