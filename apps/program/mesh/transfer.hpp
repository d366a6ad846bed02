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

/// A transfer of values between points and a mesh.
struct mesh_task {
  mesh_operation operation = mesh_operation::spread;
  mesh_box box;
  vec<int, 3> extents{1, 1, 1};
  int order = 4;
  spread_options plan;
  bool single = false;  ///< everything is computed in single precision
};

/// Numbers on the host, in C order: [vector][point], [vector][x][y][z] or [vector][point][axis]; complex numbers have
/// two parts.
using mesh_numbers = std::variant<std::vector<float>, std::vector<double>>;

/// The results, and data about the computation.
struct mesh_outcome {
  used_device device;
  std::string method, reason;
  quadrat::explanation explanation;
  value_kind kind;  ///< of input and output
  mesh_numbers numbers;
  std::vector<double> sums_in;  ///< see sums_of
  mesh_left_out left_out;
  std::size_t memory_bytes = 0;
  double setting_seconds = 0, transfer_seconds = 0;  ///< of set_points; of the operation itself
};

/// Computes the transfer. Consumes the numbers of `input`. Without `input` all values are 1 (only for spreading).
/// Throws what the library throws.
[[nodiscard]] mesh_outcome transfer(const mesh_task& task, const device_options& device, const particle_file& particles,
                                    value_file* input);

}  // namespace quadrat::program
