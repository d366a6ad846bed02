// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pthread.h>

#include <atomic>

#include "quadrat/core/error.hpp"

namespace quadrat::python {

/// Records that this process uses threads or a GPU (`kind`). False in a process that was forked after such a use.
template <typename Kind>
[[nodiscard]] bool in_own_process() {
  static std::atomic<bool> used{false}, lost{false};
  // A query of the process number at each call would take as long as a short call.
  [[maybe_unused]] static const int heard = pthread_atfork(nullptr, nullptr, [] { lost = used.load(); });
  if (lost) return false;
  used = true;
  return true;
}

struct threads_of_process;
struct gpu_of_process;  // CUDA's memory and streams

/// Throws backend_error in a process forked from one that has run threads: the threads do not exist there, and OpenMP
/// would wait for them forever. `threads`: the number to use; 0: all.
inline void require_own_threads(int threads) {
  if (in_own_process<threads_of_process>() || threads == 1) return;
  throw backend_error(
      "this process was forked from one that has used quadrat with several threads; start processes with the "
      "method 'spawn', or pass threads=1");
}

}  // namespace quadrat::python
