// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "keyed/source.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

struct key_choice {
  std::string_view method;  ///< one of key_methods()
  std::string reason;       ///< one line
};

/// The method for `auto`, by a sample of the keys; always one that takes keys in any order and supports the context's
/// level of determinism, and compensation where requested. Synchronizes.
template <typename Context>
[[nodiscard]] key_choice choose_key_method(const Context& context, const key_setup& setup, const key_source& source,
                                           workspace<Context>& scratch);

/// The choice itself, from the records of the methods; needs no device.
[[nodiscard]] key_choice choose_key_method(const key_request& request);

}  // namespace quadrat::detail
