// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "parallel/warp_reduce.cuh"
#include "search/masks/entries.cuh"

/// Writes the entries of the list from the results of the search.
namespace quadrat::detail {

/// The destination of the entries staged from `start` to `end`: entry n goes to entry to + n of the list. If only
/// neighbors are written, it goes to address to + 4 n.
struct staged_row {
  std::uint64_t to;
  std::uint32_t start;
  std::uint32_t end;
};

/// Only neighbors: the bits above the slot give the row of an entry, and the warp writes 32 consecutive entries at a
/// time, across rows.
template <typename T, int D>
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
      to[k] = rows[word >> slot_bits].to + sizeof(particle_id) * entry;
      neighbors[k] = load_early(a.elements + (word & slot_mask));
    }
#pragma unroll
    for (std::uint32_t k = 0; k < at_once; ++k) *reinterpret_cast<particle_id*>(to[k]) = neighbors[k];
  }
}

/// The same for rows that may not fit: writes only the entries before the end of their row.
template <typename T, int D>
__device__ void write_neighbors_that_fit(const masks_search<T, D>& a, const std::uint32_t* stage, std::uint32_t total,
                                         const staged_row* rows) {
  for (std::uint32_t entry = threadIdx.x % 32; entry < total; entry += 32) {
    const std::uint32_t word = stage[entry];
    const staged_row& row = rows[word >> slot_bits];
    if (entry >= row.end) continue;
    *reinterpret_cast<particle_id*>(row.to + sizeof(particle_id) * entry) = __ldg(a.elements + (word & slot_mask));
  }
}

/// The first masks of a row, loaded before everything else.
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

inline constexpr std::uint64_t nowhere = ~std::uint64_t{0};

/// Writes one vector per lane to to[at], unless `at` is nowhere, in coalesced stores. `room` holds 32 vectors. The
/// whole warp calls it.
template <typename V, int D>
__device__ void write_vectors(vec<V, D>* to, std::uint64_t at, const vec<V, D>& value, void* room) {
  const unsigned lane = threadIdx.x % 32;
  V* numbers = static_cast<V*>(room);
  __syncwarp();
  for (int axis = 0; axis < D; ++axis) numbers[D * lane + axis] = value[axis];
  __syncwarp();
#pragma unroll
  for (unsigned k = 0; k < D; ++k) {
    const unsigned number = 32 * k + lane;
    const std::uint64_t place = __shfl_sync(~0u, at, static_cast<int>(number / D));
    if (place != nowhere) to[place][static_cast<int>(number % D)] = numbers[number];
  }
}

/// The data that a warp stages.
template <bool Plain, typename T, int D>
struct staged_pairs {
  alignas(16) std::uint32_t words[staged_most];
  staged_row rows[32];
  std::uint32_t slots[Plain ? 1 : 32];  ///< of the rows
  T room[Plain ? 1 : 32 * D];           ///< for a vector of each lane
};

/// The row of a lane.
struct lane_row {
  std::uint64_t begin;   ///< in the list
  std::uint32_t slot;    ///< of its point
  std::uint32_t start;   ///< among the staged entries
  std::uint32_t length;  ///< 0: nothing is staged
  std::uint32_t room;    ///< number of entries that fit
};

