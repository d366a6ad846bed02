// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/choice.hpp"

#include "contacts/methods.hpp"

namespace quadrat::detail {

contact_choice choose_contact_method(const method_demand& demand, std::string_view asked, const pair_request& request) {
  const bool automatic = asked.empty();
  if (automatic) asked = expected_times<contact_method_list>(demand, request).front().method;
  contact_choice choice;
  contact_method_list::with(demand.kind, asked, [&](auto record) {
    using record_type = decltype(record);
    choice = {record_type::name, "asked for"};
    if constexpr (requires { record_type::why; }) {
      if (automatic) choice.reason = record_type::why;
    }
  });
  return choice;
}

}  // namespace quadrat::detail
