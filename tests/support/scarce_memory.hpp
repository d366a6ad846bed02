// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "core/backend.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::test {

/// Memory that reports that little is free. Must outlive the arrays that use it.
class scarce_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, cuda_stream stream) override {
    ++allocations;
    return usual_.memory().allocate(bytes, stream);
  }
  void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept override {
    usual_.memory().deallocate(memory, bytes, stream);
  }
  std::size_t available_bytes() const override { return available; }

  std::size_t available = ~std::size_t{0};
  std::size_t allocations = 0;

 private:
  backend_context usual_;
};

}  // namespace quadrat::test
