// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/keyed/methods.hpp"

#include <vector>

#include "core/method_choice.hpp"
#include "keyed/methods.hpp"

namespace quadrat {

std::span<const key_method> key_methods() {
  static const std::vector<key_method> methods = [] {
    std::vector<key_method> list;
    detail::key_method_list::for_each([&](auto record) {
      using record_type = decltype(record);
      list.push_back({detail::built_info_of<record_type>(), record_type::any_order, record_type::compensates});
    });
    return list;
  }();
  return methods;
}

}  // namespace quadrat
