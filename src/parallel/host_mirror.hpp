// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

#include "core/cuda_check.hpp"
#endif

namespace quadrat::detail {

/// A few words of device memory that the host reads repeatedly. On CUDA they are copied to page-locked memory, which
/// saves a copy in the driver: some microseconds each time.
template <typename Context>
class host_mirror {
 public:
  /// Synchronizes. Valid until the next call.
  [[nodiscard]] const std::uint64_t* read(const Context& context, const std::uint64_t* words, std::size_t count) {
    words_ = to_host(context, words, count);
    return words_.data();
  }

 private:
  std::vector<std::uint64_t> words_;
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
    context.activate();
    if (words_ == nullptr) {
      void* memory = nullptr;
      check_cuda(cudaMallocHost(&memory, most_words * sizeof(std::uint64_t)), "allocating page-locked memory");
      words_ = static_cast<std::uint64_t*>(memory);
    }
    check_cuda(cudaMemcpyAsync(words_, words, count * sizeof(std::uint64_t), cudaMemcpyDeviceToHost, context.stream()),
               "reading words back");
    context.synchronize();
    return words_;
  }

 private:
  static constexpr std::size_t most_words = 512;
  std::uint64_t* words_ = nullptr;
};

#endif

}  // namespace quadrat::detail
