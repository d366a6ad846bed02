// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "keyed/key_engine.hpp"
#include "keyed/key_sample.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/keyed/methods.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

struct key_choice {
  std::string_view method;  ///< one of key_methods()
  std::string reason;       ///< one line
};

/// The method for `auto`, by a sample of the keys; always one that takes keys in any order, and that has the context's
/// level of determinism and compensation where that is asked for. Synchronises.
template <typename Context>
[[nodiscard]] key_choice choose_key_method(const Context& context, const key_setup& setup, const key_source& source,
                                           workspace<Context>& scratch);

/// What the choice depends on besides the keys.
struct key_circumstances {
  bool cuda;
  int threads;  ///< of the CPU
  determinism level;
  std::size_t free_bytes;               ///< that the reducer may hold
  std::span<const key_method> methods;  ///< that there are
};

/// The choice itself, which needs no device (key_costs_host.cpp has what methods cost).
[[nodiscard]] key_choice choose_key_method(const key_circumstances& here, const key_setup& setup, std::size_t count,
                                           const key_sample& sample);

}  // namespace quadrat::detail
