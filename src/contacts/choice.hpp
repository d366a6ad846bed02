// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "contacts/engine.hpp"
#include "core/method_choice.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// What methods of contacts must meet on a context.
template <typename Context>
[[nodiscard]] method_demand contact_demand(const Context& context) {
  return {"contact method", std::is_same_v<Context, cuda_context>, context.reproducibility()};
}

struct contact_choice {
  std::string_view method;  ///< lives as long as the program
  std::string reason;
};

/// The method of that name, or, where it is empty, the one that is expected to take least.
[[nodiscard]] contact_choice choose_contact_method(const method_demand& demand, std::string_view asked,
                                                   const pair_request& request);

}  // namespace quadrat::detail
