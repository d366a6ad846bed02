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
      bool on_cuda = tag_type::on_cuda;
      // Needs what not every machine has, besides what the build has.
      if constexpr (requires { tag_type::present(); }) on_cuda = on_cuda && tag_type::present();
      list.push_back({tag_type::name, tag_type::summary, tag_type::on_cpu, on_cuda, tag_type::reproducible,
                      tag_type::wrong_results});
    });
    return list;
  }();
  return methods;
}

}  // namespace quadrat
