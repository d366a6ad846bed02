// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "quadrat/core/context.hpp"

namespace quadrat::test {

/// Host memory in which each allocation lies between two pages that cannot be read or written, at the end of its own
/// pages: reading or writing past an array ends the program. What is left of these pages is filled with bytes that must
/// still be there when the array is freed, and so is the array: numbers that nobody has written are NaN. Must outlive
/// the arrays that use it.
class guarded_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, cuda_stream) override {
    const std::size_t inner = pages_of(bytes), page = page_size();
    void* const all = mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<unsigned char*>(all) + page;
    if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::memset(begin, filling, inner);
    return begin + inner - aligned(bytes);
  }
  void deallocate(void* memory, std::size_t bytes, cuda_stream) noexcept override {
    auto* const first = static_cast<unsigned char*>(memory);
    unsigned char* const end = first + aligned(bytes);
    unsigned char* const begin = end - pages_of(bytes);
    const auto left = [](unsigned char byte) { return byte == filling; };
    if (!std::all_of(begin, first, left) || !std::all_of(first + bytes, end, left)) ++damaged_;
    munmap(begin - page_size(), pages_of(bytes) + 2 * page_size());
  }

  [[nodiscard]] cpu_context context() {
    cpu_context::options chosen;
    chosen.memory = this;
    chosen.threads = 2;
    return cpu_context(chosen);
  }
  /// Arrays beside which something was written.
  [[nodiscard]] std::size_t damaged() const { return damaged_; }

 private:
  static constexpr unsigned char filling = 0xff;
  static constexpr std::size_t alignment = 64;

  [[nodiscard]] static std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  [[nodiscard]] static std::size_t aligned(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  [[nodiscard]] static std::size_t pages_of(std::size_t bytes) {
    return (aligned(bytes) + page_size() - 1) / page_size() * page_size();
  }

  std::size_t damaged_ = 0;
};

}  // namespace quadrat::test
