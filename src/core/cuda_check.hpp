// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

/// Throws backend_error if a call of the CUDA runtime failed. Also clears the error that the runtime remembers, so that
/// the next check does not find it again.
inline void check_cuda(cudaError_t status, const char* action) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw backend_error(message("CUDA: ", action, ": ", cudaGetErrorString(status)));
}

}  // namespace quadrat::detail
