// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if !defined(__CUDACC__)
#error "quadrat/parallel/cuda_launch.hpp is for sources that nvcc compiles"
#endif

#include <cuda_runtime.h>

#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

/// Wraps every kernel launch: selects the device, opens a named range for profilers, checks for errors.
class cuda_launch {
 public:
  /// The default number of threads per block: eight warps fill a Hopper multiprocessor's thread slots evenly and leave
  /// the tail of a launch short.
  static constexpr unsigned block = 256;

  cuda_launch(const cuda_context& context, const char* name);
  ~cuda_launch();
  cuda_launch(const cuda_launch&) = delete;
  cuda_launch& operator=(const cuda_launch&) = delete;

  /// Blocks for `count` threads. Throws argument_error above the hardware's limit of 2^31 - 1 blocks.
  [[nodiscard]] static unsigned blocks(std::size_t count, unsigned threads = block);
  /// Throws backend_error if the launch was refused.
  void check() const {
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) throw_refusal(status);
  }

 private:
  [[noreturn]] void throw_refusal(cudaError_t status) const;

  const char* name_;
};

namespace detail {

/// How many blocks of a body's kernel should be resident on a multiprocessor; this bounds the number of registers. 0:
/// left to the compiler. A body sets it by a constant of that name.
template <typename Body>
[[nodiscard]] constexpr unsigned resident_blocks() {
  if constexpr (requires { Body::resident_blocks; }) {
    return Body::resident_blocks;
  } else {
    return 0;
  }
}

template <typename Body>
__global__ void __launch_bounds__(cuda_launch::block, resident_blocks<Body>())
    for_each_kernel(std::size_t count, const __grid_constant__ Body body) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x;
  if (i < count) body(i);
}

}  // namespace detail

}  // namespace quadrat
