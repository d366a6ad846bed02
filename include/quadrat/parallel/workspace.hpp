// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat {

/// Scratch memory for successive calls on one context. It grows and never shrinks, so that repeated calls of the same
/// size allocate nothing and can be captured in a CUDA graph. One workspace serves one stream. Its contents are
/// undefined between calls.
template <typename Context>
class workspace {
 public:
  /// Memory of at least `bytes` bytes, aligned to 64, valid until the next request. Throws what the context's memory
  /// resource throws. Does not wait. Allocates only to grow.
  [[nodiscard]] std::byte* request(const Context& context, std::size_t bytes) {
    memory_.resize_discarding(context, bytes);
    return memory_.data();
  }
  /// Bytes held.
  [[nodiscard]] std::size_t bytes() const { return memory_.bytes(); }

 private:
  array<std::byte, Context> memory_;
};

namespace detail {

/// `bytes` rounded up so that the next array in a workspace is aligned like the workspace itself.
[[nodiscard]] constexpr std::size_t aligned_bytes(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace detail

}  // namespace quadrat
