// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "quadrat/core/context.hpp"

#if QUADRAT_BACKEND_CUDA && defined(__CUDACC__)
#include <cuda_runtime_api.h>
#endif

// Dual tests are compiled once for each backend, into one program each; this names the backend that they test.

namespace quadrat::test {

/// Whether this machine can run what is being tested.
[[nodiscard]] inline bool backend_available() {
#if QUADRAT_BACKEND_CUDA
  static const bool available = !cuda_devices().empty();
  return available;
#else
  return true;
#endif
}

/// Whether sizes should be small, because every access is being checked (compute-sanitizer).
[[nodiscard]] inline bool small_sizes() {
  const char* value = std::getenv("QUADRAT_TEST_SMALL");
  return value != nullptr && std::string_view(value) != "0" && !std::string_view(value).empty();
}

/// `full`, or `reduced` if sizes should be small.
[[nodiscard]] inline std::size_t size_or(std::size_t full, std::size_t reduced) {
  return small_sizes() ? reduced : full;
}

/// The same for what needs `full` only on a GPU, and is `reduced` on the CPU.
[[nodiscard]] inline std::size_t gpu_size_or(std::size_t full, std::size_t reduced) {
  return std::is_same_v<backend_context, cuda_context> ? size_or(full, reduced) : reduced;
}

/// A context at a level of determinism; a backend without threads ignores their number.
[[nodiscard]] inline backend_context context_at(determinism level, int threads = 0) {
  backend_context::options chosen;
  chosen.reproducibility = level;
#if QUADRAT_BACKEND_CUDA
  static_cast<void>(threads);
#else
  chosen.threads = threads;
#endif
  return backend_context(chosen);
}

/// Contexts that must all give the same: several numbers of threads; the context's own stream and one of the caller.
[[nodiscard]] inline std::vector<backend_context> all_contexts() {
  std::vector<backend_context> result;
#if QUADRAT_BACKEND_CUDA
  result.emplace_back();
#if defined(__CUDACC__)
  cuda_context::options callers;
  callers.stream = cudaStreamPerThread;
  result.emplace_back(callers);
#endif
#else
  for (const int threads : {1, 2, 3, 7}) {
    cpu_context::options chosen;
    chosen.threads = threads;
    result.emplace_back(chosen);
  }
#endif
  return result;
}

/// Counts around a warp, a block, and past one block, up to a million.
[[nodiscard]] inline std::vector<std::size_t> interesting_sizes() {
  std::vector<std::size_t> sizes{0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 4097};
  if (!small_sizes()) sizes.insert(sizes.end(), {65'537, 1'000'003});
  return sizes;
}

/// A suite that is skipped if the backend has no device.
class backend_test : public testing::Test {
 protected:
  void SetUp() override {
    if (!backend_available()) GTEST_SKIP() << "no CUDA device";
  }
};

}  // namespace quadrat::test
