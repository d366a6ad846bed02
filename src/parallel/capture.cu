// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/capture.hpp"

#include <cuda_runtime_api.h>

#include "core/cuda_check.hpp"

namespace quadrat::detail {

bool is_capturing(const cuda_context& context) {
  context.activate();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(context.stream(), &status), "asking whether work is captured");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace quadrat::detail
