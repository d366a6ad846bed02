// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>

#include "quadrat/core/config.hpp"
#include "quadrat/quadrat.h"

// A stand-in for the library for GPUs, for tests of everything around it on machines without a GPU: functions of the
// library that it links, with contexts of the CPU.
namespace {

template <typename Function>
[[nodiscard]] Function* linked(Function* /*like*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* quadrat_version() { return QUADRAT_VERSION; }

extern "C" __attribute__((visibility("default"))) int quadrat_cuda_device_count(int* count) {
  *count = 1;
  return QUADRAT_OK;
}

extern "C" __attribute__((visibility("default"))) int quadrat_context_create(const quadrat_context_options* options,
                                                                             quadrat_context** context) {
  quadrat_context_options on_cpu = *options;
  on_cpu.device = QUADRAT_CPU;
  on_cpu.cuda_device = 0;
  return linked(&quadrat_context_create, "quadrat_context_create")(&on_cpu, context);
}
