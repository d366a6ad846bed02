// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// Stream-ordered memory from the default pool of a device, which keeps released memory for reuse.
class device_pool final : public memory_resource {
 public:
  explicit device_pool(int device);
  void* allocate(std::size_t bytes, cuda_stream stream) override;
  void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept override;
  [[nodiscard]] std::size_t available_bytes() const override;
  /// Lets kernels of another device, a peer of this one, read and write all memory of the pool.
  void open_to(int other) const;

 private:
  int device_;
  cudaMemPool_t pool_ = nullptr;
};

}  // namespace quadrat::detail
