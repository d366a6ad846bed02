// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/mesh/methods.hpp"

#include <vector>

#include "core/method_choice.hpp"
#include "mesh/methods.hpp"

namespace quadrat {

std::span<const spread_method> spread_methods() {
  static const std::vector<spread_method> methods = [] {
    std::vector<spread_method> list;
    detail::spread_method_list::for_each([&](auto descriptor) {
      using method_type = decltype(descriptor);
      list.push_back({detail::built_info_of<method_type>(), detail::has_wrong_results<method_type>()});
    });
    return list;
  }();
  return methods;
}

}  // namespace quadrat
