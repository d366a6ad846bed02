// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// Whether this build can run work on the context. Where it cannot, cuda_context cannot be constructed, so nothing that
/// takes one is ever called, and its engines need not be compiled.
template <typename Context>
inline constexpr bool backend_is_built = std::is_same_v<Context, cpu_context> || QUADRAT_HAS_CUDA != 0;

}  // namespace quadrat::detail
