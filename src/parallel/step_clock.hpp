// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "quadrat/core/context.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#include "quadrat/core/error.hpp"
#endif

namespace quadrat::detail {

/// Times many pieces of a context's work; the times are read when all are done.
template <typename Context>
class step_clock {
 public:
  /// For at most `pieces` pieces.
  step_clock(const Context&, std::size_t pieces) { times_.reserve(pieces); }
  void start(const Context&) { begin_ = clock::now(); }
  void stop(const Context&) {
    times_.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin_).count());
  }
  /// Milliseconds of piece k.
  [[nodiscard]] double milliseconds(std::size_t k) const { return times_[k]; }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point begin_;
  std::vector<double> times_;
};

#if defined(__CUDACC__)

/// By events on the context's stream. Nothing waits for them.
template <>
class step_clock<cuda_context> {
 public:
  step_clock(const cuda_context& context, std::size_t pieces) {
    context.activate();
    events_.reserve(2 * pieces);
  }
  ~step_clock() {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  step_clock(const step_clock&) = delete;
  step_clock& operator=(const step_clock&) = delete;

  void start(const cuda_context& context) { mark(context); }
  void stop(const cuda_context& context) { mark(context); }
  /// The stream must have been waited for before.
  [[nodiscard]] double milliseconds(std::size_t k) const {
    float time = 0;
    require_success(cudaEventElapsedTime(&time, events_[2 * k], events_[2 * k + 1]));
    return static_cast<double>(time);
  }

 private:
  static void require_success(cudaError_t status) {
    if (status != cudaSuccess) throw backend_error(message("CUDA: event: ", cudaGetErrorString(status)));
  }
  void mark(const cuda_context& context) {
    cudaEvent_t event = nullptr;
    require_success(cudaEventCreate(&event));
    events_.push_back(event);
    require_success(cudaEventRecord(event, context.stream()));
  }

  std::vector<cudaEvent_t> events_;
};

#endif

}  // namespace quadrat::detail
