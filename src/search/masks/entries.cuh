// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/parallel/warp_scan.hpp"
#include "search/masks/search.cuh"

/// Entries of the list, and rows that a warp writes one by one.
namespace quadrat::detail {

/// A row of the list: its point and slot.
template <typename T, int D>
struct row_point : search_point<T, D> {
  std::uint32_t slot;

  __device__ row_point(const masks_search<T, D>& a, std::uint32_t at)
      : search_point<T, D>(load_point(a, at)), slot(at) {}
};

/// S between the caller's positions instead of the wrapped ones.
template <boxes_kind Boxes, typename T, int D>
__device__ vec<int, D> reported_shift(const masks_search<T, D>& a, const row_point<T, D>& own, std::uint32_t slot,
                                      particle_id other, const vec<int, D>& shift) {
  if constexpr (Boxes == boxes_kind::open) return shift;
  if (a.turns != nullptr) return shift + a.turns[own.slot] - a.turns[slot];
  return a.search.reported(a.search.query_of_row(own.id), other, shift);
}

/// An entry of the list with its optional values.
template <typename T, int D>
struct list_entry {
  particle_id other;
  vec<int, D> shift;
  vec<T, D> separation;
};
template <boxes_kind Boxes, typename T, int D>
__device__ list_entry<T, D> entry_of(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                     const row_point<T, D>& own, std::uint32_t slot, vec<int, D> shift) {
  const search_point<T, D> other = load_point(a, slot);
  const search_system<T, D>& system = system_of<Boxes>(a, own.id);
  const vec<T, D> direct = other.position - own.position;
  if constexpr (Boxes == boxes_kind::many_small) shift = nearest_image<T, D>(system.shape).shift(direct);
  const vec<T, D> r = image_of<Boxes>(system, shift)(direct);
  if (sink.keys == nullptr && sink.shifts != nullptr) shift = reported_shift<Boxes>(a, own, slot, other.id, shift);
  return {other.id, shift, r};
}

/// Writes one entry. Plain: only the neighbor.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_entry(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink, std::uint64_t at,
                            const row_point<T, D>& own, std::uint32_t slot, const vec<int, D>& shift) {
  if constexpr (Plain) {
    sink.neighbors[at] = __ldg(a.elements + slot);
  } else {
    const list_entry<T, D> entry = entry_of<Boxes>(a, sink, own, slot, shift);
    if (sink.keys != nullptr) {
      sink.keys[at] = key_of_entry(entry.other, entry.shift);
    } else {
      sink.store(at, own.id, entry.other, entry.shift, entry.separation, squared_norm(entry.separation));
    }
  }
}

template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_row_by_warp(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                  const row_point<T, D>& own) {
  std::uint64_t at = sink.begin(own.id);
  const std::uint64_t limit = sink.limit(own.id);
  const std::uint32_t before = (1u << threadIdx.x % 32) - 1;
  for_each_warp_mask<Boxes>(a, own, own.slot, [&](std::uint32_t mask, std::uint32_t other, const vec<int, D>& shift) {
    const std::uint64_t mine = at + static_cast<std::uint32_t>(__popc(mask & before));
    if ((mask & (before + 1)) != 0 && mine < limit) write_entry<Plain, Boxes>(a, sink, mine, own, other, shift);
    at += static_cast<std::uint32_t>(__popc(mask));
  });
}

template <bool Plain, boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    write_by_warp(const __grid_constant__ masks_search<T, D> a, const __grid_constant__ neighbor_sink<T, D> sink) {
  if (blockIdx.x == 0 && threadIdx.x == 0) sink.report(a.rows);
  const std::uint32_t slot = (blockIdx.x * masks_block + threadIdx.x) / 32;
  if (slot >= a.rows) return;
  write_row_by_warp<Plain, Boxes>(a, sink, row_point<T, D>(a, slot));
}

/// Calls f(k) for each bit k of a mask, from the lowest on. Of the reversed mask the next bit is the highest, which
/// takes one slow instruction instead of two.
template <typename F>
__device__ void for_each_bit(std::uint32_t mask, F&& f) {
  std::uint32_t bits = __brev(mask);
  while (bits != 0) {
    const int k = __clz(static_cast<int>(bits));
    f(static_cast<std::uint32_t>(k));
    bits &= 0x7fffffffu >> k;
  }
}

/// Loads that the compiler does not delay until their use, so that all loads of a loop are in flight at once.
[[nodiscard]] __device__ inline particle_id load_early(const particle_id* from) {
  particle_id value;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(value) : "l"(from));
  return value;
}

