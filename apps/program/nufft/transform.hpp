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

/// A non-uniform Fourier transform to compute.
struct nufft_task {
  int type = 1;
  int sign = 0;
  double tolerance = 1e-6;
  vec<int, 3> modes{1, 1, 1};  ///< not used by type 3
  nufft_options plan;          ///< type 3 uses only the method and the FFT library
  bool single = false;         ///< everything is computed in single precision
};

/// The results, and data about the computation.
struct nufft_outcome {
  used_device device;
  std::string method;
  int width = 0;
  double oversampling = 0, error_bound = 0;  ///< type 3 reports no oversampling: 0
  vec<int, 3> mesh{1, 1, 1};
  value_kind kind;  ///< of the results
  mesh_numbers numbers;
  quadrat::explanation explanation;  ///< empty for type 3
  std::size_t memory_bytes = 0;
  double setting_seconds = 0, transform_seconds = 0;  ///< of set_points; of the transform itself
};

/// Computes the transform. Consumes the numbers of `input`. `targets`: for type 3. Throws what the library throws, and
/// data_error about a target that is not finite.
[[nodiscard]] nufft_outcome transform(const nufft_task& task, const device_options& device,
                                      const particle_file& particles, const particle_file& targets, value_file& input);

}  // namespace quadrat::program
