// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "quadrat/parallel/for_each.hpp"
#include "search/sort.hpp"

namespace quadrat::detail {

void sort_rows(const cpu_context& context, const key_rows& rows) {
  for_each(context, "search.sort_rows", rows.rows, [&](std::size_t row) {
    std::uint64_t* first = rows.keys + rows.begin(row);
    std::sort(first, first + rows.length(row));
  });
}

}  // namespace quadrat::detail