/// Writes entries with all requested values, 32 at a time, across rows.
template <boxes_kind Boxes, typename T, int D>
__device__ void write_staged_list(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                  staged_pairs<false, T, D>& staged, std::uint32_t total, const lane_row& mine) {
  const std::uint32_t lane = threadIdx.x % 32, up_to_lane = 0xffffffffu >> (31 - lane);
  const std::uint32_t filled = __ballot_sync(~0u, mine.length > 0);  // only these rows are numbered
  if (mine.length > 0) {
    const int number = __popc(filled & up_to_lane) - 1;
    staged.rows[number] = {mine.begin - mine.start, mine.start, mine.start + mine.room};
    staged.slots[number] = mine.slot;
  }
  __syncwarp();
  int before = 0;  // rows that begin before these entries
  for (std::uint32_t base = 0; base < total; base += 32) {
    const std::uint32_t begin = mine.length > 0 && mine.start - base < 32 ? 1u << (mine.start - base) : 0;
    const std::uint32_t begins = warp_or(begin);
    const int number = before + __popc(begins & up_to_lane) - 1;
    before += __popc(begins);
    const std::uint32_t entry = base + lane, word = staged.words[min(entry, total - 1)];
    const row_point<T, D> own(a, staged.slots[number]);
    const staged_row& row = staged.rows[number];
    const std::uint64_t at = entry < total && entry < row.end ? row.to + entry : nowhere;
    const auto found = entry_of<Boxes>(a, sink, own, slot_of<Boxes>(a, word), unpacked_shift<Boxes>(a, word));
    if (sink.keys != nullptr) {
      if (at != nowhere) sink.keys[at] = key_of_entry(found.other, found.shift);
      continue;
    }
    if (at != nowhere) sink.store_numbers(at, own.id, found.other, squared_norm(found.separation));
    if (sink.vectors != nullptr) write_vectors(sink.vectors, at, found.separation, staged.room);
    if (sink.shifts != nullptr) write_vectors(sink.shifts, at, found.shift, staged.room);
  }
}

/// Writes the entries staged by the lanes. `whole`: all entries of every row fit.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_staged(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                             staged_pairs<Plain, T, D>& staged, std::uint32_t total, const lane_row& mine, bool whole) {
  if constexpr (Plain) {
    const auto to = reinterpret_cast<std::uint64_t>(sink.neighbors + mine.begin);
    if (mine.length > 0) {
      staged.rows[threadIdx.x % 32] = {to - sizeof(particle_id) * mine.start, mine.start, mine.start + mine.room};
    }
    __syncwarp();
    whole ? write_staged_neighbors(a, staged.words, total, staged.rows)
          : write_neighbors_that_fit(a, staged.words, total, staged.rows);
  } else {
    write_staged_list<Boxes>(a, sink, staged, total, mine);
  }
  __syncwarp();
}

/// A thread per row stages the pairs of as many rows as fit in shared memory; then the warp writes.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    write_by_thread(const __grid_constant__ masks_search<T, D> a, const __grid_constant__ neighbor_sink<T, D> sink) {
  __shared__ staged_pairs<Plain, T, D> staged_of_warp[masks_block / 32];
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
  staged_pairs<Plain, T, D>& staged = staged_of_warp[threadIdx.x / 32];
  for (int done = 0; done < 32;) {
    const std::uint32_t base = __shfl_sync(~0u, end - share.count, done);
    const bool fits = share.count <= staged_row_most && share.used <= a.words_a_row && end - base <= staged_most;
    const std::uint32_t follow = __ballot_sync(~0u, fits) >> done;
    const int rows = follow == ~0u ? 32 : __ffs(static_cast<int>(~follow)) - 1;
    if (rows == 0) {
      const std::uint32_t used = __shfl_sync(~0u, share.used, done);
      write_long_row<Plain, Boxes>(a, sink, __shfl_sync(~0u, home, done), used, staged.words);
      ++done;
      continue;
    }
    const bool mine = lane >= done && lane < done + rows;
    const std::uint32_t start = end - share.count - base, total = __shfl_sync(~0u, end, done + rows - 1) - base;
    if (mine) stage_row<Plain, Boxes>(a, masks, ahead, share.used, staged.words + start);
    const lane_row row{begin, home, start, mine ? share.count : 0, room};
    write_staged<Plain, Boxes>(a, sink, staged, total, row, whole);
    done += rows;
  }
}

/// Index: row * lanes + lane. Pads the rows of a matrix; the threads of a row take consecutive entries, so that their
/// writes coalesce.
template <typename T, int D>
struct finish_matrix_row {
  static constexpr std::size_t lanes = 8;
  neighbor_sink<T, D> sink;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = i / lanes, lane = i % lanes;
    const std::uint64_t count = sink.counts[row];
    if (count > sink.width && lane == 0) sink.faults.raise_overflow(list_fault_base + row, count);
    if (sink.keys != nullptr) return;
    for (std::uint64_t k = count + lane; k < sink.width; k += lanes) sink.neighbors[sink.begin(row) + k] = no_particle;
  }
};

}  // namespace quadrat::detail
