// SPDX-License-Identifier: BSD-3-Clause
#include <omp.h>

#include <cstdint>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/available_memory.hpp"
#include "core/cpu_lanes.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

constexpr std::align_val_t host_alignment{64};

/// Asks for large pages for a large array, on systems where programs must ask. First use of the array is then several
/// times as fast. Refusal is harmless.
void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::size_t worth_it = std::size_t{4} << 20, page = 4096;
  if (bytes < worth_it) return;
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
  madvise(static_cast<char*>(memory) + before, bytes - before, MADV_HUGEPAGE);
#endif
}

class aligned_host_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, cuda_stream) override {
    void* const memory = ::operator new(bytes, host_alignment, std::nothrow);
    if (memory == nullptr) throw out_of_memory(bytes, available_bytes());
    prefer_large_pages(memory, bytes);
    return memory;
  }
  void deallocate(void* memory, std::size_t, cuda_stream) noexcept override {
    ::operator delete(memory, host_alignment);
  }
  std::size_t available_bytes() const override { return detail::available_host_memory(); }
};

}  // namespace

memory_resource& host_memory() {
  static aligned_host_memory resource;
  return resource;
}

cpu_context::cpu_context(const options& chosen)
    : threads_(chosen.threads),
      reproducibility_(chosen.reproducibility),
      memory_(chosen.memory != nullptr ? chosen.memory : &host_memory()) {
  require(threads_ >= 0, "the number of threads is ", threads_, "; it must be positive, or 0 for OpenMP's choice");
  require(threads_ <= most_threads, "the number of threads is ", threads_, "; at most ", most_threads, " are possible");
  if (threads_ == 0) threads_ = omp_get_max_threads();
  static_cast<void>(detail::lanes_in_use());
}

void copy_bytes(const cpu_context&, const void* from, void* to, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void fill_bytes(const cpu_context&, void* to, unsigned char value, std::size_t bytes) {
  if (bytes > 0) std::memset(to, value, bytes);
}

}  // namespace quadrat
