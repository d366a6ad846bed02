// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "program/device_options.hpp"
#include "program/mesh/transfer.hpp"
#include "program/mesh/values.hpp"
#include "program/particle_file.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat::program {

/// A non-uniform Fourier transform, and how.
struct nufft_task {
  int type = 1;
  int sign = 0;
  double tolerance = 1e-6;
  vec<int, 3> modes{1, 1, 1};  ///< not of type 3
  nufft_options plan;          ///< of type 3 only the method and the FFT library
  bool single = false;         ///< precision of all that is computed
};

/// What came out, and how.
struct nufft_outcome {
  used_device device;
  std::string method;
  int width = 0;
  double oversampling = 0, error_bound = 0;  ///< type 3 has one oversampling: 0
  vec<int, 3> mesh{1, 1, 1};
  value_kind kind;  ///< of what came out
  mesh_numbers numbers;
  quadrat::explanation explanation;  ///< not of type 3
  std::size_t memory_bytes = 0;
  double setting_seconds = 0, transform_seconds = 0;  ///< taking the points; the transform itself
};

/// Carries it out. The numbers of `input` are taken from it; `targets` are those of type 3. Throws what the library
/// throws, and data_error about a target that is not finite.
[[nodiscard]] nufft_outcome transform(const nufft_task& task, const device_options& device,
                                      const particle_file& particles, const particle_file& targets, value_file& input);

}  // namespace quadrat::program
