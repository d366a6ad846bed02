// SPDX-License-Identifier: BSD-3-Clause
#include "models/circles/methods.hpp"

#include "quadrat/models/circles.hpp"

namespace quadrat {

namespace {

/// Calls f(Order{}, CellMethod{}) for the named types.
template <typename F>
[[nodiscard]] bool asked_of(std::string_view order, std::string_view cell_list, const F& f) {
  bool result = false;
  search_order_list::with("order", order, [&](auto chosen) {
    detail::circles_cell_list_methods::with("cell list of the Circles model", cell_list,
                                            [&](auto method) { result = f(chosen, method); });
  });
  return result;
}

}  // namespace

std::span<const std::string_view> circles_orders() { return search_order_list::names; }

std::span<const std::string_view> circles_cell_lists() { return detail::circles_cell_list_methods::names; }

bool circles_walkable(std::string_view order, std::string_view cell_list) {
  return asked_of(order, cell_list, []<typename Order, typename CellMethod>(Order, CellMethod) {
    return detail::circles_walks<Order, CellMethod>;
  });
}

bool detail::circles_can_queue(std::string_view order, std::string_view cell_list) {
  return asked_of(order, cell_list, []<typename Order, typename CellMethod>(Order, CellMethod) {
    return circles_queues<Order, CellMethod>;
  });
}

int circles_default_cells_per_reach(std::string_view order) {
  int cells = 0;
  search_order_list::with("order", order, [&](auto chosen) { cells = decltype(chosen)::cells_per_distance; });
  return cells;
}

}  // namespace quadrat
