// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/cuda_check.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/masks/at_once.cuh"
#include "search/masks/systems_at_once.cuh"
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

template <bool Half, typename T, int D>
void launch_tiles(const cuda_context& context, const masks_search<T, D>& what, std::uint32_t* counts) {
  const cuda_launch launch(context, "search.tiles");
  const std::size_t bytes = tile_bytes(what.tile_points, sizeof(search_point<T, D>));
  count_by_tiles<Half>
      <<<what.search.system_count + large_system_blocks, tiles_block, bytes, context.stream()>>>(what, counts);
  launch.check();
}

template <typename T, int D>
void enqueue_masks(const cuda_context& context, const masks_search<T, D>& what, std::uint32_t* counts) {
  if (what.rows == 0) return;
  if (what.tile_points > 0) {
    what.search.half ? launch_tiles<true>(context, what, counts) : launch_tiles<false>(context, what, counts);
    return;
  }
  with_boxes_kind(what, [&]<boxes_kind Boxes>() {
    const cuda_launch launch(context, "search.masks");
    if (what.warp_a_row) {
      const unsigned blocks = cuda_launch::blocks(std::size_t{32} * what.rows, masks_block);
      count_by_warp<Boxes><<<blocks, masks_block, 0, context.stream()>>>(what, counts);
    } else {
      const unsigned blocks = cuda_launch::blocks(what.rows, masks_block);
      const auto kernel = what.search.half ? count_by_thread<true, Boxes, T, D> : count_by_thread<false, Boxes, T, D>;
      kernel<<<blocks, masks_block, 0, context.stream()>>>(what, counts);
    }
    launch.check();
  });
}

/// `most`: the same for every launch of a kernel, because other host threads may set it concurrently.
template <typename Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t most) {
  check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(most)),
             "asking for shared memory");
}

template <typename T, int D>
void enqueue_at_once(const cuda_context& context, const list_at_once<T, D>& what, const at_once_plan& plan) {
  const cuda_launch launch(context, "search.at_once");
  const auto start = [&](auto* kernel) {
    allow_shared_memory(kernel, at_once_room(context));
    kernel<<<plan.blocks, at_once_threads, plan.shared_bytes, context.stream()>>>(what);
  };
  what.periodic ? start(build_at_once<boxes_kind::periodic, T, D>) : start(build_at_once<boxes_kind::open, T, D>);
  launch.check();
}

template <typename T, int D>
void enqueue_systems_at_once(const cuda_context& context, const systems_at_once<T, D>& what) {
  for_each(context, "search.find_systems", what.masks.search.points.count, find_systems<T, D>{what});
  const cuda_launch launch(context, "search.systems_at_once");
  const std::size_t bytes = system_bytes(what.masks.tile_points, sizeof(search_point<T, D>));
  const auto start = [&](auto* kernel) {
    allow_shared_memory(kernel, system_room(context));
    kernel<<<what.masks.search.system_count, tiles_block, bytes, context.stream()>>>(what);
  };
  what.masks.search.half ? start(build_systems_at_once<true, T, D>) : start(build_systems_at_once<false, T, D>);
  launch.check();
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
  with_boxes_kind(what, [&]<boxes_kind Boxes>() {
    sink.plain() ? launch_entries<true, Boxes>(context, what, sink) : launch_entries<false, Boxes>(context, what, sink);
  });
  if (sink.offsets == nullptr) {
    using finish = finish_matrix_row<T, D>;
    for_each(context, "search.finish_matrix", finish::lanes * what.rows, finish{sink});
  }
}

}  // namespace quadrat::detail
