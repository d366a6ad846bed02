// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/choice.hpp"

#include <cmath>
#include <utility>

#include "contacts/methods.hpp"
#include "core/automatic.hpp"
#include "quadrat/core/error.hpp"
#include "tune/choice.hpp"

namespace quadrat::detail {

std::vector<expected_time> contact_times(const method_demand& demand, const pair_request& request,
                                         const device_profile& profile) {
  return times_by_profile<contact_method_list>({"contacts", demand}, request, profile);
}

contact_choice choose_contact_method(const method_demand& demand, std::string_view asked, const pair_request& request,
                                     const device_profile& profile) {
  std::string reason = "asked for";
  if (is_automatic(asked)) {
    const std::vector<expected_time> times = contact_times(demand, request, profile);
    asked = times.front().method;
    const bool compared = times.size() > 1 && std::isfinite(times[1].milliseconds);
    reason = compared          ? comparison(times, 1)
             : request.systems ? "no other method serves several systems"
                               : "no other method takes this many bodies of any sizes";
  }
  contact_choice choice;
  contact_method_list::with(demand.kind, asked, [&](auto descriptor) {
    using method_type = decltype(descriptor);
    require(!request.systems || method_type::systems, "the ", demand.kind, " ", method_type::name,
            " serves bodies of one system, and these are of several; ", hashed_method::name, " and auto serve them");
    choice = {method_type::name, std::move(reason)};
  });
  return choice;
}

explanation explain_contact_method(const method_demand& demand, const pair_request& request,
                                   const device_profile& profile) {
  explanation result = explain<contact_method_list>({"contacts", demand}, request, profile);
  result.load = {{"bodies", static_cast<double>(request.bodies)}};
  if (request.found >= 0) result.load.emplace_back("contacts_before", request.found);
  return result;
}

std::vector<named_cost> contact_costs(const pair_request& request) { return costs_of<contact_method_list>(request); }

}  // namespace quadrat::detail
