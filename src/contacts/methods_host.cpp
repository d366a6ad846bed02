// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/methods.hpp"

#include <vector>

#include "core/method_choice.hpp"
#include "quadrat/contacts/methods.hpp"

namespace quadrat {

std::span<const contact_method> contact_methods() {
  static const std::vector<contact_method> methods = [] {
    std::vector<contact_method> list;
    detail::contact_method_list::for_each([&](auto record) {
      using record_type = decltype(record);
      const bool pairs = detail::does_serve<record_type>(detail::pair_request{0, true});
      list.push_back({detail::built_info_of<record_type>(), pairs, record_type::bins, record_type::balances,
                      record_type::quadratic});
    });
    return list;
  }();
  return methods;
}

}  // namespace quadrat
