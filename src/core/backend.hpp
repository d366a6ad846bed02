// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/context.hpp"

// Dual sources are compiled once for each backend; this names the one that is being compiled.
namespace quadrat {
#if QUADRAT_BACKEND_CUDA
using backend_context = cuda_context;
#else
using backend_context = cpu_context;
#endif
}  // namespace quadrat
