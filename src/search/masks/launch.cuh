// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/masks/write.cuh"

namespace quadrat::detail {

/// Calls f<Boxes>() with the kind of boxes of a search.
template <typename T, int D, typename F>
void with_boxes_kind(const masks_search<T, D>& a, F&& f) {
  if (a.small_boxes) {
    f.template operator()<boxes_kind::many_small>();
  } else if (a.by_images) {
    a.search.system_count > 1 ? f.template operator()<boxes_kind::many_images>()
                              : f.template operator()<boxes_kind::images>();
  } else if (a.search.system_count > 1 || a.folded) {
    f.template operator()<boxes_kind::many>();
  } else if (a.periodic) {
    f.template operator()<boxes_kind::periodic>();
  } else {
    f.template operator()<boxes_kind::open>();
  }
}

template <typename Key, typename T, int D>
void enqueue_small_cells(const cuda_context& context, const Key& key, std::size_t count, std::size_t cells,
                         const small_cells<T, D>& out) {
  const cuda_launch launch(context, "search.small_cells");
  const std::size_t bytes = (count + cells) * sizeof(std::uint32_t);
  static_assert(2 * small_cells_most * sizeof(std::uint32_t) + small_cells_threads <= 48 * 1024, "must be asked for");
  build_small_cells<Key, T, D><<<1, small_cells_threads, bytes, context.stream()>>>(
      key, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(cells), out);
  launch.check();
}

template <typename T, int D>
void enqueue_masks(const cuda_context& context, const masks_search<T, D>& what, std::uint32_t* counts) {
  if (what.rows == 0) return;
  with_boxes_kind(what, [&]<boxes_kind Boxes>() {
    const cuda_launch launch(context, "search.masks");
    if (what.warp_a_row) {
      const unsigned blocks = cuda_launch::blocks(std::size_t{32} * what.rows, masks_block);
      count_by_warp<Boxes><<<blocks, masks_block, 0, context.stream()>>>(what, counts);
    } else {
      const unsigned blocks = cuda_launch::blocks(what.rows, masks_block);
      count_by_thread<Boxes><<<blocks, masks_block, 0, context.stream()>>>(what, counts);
    }
    launch.check();
  });
}

template <bool Plain, boxes_kind Boxes, typename T, int D>
void launch_entries(const cuda_context& context, const masks_search<T, D>& what, const neighbor_sink<T, D>& sink) {
  const cuda_launch launch(context, "search.entries_of_masks");
  if (what.warp_a_row) {
    const unsigned blocks = cuda_launch::blocks(std::size_t{32} * what.rows, masks_block);
    write_by_warp<Plain, Boxes><<<blocks, masks_block, 0, context.stream()>>>(what, sink);
  } else {
    const unsigned blocks = cuda_launch::blocks(what.rows, masks_block);
    write_by_thread<Plain, Boxes><<<blocks, masks_block, 0, context.stream()>>>(what, sink);
  }
  launch.check();
}

template <typename T, int D>
void enqueue_entries_of_masks(const cuda_context& context, const masks_search<T, D>& what,
                              const neighbor_sink<T, D>& sink) {
  if (what.rows == 0) return;
  const bool plain = sink.keys == nullptr && sink.first == nullptr && sink.squared_distances == nullptr &&
                     sink.vectors == nullptr && sink.shifts == nullptr;
  with_boxes_kind(what, [&]<boxes_kind Boxes>() {
    plain ? launch_entries<true, Boxes>(context, what, sink) : launch_entries<false, Boxes>(context, what, sink);
  });
  if (sink.offsets == nullptr) for_each(context, "search.finish_matrix", what.rows, finish_matrix_row<T, D>{sink});
}

}  // namespace quadrat::detail
