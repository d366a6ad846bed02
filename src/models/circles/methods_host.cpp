// SPDX-License-Identifier: BSD-3-Clause
#include "models/circles/methods.hpp"

#include "quadrat/models/circles.hpp"

namespace quadrat {

std::span<const std::string_view> circles_orders() { return search_order_list::names; }

std::span<const std::string_view> circles_cell_lists() { return detail::circles_cell_list_methods::names; }

namespace {

template <typename Order>
[[nodiscard]] bool walks(std::string_view cell_list) {
  bool result = false;
  detail::circles_cell_list_methods::with("cell list of the Circles model", cell_list, [&](auto method) {
    result = detail::circles_walks<Order, decltype(method)>;
  });
  return result;
}

}  // namespace

bool circles_walkable(std::string_view order, std::string_view cell_list) {
  bool result = false;
  search_order_list::with("order", order, [&](auto chosen) { result = walks<decltype(chosen)>(cell_list); });
  return result;
}

int circles_default_cells_per_reach(std::string_view order) { return order == search_orders::trimmed::name ? 2 : 1; }

}  // namespace quadrat
