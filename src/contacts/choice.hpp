// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "contacts/engine.hpp"
#include "core/method_choice.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat::detail {

/// The demands of a context on contact methods.
template <typename Context>
[[nodiscard]] method_demand contact_demand(const Context& context) {
  return {"contact method", std::is_same_v<Context, cuda_context>, context.reproducibility(), true};
}

struct contact_choice {
  std::string_view method;  ///< static storage
  std::string reason;
};

/// The named method or, for "auto", the one with the least expected time.
[[nodiscard]] contact_choice choose_contact_method(const method_demand& demand, std::string_view asked,
                                                   const pair_request& request, const device_profile& profile);

/// The methods that can be chosen, fastest first.
[[nodiscard]] std::vector<expected_time> contact_times(const method_demand& demand, const pair_request& request,
                                                       const device_profile& profile);

/// All methods, with what the choice knows of each.
[[nodiscard]] explanation explain_contact_method(const method_demand& demand, const pair_request& request,
                                                 const device_profile& profile);

/// The cost of each method that can be chosen.
[[nodiscard]] std::vector<named_cost> contact_costs(const pair_request& request);

}  // namespace quadrat::detail
