// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces operator new, so that a failed allocation reports its size. Not under sanitizers, which replace it
// themselves.
#include <cstdlib>
#include <new>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void* operator new(std::size_t bytes) {
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1); memory != nullptr) return memory;
  throw quadrat::out_of_memory(bytes, quadrat::host_memory().available_bytes());
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#endif
