// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/parallel/warp_scan.hpp"
#include "search/masks/search.cuh"

/// Writes the entries of the list from the results of the search.
namespace quadrat::detail {

/// Writes one entry. Plain: only the neighbor.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_entry(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink, std::uint64_t at,
                            const search_point<T, D>& own, std::uint32_t slot, vec<int, D> shift) {
  if constexpr (Plain) {
    sink.neighbors[at] = __ldg(a.elements + slot);
  } else {
    const search_point<T, D> other = load_point(a, slot);
    const search_system<T, D>& system = system_of<Boxes>(a, own.id);
    const vec<T, D> direct = other.position - own.position;
    if constexpr (Boxes == boxes_kind::many_small) shift = nearest_image<T, D>(system.shape).shift(direct);
    if (sink.keys != nullptr) {
      sink.keys[at] = key_of_entry(other.id, shift);
      return;
    }
    const vec<T, D> r = image_of<Boxes>(system, shift)(direct);
    if (sink.shifts != nullptr) shift = a.search.reported(a.search.query_of_row(own.id), other.id, shift);
    sink.store(at, own.id, other.id, shift, r, squared_norm(r));
  }
}

template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_row_by_warp(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                  const search_point<T, D>& own, std::uint32_t slot) {
  std::uint64_t at = sink.begin(own.id);
  const std::uint64_t limit = sink.limit(own.id);
  const std::uint32_t before = (1u << threadIdx.x % 32) - 1;
  for_each_warp_mask<Boxes>(a, own, slot, [&](std::uint32_t mask, std::uint32_t other, const vec<int, D>& shift) {
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
  write_row_by_warp<Plain, Boxes>(a, sink, load_point(a, slot), slot);
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

/// Loads that are not delayed until the compiler sees a use: as many as a loop has are on their way at once.
[[nodiscard]] __device__ inline particle_id load_early(const particle_id* from) {
  particle_id value;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(value) : "l"(from));
  return value;
}

/// Writes `filled` staged entries of one row from `at` on: 32 that share a cache line at a time.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_staged_row(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                 const search_point<T, D>& own, const std::uint32_t* stage, std::uint32_t filled,
                                 std::uint64_t at, std::uint64_t limit) {
  const std::uint32_t lane = threadIdx.x % 32;
  const auto most = static_cast<std::uint32_t>(min(static_cast<std::uint64_t>(filled), limit - at));
  if constexpr (Plain) {
    // Entries before the first have large numbers.
    const std::uint32_t skew =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(sink.neighbors + at) / 4 % 32);
    for (std::uint32_t first = lane - skew; static_cast<int>(first) < static_cast<int>(most); first += 4 * 32) {
      particle_id neighbors[4];
#pragma unroll
      for (std::uint32_t k = 0; k < 4; ++k) {
        const std::uint32_t entry = first + 32 * k;
        neighbors[k] = load_early(a.elements + slot_of<Boxes>(a, stage[entry < most ? entry : 0]));
      }
#pragma unroll
      for (std::uint32_t k = 0; k < 4; ++k) {
        const std::uint32_t entry = first + 32 * k;
        if (entry < most) sink.neighbors[at + entry] = neighbors[k];
      }
    }
  } else {
    for (std::uint32_t entry = lane; entry < most; entry += 32) {
      const std::uint32_t word = stage[entry];
      write_entry<false, Boxes>(a, sink, at + entry, own, slot_of<Boxes>(a, word), unpacked_shift<Boxes>(a, word));
    }
  }
}

