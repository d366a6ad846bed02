// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/mesh/methods.hpp"

#include <vector>

#include "mesh/methods.hpp"

namespace quadrat {

std::span<const spread_method> spread_methods() {
  static const std::vector<spread_method> methods = [] {
    std::vector<spread_method> list;
    detail::spread_method_list::for_each([&](auto tag) {
      using tag_type = decltype(tag);
      list.push_back({tag_type::name, tag_type::summary, tag_type::on_cpu, tag_type::on_cuda, tag_type::reproducible,
                      tag_type::wrong_results});
    });
    return list;
  }();
  return methods;
}

}  // namespace quadrat
