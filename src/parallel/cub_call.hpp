// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

/// Throws backend_error when a CUB algorithm failed.
inline void check_cub(cudaError_t status, const char* name) {
  if (status == cudaSuccess) return;
  // The runtime remembers a refused launch; the next check must not find it again.
  cudaGetLastError();
  throw backend_error(message("CUDA: ", name, ": ", cudaGetErrorString(status)));
}

/// Bytes of temporary storage that `call(temporary, bytes)`, a two-phase CUB algorithm, requires.
template <typename Call>
[[nodiscard]] std::size_t cub_bytes(const char* name, const Call& call) {
  std::size_t bytes = 0;
  check_cub(call(nullptr, bytes), name);
  // CUB takes a null pointer as this query, so temporary storage must never be empty.
  return bytes > 0 ? bytes : 1;
}

}  // namespace quadrat::detail