/// Writes `filled` staged entries of one row from `at` on.
template <boxes_kind Boxes, typename T, int D>
__device__ void write_staged_row(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                 const row_point<T, D>& own, const std::uint32_t* stage, std::uint32_t filled,
                                 std::uint64_t at, std::uint64_t limit) {
  const auto most = static_cast<std::uint32_t>(min(static_cast<std::uint64_t>(filled), limit - at));
  for (std::uint32_t entry = threadIdx.x % 32; entry < most; entry += 32) {
    const std::uint32_t word = stage[entry];
    write_entry<false, Boxes>(a, sink, at + entry, own, slot_of<Boxes>(a, word), unpacked_shift<Boxes>(a, word));
  }
}

/// Writes only the neighbors of a long row, from its masks. One lane per candidate of a mask, so that reads and writes
/// of ids coalesce. `stage`: 16 bytes for each lane.
template <boxes_kind Boxes, typename T, int D>
__device__ void write_long_neighbors(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink, std::uint32_t slot,
                                     std::uint32_t used, uint4* stage) {
  constexpr std::uint32_t at_once = 4;
  const std::uint32_t lane = threadIdx.x % 32, before = (1u << lane) - 1;
  const particle_id id = __ldg(a.elements + slot);
  const std::uint64_t begin = sink.begin(id);
  const auto room = static_cast<std::uint32_t>(min(sink.limit(id) - begin, std::uint64_t{0xffffffffu}));
  particle_id* to = sink.neighbors + begin;
  const candidate_mask* from = a.words + slot * a.slot_stride;
  const auto load = [&](std::uint32_t k) { return k < used ? from[k * a.mask_stride] : candidate_mask{0, 0}; };
  candidate_mask next = load(lane);
  std::uint32_t written = 0;
  for (std::uint32_t first = 0; first < used; first += 32) {
    const candidate_mask mine = next;
    next = load(first + 32 + lane);
    const auto count = static_cast<std::uint32_t>(__popc(mine.bits));
    const std::uint32_t end = written + warp_inclusive_sum(count, lane);
    __syncwarp();
    stage[lane] = {mine.bits, slot_of<Boxes>(a, mine.code + 1), end - count, 0};
    __syncwarp();
    for (std::uint32_t k = 0; k < min(used - first, 32u); k += at_once) {  // masks beyond the last are empty
      std::uint32_t place[at_once];
      particle_id other[at_once];
#pragma unroll
      for (std::uint32_t j = 0; j < at_once; ++j) {
        const uint4 mask = stage[k + j];
        place[j] = (mask.x >> lane & 1) != 0 ? mask.z + static_cast<std::uint32_t>(__popc(mask.x & before)) : room;
        if (place[j] < room) other[j] = load_early(a.elements + mask.y + lane);
      }
#pragma unroll
      for (std::uint32_t j = 0; j < at_once; ++j) {
        if (place[j] < room) to[place[j]] = other[j];
      }
    }
    written = __shfl_sync(~0u, end, 31);
  }
  __syncwarp();
}

/// Writes a long row from its masks with all requested values, 32 entries at a time, one per lane.
template <boxes_kind Boxes, typename T, int D>
__device__ void write_long_list(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                const row_point<T, D>& own, std::uint32_t used, std::uint32_t* stage) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint64_t at = sink.begin(own.id);
  const std::uint64_t limit = sink.limit(own.id);
  std::uint32_t filled = 0;
  const auto flush = [&] {
    __syncwarp();
    write_staged_row<Boxes>(a, sink, own, stage, filled, min(at, limit), limit);
    __syncwarp();
    at += filled;
    filled = 0;
  };
  const candidate_mask* from = a.words + own.slot * a.slot_stride;
  const auto load = [&](std::uint32_t k) { return k < used ? from[k * a.mask_stride] : candidate_mask{0, 0}; };
  candidate_mask next = load(lane);
  for (std::uint32_t first = 0; first < used; first += 32) {
    const candidate_mask mine = next;
    next = load(first + 32 + lane);
    const auto count = static_cast<std::uint32_t>(__popc(mine.bits));
    const std::uint32_t end = warp_inclusive_sum(count, lane);
    const std::uint32_t total = __shfl_sync(~0u, end, 31);
    if (filled + total > staged_most) flush();
    std::uint32_t* to = stage + filled + end - count;
    for_each_bit(mine.bits, [&](std::uint32_t k) { *to++ = mine.code + 1 + k; });
    filled += total;
  }
  flush();
}

/// The warp writes a long row: from its masks if they are complete, by a search otherwise.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_long_row(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink, std::uint32_t slot,
                               std::uint32_t used, std::uint32_t* stage) {
  if (used > a.words_a_row) {
    write_row_by_warp<Plain, Boxes>(a, sink, row_point<T, D>(a, slot));
  } else if constexpr (Plain) {
    write_long_neighbors<Boxes>(a, sink, slot, used, reinterpret_cast<uint4*>(stage));
  } else {
    write_long_list<Boxes>(a, sink, row_point<T, D>(a, slot), used, stage);
  }
}

}  // namespace quadrat::detail
