// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include "quadrat/core/context.hpp"
#include "quadrat/parallel/cuda_graph.hpp"

namespace quadrat::detail {

/// Work that is enqueued again and again in the same shape: it allocates nothing and waits for nothing. On the CPU, and
/// where nvcc does not compile, it just runs.
template <typename Context>
class replay {
 public:
  /// Does beforehand what the first run would do besides the work.
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

/// Replays steps that depend on the parity of their number, because they pass their data between two places.
template <typename Context>
class step_replay {
 public:
  /// Enqueues steps by `enqueue(parity)`, which must enqueue the same in every call; many at a time where there are
  /// many. The first step ever runs as it is, since it allocates.
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

  /// Of the next step.
  [[nodiscard]] int parity() const { return parity_; }
  /// A step has been made elsewhere.
  void pass() { parity_ ^= 1; }
  /// Whether everything has been allocated.
  [[nodiscard]] bool warm() const { return warm_; }
  void set_warm() { warm_ = true; }

 private:
  /// Steps in one graph: enough to hide the launch of the next, and even, so that it ends with the parity it began
  /// with.
  static constexpr std::size_t batch = 16;

  replay<Context> single_[2];
  replay<Context> batch_[2];
  int parity_ = 0;
  bool warm_ = false;
};

}  // namespace quadrat::detail
