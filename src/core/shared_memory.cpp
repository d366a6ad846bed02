// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "core/suggestion.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"

#if QUADRAT_HAS_CUDA
#include <cuda_runtime_api.h>

#include "core/cuda_check.hpp"
#endif

namespace quadrat::detail {

namespace {

struct architecture_limit {
  std::string_view name;
  std::size_t kibibytes;
};

/// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": of a block.
constexpr architecture_limit limits[] = {{"75", 64},  {"80", 163},  {"86", 99}, {"89", 99},
                                         {"90", 227}, {"100", 227}, {"120", 99}};

}  // namespace

std::size_t shared_memory_named(const char* architecture) {
  if (architecture == nullptr || *architecture == '\0') return std::numeric_limits<std::size_t>::max();
  std::vector<std::string_view> names;
  for (const architecture_limit& limit : limits) {
    if (limit.name == architecture) return limit.kibibytes << 10;
    names.push_back(limit.name);
  }
  throw argument_error(message("QUADRAT_LEAST_ARCHITECTURE is ", architecture, "; possible are ", joined(names)));
}

#if QUADRAT_HAS_CUDA
namespace {

/// Asking the driver takes about as long as launching a kernel: each device is asked once.
[[nodiscard]] std::size_t shared_memory_of_device(int device) {
  static std::array<std::atomic<int>, 64> known{};
  const auto place = static_cast<std::size_t>(device);
  int bytes = place < known.size() ? known[place].load(std::memory_order_relaxed) : 0;
  if (bytes > 0) return static_cast<std::size_t>(bytes);
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "asking a device for its shared memory");
  if (place < known.size()) known[place].store(bytes, std::memory_order_relaxed);
  return static_cast<std::size_t>(bytes);
}

}  // namespace
#endif

std::size_t shared_memory_of_block(const cuda_context& context) {
  static const std::size_t named = shared_memory_named(std::getenv("QUADRAT_LEAST_ARCHITECTURE"));
#if QUADRAT_HAS_CUDA
  return std::min(named, shared_memory_of_device(context.device()));
#else
  context.activate();  // throws: without CUDA there is no context
  return named;
#endif
}

}  // namespace quadrat::detail
