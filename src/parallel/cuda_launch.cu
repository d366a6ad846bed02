// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/cuda_launch.hpp"

#include <nvtx3/nvToolsExt.h>

namespace quadrat {

cuda_launch::cuda_launch(const cuda_context& context, const char* name) : name_(name) {
  context.activate();
  nvtxRangePushA(name);
}

cuda_launch::~cuda_launch() { nvtxRangePop(); }

unsigned cuda_launch::blocks(std::size_t count, unsigned threads) {
  const std::size_t result = (count + threads - 1) / threads;
  require(result <= 0x7fffffffu, "a launch over ", count, " indices is too large");
  return static_cast<unsigned>(result);
}

void cuda_launch::throw_refusal(cudaError_t status) const {
  throw backend_error(message("CUDA: ", name_, ": ", cudaGetErrorString(status)));
}

}  // namespace quadrat
