// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

/// Throws backend_error when a call to the CUDA runtime failed. The runtime remembers a failure: it is cleared here, so
/// that the next check does not find it again.
inline void check_cuda(cudaError_t status, const char* action) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw backend_error(message("CUDA: ", action, ": ", cudaGetErrorString(status)));
}

}  // namespace quadrat::detail
