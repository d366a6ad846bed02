// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/keyed/methods.hpp"

#include <vector>

#include "keyed/methods.hpp"

namespace quadrat {

std::span<const key_method> key_methods() {
  static const std::vector<key_method> methods = [] {
    std::vector<key_method> list;
    detail::key_method_list::for_each([&](auto tag) {
      using tag_type = decltype(tag);
      list.push_back({tag_type::name, tag_type::summary, tag_type::on_cpu, tag_type::on_cuda, tag_type::reproducible,
                      tag_type::any_order, tag_type::compensates});
    });
    return list;
  }();
  return methods;
}

}  // namespace quadrat
