// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include "quadrat/core/context.hpp"
#include "quadrat/parallel/cuda_graph.hpp"

namespace quadrat::detail {

/// Work that is enqueued repeatedly without change; it must not allocate or wait. On the CPU, and without nvcc, it just
/// runs.
template <typename Context>
class replay {
 public:
  /// Prepares the first run.
  template <typename Work>
  void prepare(const Context&, Work&&) {}
  template <typename Work>
  void run(const Context&, Work&& work) {
    work();
  }
};

#if defined(__CUDACC__)

/// On CUDA the first run captures what the work enqueues; every run launches the captured graph.
template <>
class replay<cuda_context> {
 public:
  template <typename Work>
  void prepare(const cuda_context& context, Work&& work) {
    if (graph_.empty()) graph_.capture(context, std::forward<Work>(work));
  }
  template <typename Work>
  void run(const cuda_context& context, Work&& work) {
    prepare(context, std::forward<Work>(work));
    graph_.launch(context);
  }

 private:
  cuda_graph graph_;
};

#endif

/// Replays double-buffered steps, which depend on the parity of their number.
template <typename Context>
class step_replay {
 public:
  /// Enqueues steps by `enqueue(parity)`, which must enqueue the same work in every call; in batches if there are
  /// enough steps. The very first step is not captured, since it allocates.
  template <typename Enqueue>
  void advance(const Context& context, std::size_t steps, const Enqueue& enqueue) {
    while (steps > 0) {
      const std::size_t count = warm_ && steps >= batch ? batch : 1;
      const auto work = [&] {
        for (std::size_t k = 0; k < count; ++k) enqueue(parity_ ^ static_cast<int>(k & 1));
      };
      if (warm_) {
        (count == batch ? batch_ : single_)[parity_].run(context, work);
      } else {
        work();
      }
      warm_ = true;
      parity_ ^= static_cast<int>(count & 1);
      steps -= count;
    }
  }

  /// The parity of the next step.
  [[nodiscard]] int parity() const { return parity_; }
  /// Counts a step made elsewhere.
  void pass() { parity_ ^= 1; }
  /// Whether everything has been allocated.
  [[nodiscard]] bool warm() const { return warm_; }
  void set_warm() { warm_ = true; }

 private:
  /// Steps per graph: enough to hide the launch of the next graph, and even, so that a graph ends with the parity it
  /// began with.
  static constexpr std::size_t batch = 16;

  replay<Context> single_[2];
  replay<Context> batch_[2];
  int parity_ = 0;
  bool warm_ = false;
};

}  // namespace quadrat::detail
