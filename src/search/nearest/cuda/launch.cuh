// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/parallel/cuda_launch.hpp"
#include "search/nearest/cuda/groups.cuh"
#include "search/nearest/cuda/rows.hpp"

namespace quadrat::detail {

template <int Capacity, nearest_keys Keys, typename T, int D>
void launch_nearest_groups(const cuda_context& context, const nearest_search<T, D>& search, std::size_t rows) {
  const cuda_launch launch(context, "nearest.rows");
  find_nearest_groups<Capacity, Keys, T, D>
      <<<cuda_launch::blocks(rows, nearest_block), nearest_block, 0, context.stream()>>>(search, rows);
  launch.check();
}

template <nearest_keys Keys, typename T, int D>
void launch_nearest_rows(const cuda_context& context, const nearest_search<T, D>& search, std::size_t rows) {
  if (search.sink.k <= 8) {
    launch_nearest_groups<8, Keys>(context, search, rows);
  } else if (search.sink.k <= 16) {
    launch_nearest_groups<16, Keys>(context, search, rows);
  } else if (search.sink.k <= 32) {
    launch_nearest_groups<32, Keys>(context, search, rows);
  } else {
    launch_nearest_groups<64, Keys>(context, search, rows);
  }
}

template <typename T, int D>
void find_nearest_rows(const cuda_context& context, const nearest_search<T, D>& search, std::size_t rows) {
  if (rows == 0) return;
  switch (keys_of(search)) {
    case nearest_keys::ids:
      return launch_nearest_rows<nearest_keys::ids>(context, search, rows);
    case nearest_keys::numbered:
      return launch_nearest_rows<nearest_keys::numbered>(context, search, rows);
    case nearest_keys::wide:
      return launch_nearest_rows<nearest_keys::wide>(context, search, rows);
  }
}

}  // namespace quadrat::detail
