// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// Whether this build can run work on the context. If not, cuda_context cannot be constructed, and nothing that takes
/// one is compiled.
template <typename Context>
inline constexpr bool backend_is_built = std::is_same_v<Context, cpu_context> || QUADRAT_HAS_CUDA != 0;

/// Calls f(context) with a new context. Throws backend_error if this build or machine cannot have one.
template <typename Context, typename F>
decltype(auto) with_new_context(const typename Context::options& options, F&& f) {
  const Context context(options);
  if constexpr (backend_is_built<Context>) {
    return f(context);
  } else {
    // Never reached, because the constructor has thrown; gives the same result type.
    return f(cpu_context());
  }
}

}  // namespace quadrat::detail
