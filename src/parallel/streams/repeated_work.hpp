// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "parallel/capture.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/cuda_graph.hpp"

namespace quadrat::detail {

/// Work that is enqueued call after call, mostly unchanged. On CUDA it is captured once its key has been the same for
/// some calls, and then launched as one graph, which takes the host a fraction of the time.
///
/// The key must tell apart all work that differs: whatever sizes, pointers and options it has. Work must only use
/// memory that stays where it is as long as the key is the same.
template <typename Context, typename Key>
class repeated_work {
 public:
  /// Calls without a graph: making one takes longer than a call, and who changes the work often should not pay for it.
  static constexpr int calls_before = 4;

  /// Enqueues what `work()` enqueues. It must not allocate or wait from the second call with a key on. While the
  /// context's stream is being captured, and on CPUs, just runs it.
  template <typename Work>
  void run(const Context& context, const Key& key, const Work& work) {
    if constexpr (std::is_same_v<Context, cuda_context>) {
      if (can_capture(context)) return replay(context, key, work);
    }
    work();
  }
  /// Whether the work of the last key has been captured.
  [[nodiscard]] bool captured() const { return !graph_.empty(); }

 private:
  [[nodiscard]] static bool can_capture(const cuda_context& context) {
    // The legacy default stream cannot be captured: null, or 1 under its name in the CUDA runtime.
    return reinterpret_cast<std::uintptr_t>(context.stream()) > 1 && !is_capturing(context);
  }
  template <typename Work>
  void replay(const cuda_context& context, const Key& key, const Work& work) {
    if (!key_.has_value() || !(*key_ == key)) {
      graph_ = cuda_graph();
      key_ = key;
      calls_ = 0;
    }
    if (calls_ < calls_before) {
      ++calls_;
      return work();
    }
    if (graph_.empty()) graph_.capture(context, work);
    graph_.launch(context);
  }

  std::optional<Key> key_;
  int calls_ = 0;
  cuda_graph graph_;
};

}  // namespace quadrat::detail
