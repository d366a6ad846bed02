// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/orders.hpp"

#include "core/method_choice.hpp"

namespace quadrat {

std::span<const method_info> traversal_orders() { return detail::listed<search_order_list>(); }

}  // namespace quadrat
