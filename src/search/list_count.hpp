// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "search/list_implementation.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
neighbor_counts neighbor_list<Context, T, D>::implementation::count(const neighbor_input<T, D>& input) {
  state = stage::failed;
  failure = nullptr;
  replayed = false;
  prepare(input);
  // There is no memory for entries that build_asynchronously could work in.
  prepared = false;
  if (rows == 0) fill_bytes(context, control.data() + size_word, 0, sizeof(std::uint64_t));
  enqueue_cells(input);
  enqueue_row_counts(input);
  enqueue_size_of_counts();
  read_control();
  state = stage::empty;
  return {rows, counts.data(), size};
}

}  // namespace quadrat
