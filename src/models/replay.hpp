// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

}  // namespace quadrat::detail
