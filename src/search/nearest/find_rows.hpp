// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/parallel/for_each.hpp"
#include "search/nearest/batch.hpp"
#include "search/nearest/rows.hpp"

namespace quadrat::detail {

template <bool Images, typename T, int D>
void find_nearest_rows_with(const cpu_context& context, const nearest_search<T, D>& search, std::size_t rows) {
  constexpr const char* name = "nearest.rows";
  if (search.sink.k <= 8) {
    for_each(context, name, rows, find_nearest_row<T, D, 8, Images>{search});
  } else if (search.sink.k <= 16) {
    for_each(context, name, rows, find_nearest_row<T, D, 16, Images>{search});
  } else if (search.sink.k <= 32) {
    for_each(context, name, rows, find_nearest_row<T, D, 32, Images>{search});
  } else {
    for_each(context, name, rows, find_nearest_row<T, D, 64, Images>{search});
  }
}

template <typename T, int D>
void find_nearest_rows(const cpu_context& context, const nearest_search<T, D>& search, std::size_t rows) {
  if (rows == 0) return;
  if (search.order == nullptr) return find_nearest_rows_by_leaves(context, search);
  if (search.images.any()) {
    find_nearest_rows_with<true>(context, search, rows);
  } else {
    find_nearest_rows_with<false>(context, search, rows);
  }
}

}  // namespace quadrat::detail
