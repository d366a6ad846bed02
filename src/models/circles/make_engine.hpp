// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "core/built_backend.hpp"
#include "models/circles/cells_engine.hpp"
#include "models/circles/methods.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

/// The cell lists that the order can walk, as "counting, sorted".
template <typename Order>
[[nodiscard]] std::string cell_lists_for_order() {
  std::string names;
  circles_cell_list_methods::for_each([&](auto method) {
    using method_type = decltype(method);
    if constexpr (circles_walks<Order, method_type>)
      names += (names.empty() ? "" : ", ") + std::string(method_type::name);
  });
  return names;
}

/// The engine for an order that walks the cell list.
template <typename Order, typename CellMethod, typename Context, typename T, int D>
[[nodiscard]] std::unique_ptr<circles_engine<Context, T, D>> make_walking_engine(const Context& context,
                                                                                 const circles_setup<T, D>& setup) {
  if constexpr (!backend_is_built<Context>) {
    return nullptr;
  } else if constexpr (circles_walks<Order, CellMethod>) {
    using cell_list_type = typename CellMethod::template type<Context, T, D>;
    constexpr bool queues = std::is_same_v<Context, cuda_context> && circles_queues<Order, CellMethod>;
    return std::make_unique<circles_cells_engine<cell_list_type, Order, queues>>(context, setup);
  } else {
    throw argument_error(message("the order ", Order::name, " needs rows of cells that are one range, which ",
                                 CellMethod::name, " does not have; ", cell_lists_for_order<Order>(), " have them"));
  }
}

template <typename Order, typename Context, typename T, int D>
[[nodiscard]] std::unique_ptr<circles_engine<Context, T, D>> make_ordered_engine(std::string_view cell_list,
                                                                                 const Context& context,
                                                                                 const circles_setup<T, D>& setup) {
  std::unique_ptr<circles_engine<Context, T, D>> engine;
  circles_cell_list_methods::with("cell list of the Circles model", cell_list, [&](auto method) {
    engine = make_walking_engine<Order, decltype(method)>(context, setup);
  });
  return engine;
}

template <typename Context, typename T, int D>
std::unique_ptr<circles_engine<Context, T, D>> make_circles_engine(std::string_view order, std::string_view cell_list,
                                                                   const Context& context,
                                                                   const circles_setup<T, D>& setup) {
  std::unique_ptr<circles_engine<Context, T, D>> engine;
  search_order_list::with(
      "order", order, [&](auto chosen) { engine = make_ordered_engine<decltype(chosen)>(cell_list, context, setup); });
  return engine;
}

}  // namespace quadrat::detail
