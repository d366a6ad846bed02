// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "quadrat/parallel/for_each.hpp"
#include "search/sort.hpp"

namespace quadrat::detail {

template <typename Order>
void sort_rows(const cpu_context& context, const key_rows& rows, const Order& order) {
  for_each(context, "search.sort_rows", rows.rows, [&](std::size_t row) {
    std::uint64_t* first = rows.keys + rows.begin(row);
    std::sort(first, first + rows.length(row), order.of_row(row));
  });
}

template void sort_rows(const cpu_context&, const key_rows&, const key_order&);
template void sort_rows(const cpu_context&, const key_rows&, const given_order<2>&);
template void sort_rows(const cpu_context&, const key_rows&, const given_order<3>&);

}  // namespace quadrat::detail