/// The warp writes a long row: from its masks if they are complete, a lane for each of 32; by a search otherwise.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_long_row(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink, std::uint32_t slot,
                               std::uint32_t used, std::uint32_t* stage) {
  const search_point<T, D> own = load_point(a, slot);
  if (used > a.words_a_row) {
    write_row_by_warp<Plain, Boxes>(a, sink, own, slot);
    return;
  }
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint64_t at = sink.begin(own.id);
  const std::uint64_t limit = sink.limit(own.id);
  std::uint32_t filled = 0;
  const auto flush = [&] {
    __syncwarp();
    write_staged_row<Plain, Boxes>(a, sink, own, stage, filled, min(at, limit), limit);
    __syncwarp();
    at += filled;
    filled = 0;
  };
  const candidate_mask* from = a.words + slot * a.slot_stride;
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

/// Where the entries go that are staged from `start` on, below `end`: number n to entry to + n of the list. If only
/// neighbors are written, to address to + 4 n.
struct staged_row {
  std::uint64_t to;
  std::uint32_t start;
  std::uint32_t end;
};

/// Only neighbors: the bits above the slot give the row of an entry, and the warp writes 32 consecutive entries at a
/// time, across rows. `Whole`: no row has an end before its last entry.
template <bool Whole, typename T, int D>
__device__ void write_staged_neighbors(const masks_search<T, D>& a, const std::uint32_t* stage, std::uint32_t total,
                                       const staged_row* rows) {
  constexpr std::uint32_t at_once = 8;
  for (std::uint32_t first = threadIdx.x % 32; first < total; first += at_once * 32) {
    std::uint64_t to[at_once];
    particle_id neighbors[at_once];
#pragma unroll
    for (std::uint32_t k = 0; k < at_once; ++k) {
      const std::uint32_t entry = min(first + 32 * k, total - 1);  // the last one may be written twice
      const std::uint32_t word = stage[entry];
      const staged_row& row = rows[word >> slot_bits];
      to[k] = Whole || entry < row.end ? row.to + sizeof(particle_id) * entry : 0;
      neighbors[k] = load_early(a.elements + (word & slot_mask));
    }
#pragma unroll
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (Whole || to[k] != 0) *reinterpret_cast<particle_id*>(to[k]) = neighbors[k];
    }
  }
}

/// The first masks of a row, loaded ahead of all else.
struct first_masks {
  static constexpr std::uint32_t count = 4;
  candidate_mask mask[count];
};
template <typename T, int D>
__device__ first_masks load_masks(const masks_search<T, D>& a, const candidate_mask* from, std::uint32_t there) {
  first_masks result;
#pragma unroll
  for (std::uint32_t k = 0; k < first_masks::count; ++k) {
    result.mask[k] = k < there ? from[k * a.mask_stride] : candidate_mask{0, 0};
  }
  return result;
}

/// A thread stages the entries of its row. Masks are loaded four ahead. Plain: slots, with the lane above them.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void stage_row(const masks_search<T, D>& a, const candidate_mask* from, first_masks ahead,
                          std::uint32_t used, std::uint32_t* at) {
  const std::uint32_t tag = threadIdx.x % 32 << slot_bits;
  for (std::uint32_t k = 0; k < used; k += first_masks::count) {
    const first_masks now = ahead;
    from += first_masks::count * a.mask_stride;
    ahead = load_masks(a, from, used - min(used, k + first_masks::count));
#pragma unroll
    for (std::uint32_t j = 0; j < first_masks::count; ++j) {
      if (k + j >= used) continue;
      const std::uint32_t first = now.mask[j].code + 1;
      const std::uint32_t word = Plain ? slot_of<Boxes>(a, first) | tag : first;
      for_each_bit(now.mask[j].bits, [&](std::uint32_t bit) { *at++ = word + bit; });
    }
  }
}

/// The entries of one staged row after another, with all that is asked for.
template <boxes_kind Boxes, typename T, int D>
__device__ void write_staged_rows(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                  const std::uint32_t* stage, const staged_row* rows, int first, int last,
                                  std::uint32_t first_slot) {
  for (int row = first; row < last; ++row) {
    const staged_row target = rows[row];
    if (target.start == target.end) continue;  // there may be no such row
    const search_point<T, D> own = load_point(a, first_slot + static_cast<std::uint32_t>(row));
    for (std::uint32_t entry = target.start + threadIdx.x % 32; entry < target.end; entry += 32) {
      const std::uint32_t word = stage[entry];
      write_entry<false, Boxes>(a, sink, target.to + entry, own, slot_of<Boxes>(a, word),
                                unpacked_shift<Boxes>(a, word));
    }
  }
}

