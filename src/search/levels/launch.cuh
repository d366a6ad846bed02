// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "search/levels/by_threads.cuh"
#include "search/levels/by_warps.cuh"
#include "search/masks/write.cuh"

namespace quadrat::detail {

/// Calls f<Kind>() with the kind of rows of a search.
template <typename T, int D, typename F>
void with_row_kind(const radius_search<T, D>& a, F&& f) {
  if (a.folded) {
    f.template operator()<row_kind::folded>();
  } else if (a.periodic || a.walk.search.system_count > 1) {
    f.template operator()<row_kind::periodic>();
  } else {
    f.template operator()<row_kind::open>();
  }
}

/// Blocks that fill the device, each of which takes as many long rows as there are for it.
[[nodiscard]] inline unsigned blocks_of_long_rows(const cuda_context& context) {
  return 8 * static_cast<unsigned>(context.multiprocessors());
}

template <typename T, int D>
void enqueue_radius_counts(const cuda_context& context, const radius_search<T, D>& what, std::uint32_t* counts,
                           const fault_flag& faults, workspace<cuda_context>& scratch) {
  if (what.rows == 0) return;
  const long_rows& longer = what.longer;
  fill_bytes(context, longer.total, 0, sizeof(std::uint64_t));
  if (longer.slots != nullptr) {
    fill_bytes(context, longer.count, 0, sizeof(std::uint32_t));
    with_row_kind(what, [&]<row_kind Kind>() {
      const cuda_launch launch(context, "search.count_by_threads");
      const unsigned blocks = cuda_launch::blocks(what.rows, masks_block);
      count_radius_rows<Kind><<<blocks, masks_block, 0, context.stream()>>>(what, counts);
      launch.check();
    });
  }
  const unsigned blocks = blocks_of_long_rows(context);
  {
    const cuda_launch launch(context, "search.measure_long_rows");
    measure_long_rows<<<blocks, long_rows_block, 0, context.stream()>>>(what);
    launch.check();
  }
  for_each(context, "search.cut_long_rows", what.rows, cut_long_row{longer});
  exclusive_scan_with_total(context, longer.parts, longer.first_part, what.rows, scratch);
  const cuda_launch launch(context, "search.count_parts");
  count_parts<<<blocks, long_rows_block, 0, context.stream()>>>(what);
  sum_parts_of_rows<<<blocks, long_rows_block, 0, context.stream()>>>(what, counts, faults);
  launch.check();
}

/// The masks of the rows that threads have searched, as the method `masks` writes them.
template <typename T, int D>
[[nodiscard]] masks_search<T, D> masks_of(const radius_search<T, D>& a) {
  masks_search<T, D> result{};
  result.search = a.walk.search;
  result.search.records = a.walk.slots.records;
  result.system = a.box;
  result.periodic = a.periodic || a.folded;
  result.folded = a.folded;
  result.rows = a.rows;
  result.elements = a.walk.slots.ids;
  result.words = a.words;
  result.words_a_row = a.words_a_row;
  result.slot_stride = 1;
  result.mask_stride = a.rows;
  result.shares = a.shares;
  return result;
}

template <typename T, int D>
void enqueue_radius_entries(const cuda_context& context, const radius_search<T, D>& what,
                            const neighbor_sink<T, D>& sink) {
  if (what.rows == 0) return;
  if (what.longer.slots != nullptr) {
    enqueue_entries_of_masks(context, masks_of(what), sink);
  } else {
    for_each(context, "search.size", 1, report_size<T, D>{sink, what.rows});
    if (sink.offsets == nullptr) {
      using finish = finish_matrix_row<T, D>;
      for_each(context, "search.finish_matrix", finish::lanes * what.rows, finish{sink});
    }
  }
  const cuda_launch launch(context, "search.write_parts");
  write_parts<<<blocks_of_long_rows(context), long_rows_block, 0, context.stream()>>>(what, sink);
  launch.check();
}

}  // namespace quadrat::detail
