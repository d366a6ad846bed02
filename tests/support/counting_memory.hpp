// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <new>

#include "core/backend.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::test {

/// Counts allocations from the backend's usual memory, and fails when told to. Must outlive the arrays that use it.
class counting_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, cuda_stream stream) override {
    if (allocations_ >= most_allocations_) throw std::bad_alloc();
    void* memory = usual_.memory().allocate(bytes, stream);
    ++allocations_;
    live_bytes_ += bytes;
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept override {
    usual_.memory().deallocate(memory, bytes, stream);
    live_bytes_ -= bytes;
  }

  /// A context that takes its memory from here.
  [[nodiscard]] backend_context context(determinism level) {
    backend_context::options chosen;
    chosen.memory = this;
    chosen.reproducibility = level;
    return backend_context(chosen);
  }
  /// Allows this many more allocations.
  void allow(std::size_t allocations) { most_allocations_ = allocations_ + allocations; }
  void allow_all() { most_allocations_ = std::numeric_limits<std::size_t>::max(); }
  [[nodiscard]] std::size_t allocations() const { return allocations_; }
  [[nodiscard]] std::size_t live_bytes() const { return live_bytes_; }

 private:
  backend_context usual_;
  std::size_t allocations_ = 0;
  std::size_t most_allocations_ = std::numeric_limits<std::size_t>::max();
  std::size_t live_bytes_ = 0;
};

}  // namespace quadrat::test
