// SPDX-License-Identifier: BSD-3-Clause
#include "interface.hpp"
#include "quadrat/core/config.hpp"

/// A stand-in for the library for GPUs, which works on the CPU: for tests of everything around it on machines without a
/// GPU.
namespace quadrat::python {

extern "C" __attribute__((visibility("default"))) int quadrat_python_interface() { return interface_version; }
extern "C" __attribute__((visibility("default"))) const char* quadrat_python_version() { return QUADRAT_VERSION; }
extern "C" __attribute__((visibility("default"))) backend* quadrat_python_backend() { return &cpu_backend(); }

}  // namespace quadrat::python
