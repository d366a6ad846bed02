// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// Whether the context's stream is being captured in a graph. Then waiting and allocating are not allowed.
#if QUADRAT_HAS_CUDA
[[nodiscard]] bool is_capturing(const cuda_context& context);
#else
[[nodiscard]] inline bool is_capturing(const cuda_context& /*context*/) { return false; }
#endif
[[nodiscard]] inline bool is_capturing(const cpu_context& /*context*/) { return false; }

}  // namespace quadrat::detail
