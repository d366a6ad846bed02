// SPDX-License-Identifier: BSD-3-Clause
#include "interruption.hpp"

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>
#include <new>
#include <utility>

#include "quadrat/core/context.hpp"

namespace quadrat::python {

namespace {

using steady = std::chrono::steady_clock;

thread_local steady::time_point begun;
thread_local bool interrupted = false;

/// Whether this thread must end its work now. Python runs signal handlers in its main thread only; elsewhere
/// PyErr_CheckSignals does nothing. An exception of a handler stays set in the thread.
[[nodiscard]] bool interruption() {
  // Short work does not check, because taking the interpreter's lock costs more than an allocation. OpenMP threads
  // have no start time.
  constexpr auto patience = std::chrono::milliseconds(50);
  if (interrupted || begun == steady::time_point() || steady::now() - begun <= patience) return interrupted;
  const nanobind::gil_scoped_acquire locked;
  return interrupted = PyErr_CheckSignals() != 0;
}

extern "C" void* allocate(void* /*user*/, std::size_t bytes, void* /*stream*/) {
  if (interruption()) return nullptr;
  try {
    return host_memory().allocate(bytes, nullptr);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
extern "C" void deallocate(void* /*user*/, void* memory, std::size_t bytes, void* /*stream*/) {
  host_memory().deallocate(memory, bytes, nullptr);
}
extern "C" std::size_t available(void* /*user*/) { return host_memory().available_bytes(); }

}  // namespace

void heed_interruption(quadrat_context_options& options) {
  options.allocate = &allocate;
  options.deallocate = &deallocate;
  options.available = &available;
}

void work_begins() { begun = steady::now(); }

void throw_interruption() {
  if (!std::exchange(interrupted, false)) return;
  const nanobind::gil_scoped_acquire locked;
  throw nanobind::python_error();
}

}  // namespace quadrat::python
