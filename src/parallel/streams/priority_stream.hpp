// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/context.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

#include "core/cuda_check.hpp"
#endif

namespace quadrat::detail {

/// A stream of the highest priority beside that of a context, for work that others wait for. On a GPU its kernels start
/// before the rest of a large kernel. On CPUs it is the context itself. Its memory comes from the context's resource,
/// in the order of this stream: what both use must be made with the context, and be released after `make_wait`.
template <typename Context>
class priority_stream {
 public:
  explicit priority_stream(const Context& main) : context_(main) {}

  [[nodiscard]] const Context& context() const { return context_; }
  /// Work enqueued here later waits for the work already in `main`.
  void wait_for(const Context& /*main*/) {}
  /// Work enqueued in `main` later waits for the work already here.
  void make_wait(const Context& /*main*/) {}
  /// Work enqueued later in either waits for the work already in both, as before memory of both is released. Not while
  /// `main` is captured. Errors show up elsewhere.
  void join(const Context& /*main*/) noexcept {}

 private:
  Context context_;
};

#if defined(__CUDACC__)

template <>
class priority_stream<cuda_context> {
 public:
  explicit priority_stream(const cuda_context& main) : context_(main) {
    main.activate();
    int lowest = 0, highest = 0;
    check_cuda(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for priorities of streams");
    check_cuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest), "making a stream");
    try {
      check_cuda(cudaEventCreateWithFlags(&passed_, cudaEventDisableTiming), "making an event");
      context_ = cuda_context({.device = main.device(),
                               .stream = stream_,
                               .reproducibility = main.reproducibility(),
                               .memory = &main.memory()});
    } catch (...) {
      release();
      throw;
    }
  }
  priority_stream(const priority_stream&) = delete;
  priority_stream& operator=(const priority_stream&) = delete;
  ~priority_stream() { release(); }

  [[nodiscard]] const cuda_context& context() const { return context_; }
  void wait_for(const cuda_context& main) { order(main.stream(), stream_); }
  void make_wait(const cuda_context& main) { order(stream_, main.stream()); }
  void join(const cuda_context& main) noexcept {
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(main.stream(), &capturing) != cudaSuccess) return;
    if (capturing != cudaStreamCaptureStatusNone) return;
    if (cudaEventRecord(passed_, main.stream()) == cudaSuccess) cudaStreamWaitEvent(stream_, passed_, 0);
    if (cudaEventRecord(passed_, stream_) == cudaSuccess) cudaStreamWaitEvent(main.stream(), passed_, 0);
  }

 private:
  void order(cudaStream_t first, cudaStream_t second) {
    context_.activate();
    check_cuda(cudaEventRecord(passed_, first), "recording an event");
    check_cuda(cudaStreamWaitEvent(second, passed_, 0), "waiting for an event");
  }
  void release() {
    if (passed_ != nullptr) cudaEventDestroy(passed_);
    cudaStreamDestroy(stream_);
  }

  cuda_context context_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t passed_ = nullptr;
};

#endif

}  // namespace quadrat::detail
