// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/macros.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

#include "core/cuda_check.hpp"
#endif

namespace quadrat::detail {

/// Words that a running kernel sends to the host, so that the host need not wait for the kernel's end.
struct early_words {
  const std::uint64_t* from = nullptr;  ///< nullptr: nothing is sent
  std::uint64_t* to = nullptr;          ///< page-locked; the ticket is written after the words, behind them
  std::size_t count = 0;
  std::uint64_t ticket = 0;

  /// To be called by one thread of the device.
  QUADRAT_HD void send() const {
#if defined(__CUDA_ARCH__)
    if (from == nullptr) return;
    for (std::size_t k = 0; k < count; ++k) to[k] = from[k];
    __threadfence_system();
    *const_cast<volatile std::uint64_t*>(to + count) = ticket;
#endif
  }
};

/// Copies a few words of device memory to the host, repeatedly. On CUDA the copy goes to page-locked memory, which
/// avoids a copy in the driver and saves some microseconds each time.
template <typename Context>
class host_mirror {
 public:
  /// Waits. Valid until the next call.
  [[nodiscard]] const std::uint64_t* read(const Context& context, const std::uint64_t* words, std::size_t count) {
    words_ = to_host(context, words, count);
    return words_.data();
  }
  /// CUDA: prepares words for a kernel to send, for which `wait` waits. On the CPU nothing is sent.
  [[nodiscard]] early_words expect(const Context& context, const std::uint64_t* words, std::size_t count) {
    expected_ = words;
    count_ = count;
    static_cast<void>(context);
    return {};
  }
  [[nodiscard]] const std::uint64_t* wait(const Context& context) { return read(context, expected_, count_); }

 private:
  std::vector<std::uint64_t> words_;
  const std::uint64_t* expected_ = nullptr;
  std::size_t count_ = 0;
};

#if defined(__CUDACC__)

template <>
class host_mirror<cuda_context> {
 public:
  host_mirror() = default;
  host_mirror(const host_mirror&) = delete;
  host_mirror& operator=(const host_mirror&) = delete;
  ~host_mirror() { cudaFreeHost(words_); }

  [[nodiscard]] const std::uint64_t* read(const cuda_context& context, const std::uint64_t* words, std::size_t count) {
    make_room(context);
    check_cuda(cudaMemcpyAsync(words_, words, count * sizeof(std::uint64_t), cudaMemcpyDeviceToHost, context.stream()),
               "reading words back");
    context.synchronize();
    return words_;
  }

  /// For a kernel that is enqueued next and sends these words. All words expected before must have arrived.
  [[nodiscard]] early_words expect(const cuda_context& context, const std::uint64_t* words, std::size_t count) {
    make_room(context);
    count_ = count;
    early_[count] = ticket_++;  // differs from the next
    return {words, early_, count, ticket_};
  }
  /// Waits for the words, but not for the kernel's end, and saves the start and end of a copy. Valid until the next
  /// `expect`. Throws backend_error if the words cannot come any more.
  [[nodiscard]] const std::uint64_t* wait(const cuda_context& context) {
    constexpr int patience = 20000;  // polls of the word between two queries of the driver, which take longer
    for (int looks = 1; received() != ticket_; ++looks) {
      if (looks % patience != 0) continue;
      const cudaError_t state = cudaStreamQuery(context.stream());
      if (state == cudaErrorNotReady) {
        cudaGetLastError();  // clears the error that the runtime remembers
        continue;
      }
      check_cuda(state, "waiting for a kernel");
      if (received() != ticket_) throw backend_error("CUDA: a kernel has ended without sending its words");
    }
    return early_;
  }

 private:
  static constexpr std::size_t most_words = 512;

  void make_room(const cuda_context& context) {
    context.activate();
    if (words_ != nullptr) return;
    void* memory = nullptr;
    check_cuda(cudaMallocHost(&memory, 2 * most_words * sizeof(std::uint64_t)), "allocating page-locked memory");
    words_ = static_cast<std::uint64_t*>(memory);
    early_ = words_ + most_words;
  }
  /// The ticket that the device has written last.
  [[nodiscard]] std::uint64_t received() const {
    return std::atomic_ref<std::uint64_t>(early_[count_]).load(std::memory_order_acquire);
  }

  std::uint64_t* words_ = nullptr;
  std::uint64_t* early_ = nullptr;  // of the kernels that send
  std::size_t count_ = 0;
  std::uint64_t ticket_ = 0;
};

#endif

}  // namespace quadrat::detail
