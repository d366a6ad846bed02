// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/methods.hpp"

#include <vector>

#include "core/method_choice.hpp"
#include "quadrat/contacts/methods.hpp"

namespace quadrat {

std::span<const contact_method> contact_methods() {
  static const std::vector<contact_method> methods = [] {
    std::vector<contact_method> list;
    detail::contact_method_list::for_each([&](auto descriptor) {
      using method_type = decltype(descriptor);
      const bool pairs = detail::does_serve<method_type>(detail::pair_request{0, true});
      list.push_back({detail::built_info_of<method_type>(), pairs, method_type::bins, method_type::balances,
                      method_type::systems, method_type::quadratic});
    });
    return list;
  }();
  return methods;
}

}  // namespace quadrat
