// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

/// Throws backend_error if a CUB algorithm failed.
inline void check_cub(cudaError_t status, const char* name) {
  if (status == cudaSuccess) return;
  // Clears the error that the runtime remembers, so that the next check does not find it again.
  cudaGetLastError();
  throw backend_error(message("CUDA: ", name, ": ", cudaGetErrorString(status)));
}

/// Bytes of temporary storage that `call(temporary, bytes)`, a two-phase CUB algorithm, requires.
template <typename Call>
[[nodiscard]] std::size_t cub_bytes(const char* name, const Call& call) {
  std::size_t bytes = 0;
  check_cub(call(nullptr, bytes), name);
  // CUB takes a null pointer for a query of the size, so temporary storage must not be empty.
  return bytes > 0 ? bytes : 1;
}

}  // namespace quadrat::detail
