// SPDX-License-Identifier: BSD-3-Clause
#include "interruption.hpp"

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>

#include "interface.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::python {

namespace {

using steady = std::chrono::steady_clock;

thread_local steady::time_point begun;

/// Python runs handlers of signals in its main thread alone; elsewhere PyErr_CheckSignals does nothing.
class interruptible_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, cuda_stream stream) override {
    // Short work is never asked: taking the interpreter's lock costs more than an allocation. Threads of a team have
    // no beginning.
    constexpr auto patience = std::chrono::milliseconds(50);
    if (begun != steady::time_point() && steady::now() - begun > patience) {
      const nanobind::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
    return host_memory().allocate(bytes, stream);
  }
  void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept override {
    host_memory().deallocate(memory, bytes, stream);
  }
  [[nodiscard]] std::size_t available_bytes() const override { return host_memory().available_bytes(); }
};

}  // namespace

void heed_interruption() {
  static auto* const memory = new interruptible_memory;  // outlives all arrays
  cpu_memory() = memory;
}

void work_begins() { begun = steady::now(); }

}  // namespace quadrat::python
