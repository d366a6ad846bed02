// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <type_traits>

#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/concepts.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/method_list.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/search/orders.hpp"

namespace quadrat::detail {

/// Whether a cell list can keep agents in the order of its cells, as ranges of slots: the same for every context,
/// precision and dimension.
template <typename CellMethod>
inline constexpr bool carries_agents = [] {
  using list_type = typename CellMethod::template type<cpu_context, float, 3>;
  return contiguous_cells<typename list_type::view_type> &&
         requires(list_type& cells, const points_view<float, 3>& points, std::span<const carried_array> arrays) {
           cells.build_and_carry_async(points, arrays);
         };
}();

template <typename Kept, typename... CellMethods>
struct carrying_cell_lists {
  using type = Kept;
};
template <typename... Kept, typename First, typename... Others>
struct carrying_cell_lists<method_list<Kept...>, First, Others...> {
  using type =
      typename std::conditional_t<carries_agents<First>, carrying_cell_lists<method_list<Kept..., First>, Others...>,
                                  carrying_cell_lists<method_list<Kept...>, Others...>>::type;
};
template <typename List>
struct all_carrying_cell_lists;
template <typename... CellMethods>
struct all_carrying_cell_lists<method_list<CellMethods...>> {
  using type = typename carrying_cell_lists<method_list<>, CellMethods...>::type;
};

/// The cell lists that the model can run over.
using circles_cell_list_methods = all_carrying_cell_lists<cell_list_methods>::type;

/// Whether an agent's neighbors can be queued first (queue.hpp), on CUDA.
template <typename Order, typename CellMethod>
inline constexpr bool circles_queues =
    std::is_same_v<Order, search_orders::trimmed> && std::is_same_v<CellMethod, cell_methods::counting>;

/// The same by name. Throws argument_error for unknown names.
[[nodiscard]] bool circles_can_queue(std::string_view order, std::string_view cell_list);

/// Whether an order walks a cell list.
template <typename Order, typename CellMethod>
inline constexpr bool circles_walks =
    walkable<Order, typename CellMethod::template type<cpu_context, float, 3>::view_type>;

}  // namespace quadrat::detail
