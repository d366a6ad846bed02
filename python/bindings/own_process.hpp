// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

#include "quadrat/core/error.hpp"

namespace quadrat::python {

/// Throws backend_error in a process that was forked from one that has run threads: they do not exist there, and OpenMP
/// would wait for them for ever. `threads`: to be used; 0: all.
inline void require_own_threads(int threads) {
  static std::atomic<pid_t> user{0};
  const pid_t self = getpid();
  pid_t first = 0;
  if (user.compare_exchange_strong(first, self) || first == self || threads == 1) return;
  throw backend_error(
      "this process was forked from one that has used quadrat with several threads; start processes with the "
      "method 'spawn', or pass threads=1");
}

}  // namespace quadrat::python
