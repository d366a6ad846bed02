// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "quadrat/core/context.hpp"

namespace quadrat {

/// Work of a stream, captured once and launched often: one driver call instead of one per kernel. Move-only. Captured
/// work must not allocate or wait; run it once before, so that all memory is allocated.
class cuda_graph {
 public:
  cuda_graph() = default;
  cuda_graph(cuda_graph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}
  cuda_graph& operator=(cuda_graph&& other) noexcept {
    std::swap(executable_, other.executable_);
    return *this;
  }
  ~cuda_graph();

  [[nodiscard]] bool empty() const { return executable_ == nullptr; }

  /// Records the work that `enqueue()` puts on the context's stream, in place of any earlier recording. Nothing runs.
  /// Throws backend_error if the work cannot be captured, and what `enqueue` throws.
  template <typename Enqueue>
  void capture(const cuda_context& context, Enqueue&& enqueue) {
    begin(context);
    try {
      enqueue();
    } catch (...) {
      abandon(context);
      throw;
    }
    end(context);
  }

  /// Enqueues the recorded work on the context's stream. Does not wait.
  void launch(const cuda_context& context) const;

 private:
  static void begin(const cuda_context& context);
  static void abandon(const cuda_context& context) noexcept;
  void end(const cuda_context& context);
  void release() noexcept;

  void* executable_ = nullptr;  ///< cudaGraphExec_t
};

}  // namespace quadrat