/// A thread per row stages the pairs of as many rows as fit in shared memory; then the warp writes.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    write_by_thread(const __grid_constant__ masks_search<T, D> a, const __grid_constant__ neighbor_sink<T, D> sink) {
  __shared__ std::uint32_t staged[masks_block / 32][staged_most];
  __shared__ staged_row staged_rows[masks_block / 32][32];
  if (blockIdx.x == 0 && threadIdx.x == 0) sink.report(a.rows);
  const std::uint32_t slot = blockIdx.x * masks_block + threadIdx.x;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const std::uint32_t home = min(slot, a.rows - 1);
  const candidate_mask* masks = a.words + home * a.slot_stride;
  const first_masks ahead = load_masks(a, masks, a.words_a_row);
  const row_share share = slot < a.rows ? a.shares[slot] : row_share{0, 0};
  const particle_id id = __ldg(a.elements + home);
  const std::uint64_t begin = sink.begin(id);
  const auto room = static_cast<std::uint32_t>(min(static_cast<std::uint64_t>(share.count), sink.limit(id) - begin));
  const bool whole = __all_sync(~0u, room == share.count);
  const std::uint32_t end = warp_inclusive_sum(share.count, static_cast<unsigned>(lane));
  std::uint32_t* stage = staged[threadIdx.x / 32];
  staged_row* targets = staged_rows[threadIdx.x / 32];
  for (int done = 0; done < 32;) {
    const std::uint32_t base = __shfl_sync(~0u, end - share.count, done);
    const bool fits = share.count <= staged_row_most && share.used <= a.words_a_row && end - base <= staged_most;
    const std::uint32_t follow = __ballot_sync(~0u, fits) >> done;
    const int rows = follow == ~0u ? 32 : __ffs(static_cast<int>(~follow)) - 1;
    if (rows == 0) {
      const std::uint32_t used = __shfl_sync(~0u, share.used, done);
      write_long_row<Plain, Boxes>(a, sink, __shfl_sync(~0u, home, done), used, stage);
      ++done;
      continue;
    }
    const std::uint32_t start = end - share.count - base;
    if (lane >= done && lane < done + rows) {
      stage_row<Plain, Boxes>(a, masks, ahead, share.used, stage + start);
      const auto to = reinterpret_cast<std::uint64_t>(sink.neighbors + begin);
      targets[lane] = {Plain ? to - sizeof(particle_id) * start : begin - start, start, start + room};
    }
    __syncwarp();
    if constexpr (Plain) {
      const std::uint32_t total = __shfl_sync(~0u, end, done + rows - 1) - base;
      whole ? write_staged_neighbors<true>(a, stage, total, targets)
            : write_staged_neighbors<false>(a, stage, total, targets);
    } else {
      write_staged_rows<Boxes>(a, sink, stage, targets, done, done + rows, slot - static_cast<std::uint32_t>(lane));
    }
    __syncwarp();
    done += rows;
  }
}

/// Index: row. Sets counts and padding of a matrix.
template <typename T, int D>
struct finish_matrix_row {
  neighbor_sink<T, D> sink;

  QUADRAT_HD void operator()(std::size_t row) const {
    const std::uint64_t count = sink.counts[row];
    if (count > sink.width) sink.faults.raise_overflow(list_fault_base + row, count);
    if (sink.keys != nullptr) return;
    for (std::uint64_t k = count; k < sink.width; ++k) sink.neighbors[sink.begin(row) + k] = no_particle;
  }
};

}  // namespace quadrat::detail
