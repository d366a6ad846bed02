// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/keyed/methods.hpp"

#include <vector>

#include "core/method_choice.hpp"
#include "keyed/methods.hpp"

namespace quadrat {

std::span<const key_method> key_methods() {
  static const std::vector<key_method> methods = [] {
    std::vector<key_method> list;
    detail::key_method_list::for_each([&](auto descriptor) {
      using method_type = decltype(descriptor);
      list.push_back({detail::built_info_of<method_type>(), method_type::any_order, method_type::compensates});
    });
    return list;
  }();
  return methods;
}

}  // namespace quadrat
