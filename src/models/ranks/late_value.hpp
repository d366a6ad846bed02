// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

#include "core/cuda_check.hpp"
#endif

namespace quadrat::detail {

/// A value on its way from the context's memory to the host, which enqueues more work before it reads the value.
template <typename Context, typename T>
class late_value {
 public:
  void request(const Context& context, const T* value) { value_ = to_host(context, value, 1)[0]; }
  /// Waits for work enqueued before the last request, not for later work.
  [[nodiscard]] T wait() { return value_; }

 private:
  T value_{};
};

#if defined(__CUDACC__)

template <typename T>
class late_value<cuda_context, T> {
 public:
  late_value() = default;
  late_value(const late_value&) = delete;
  late_value& operator=(const late_value&) = delete;
  ~late_value() {
    if (arrived_ != nullptr) cudaEventDestroy(arrived_);
    cudaFreeHost(value_);
  }

  void request(const cuda_context& context, const T* value) {
    context.activate();
    if (value_ == nullptr) {
      void* memory = nullptr;
      check_cuda(cudaMallocHost(&memory, sizeof(T)), "allocating page-locked memory");
      value_ = static_cast<T*>(memory);
      check_cuda(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming), "making an event");
    }
    check_cuda(cudaMemcpyAsync(value_, value, sizeof(T), cudaMemcpyDeviceToHost, context.stream()),
               "reading a value back");
    check_cuda(cudaEventRecord(arrived_, context.stream()), "recording an event");
  }
  [[nodiscard]] T wait() {
    check_cuda(cudaEventSynchronize(arrived_), "waiting for the device");
    return *value_;
  }

 private:
  T* value_ = nullptr;  ///< page-locked
  cudaEvent_t arrived_ = nullptr;
};

#endif

}  // namespace quadrat::detail
