// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/parallel/cuda_launch.hpp"
#include "search/nearest/cuda/groups.cuh"
#include "search/nearest/cuda/rows.hpp"

namespace quadrat::detail {

template <int Capacity, bool Images, typename T, int D>
void launch_nearest_groups(const cuda_context& context, const nearest_search<T, D>& search, std::size_t rows) {
  const cuda_launch launch(context, "nearest.rows");
  find_nearest_groups<Capacity, Images, T, D>
      <<<cuda_launch::blocks(rows, nearest_block), nearest_block, 0, context.stream()>>>(search, rows);
  launch.check();
}

template <bool Images, typename T, int D>
void launch_nearest_rows(const cuda_context& context, const nearest_search<T, D>& search, std::size_t rows) {
  if (search.sink.k <= 8) {
    launch_nearest_groups<8, Images>(context, search, rows);
  } else if (search.sink.k <= 16) {
    launch_nearest_groups<16, Images>(context, search, rows);
  } else if (search.sink.k <= 32) {
    launch_nearest_groups<32, Images>(context, search, rows);
  } else {
    launch_nearest_groups<64, Images>(context, search, rows);
  }
}

template <typename T, int D>
void find_nearest_rows(const cuda_context& context, const nearest_search<T, D>& search, std::size_t rows) {
  if (rows == 0) return;
  if (search.images.any()) {
    launch_nearest_rows<true>(context, search, rows);
  } else {
    launch_nearest_rows<false>(context, search, rows);
  }
}

}  // namespace quadrat::detail
