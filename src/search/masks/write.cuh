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
    const search_point<T, D> other = load_point(a.search.records, slot);
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

/// Writes four entries at once, each only if to[k] is below the limit.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_four(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink, const std::uint64_t (&to)[4],
                           std::uint64_t limit, const search_point<T, D>& own, const std::uint32_t (&code)[4]) {
  if constexpr (Plain) {
    particle_id neighbors[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (to[k] < limit) neighbors[k] = __ldg(a.elements + (slot_of<Boxes>(a, code[k])));
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (to[k] < limit) sink.neighbors[to[k]] = neighbors[k];
    }
  } else {
    for (int k = 0; k < 4; ++k) {
      if (to[k] >= limit) continue;
      write_entry<false, Boxes>(a, sink, to[k], own, slot_of<Boxes>(a, code[k]), unpacked_shift<Boxes>(a, code[k]));
    }
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
  write_row_by_warp<Plain, Boxes>(a, sink, load_point(a.search.records, slot), slot);
}

/// The warp writes a long row, 32 candidates at a time: from its masks if they are complete, by a search otherwise.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_long_row(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                               const search_point<T, D>& own, std::uint32_t slot, std::uint32_t used) {
  if (used > a.words_a_row) {
    write_row_by_warp<Plain, Boxes>(a, sink, own, slot);
    return;
  }
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t before = (1u << lane) - 1;
  std::uint64_t at = sink.begin(own.id);
  const std::uint64_t limit = sink.limit(own.id);
  for (std::uint32_t first = 0; first < used; first += 32) {
    candidate_mask mine{0, 0};
    if (first + lane < used) mine = a.words[slot * a.slot_stride + (first + lane) * a.mask_stride];
    const int here = static_cast<int>(min(used - first, 32u));
    // Four masks at a time, so that four loads overlap; masks beyond the last one are empty.
    for (int k = 0; k < here; k += 4) {
      std::uint32_t code[4];
      std::uint64_t to[4];
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        const std::uint32_t bits = __shfl_sync(~0u, mine.bits, k + step);
        code[step] = __shfl_sync(~0u, mine.code, k + step) + lane + 1;
        to[step] = (bits >> lane & 1) != 0 ? at + static_cast<std::uint32_t>(__popc(bits & before)) : limit;
        at += static_cast<std::uint32_t>(__popc(bits));
      }
      write_four<Plain, Boxes>(a, sink, to, limit, own, code);
    }
  }
}

/// Destination of a row staged from `start` on: to[entry] for entries below `end`.
struct staged_row {
  std::uint64_t to;
  std::uint32_t end;
};

/// Only neighbors: the bits above the slot give the row of an entry, and the warp writes 32 consecutive entries at a
/// time, across rows.
template <typename T, int D>
__device__ void write_staged_neighbors(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                       const std::uint32_t* stage, std::uint32_t total, const staged_row* rows) {
  for (std::uint32_t first = threadIdx.x % 32; first < total; first += 4 * 32) {
    std::uint64_t to[4];
    particle_id neighbors[4];
    bool there[4];
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t entry = first + 32 * k;
      const std::uint32_t word = stage[entry < total ? entry : first];
      const staged_row row = rows[word >> slot_bits];
      neighbors[k] = __ldg(a.elements + (word & slot_mask));
      to[k] = row.to + entry;
      there[k] = entry < total && entry < row.end;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) {
      if (there[k]) sink.neighbors[to[k]] = neighbors[k];
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
  const search_point<T, D> own = load_point(a.search.records, home);
  const row_share share = slot < a.rows ? a.shares[slot] : row_share{0, 0};
  const std::uint64_t begin = sink.begin(own.id);
  const auto room =
      static_cast<std::uint32_t>(min(static_cast<std::uint64_t>(share.count), sink.limit(own.id) - begin));
  const std::uint32_t end = warp_inclusive_sum(share.count, static_cast<unsigned>(lane));
  std::uint32_t* stage = staged[threadIdx.x / 32];
  staged_row* targets = staged_rows[threadIdx.x / 32];
  for (int done = 0; done < 32;) {
    const std::uint32_t base = __shfl_sync(~0u, end - share.count, done);
    const bool staged = share.count <= staged_row_most && share.used <= a.words_a_row && end - base <= staged_most;
    const std::uint32_t follow = __ballot_sync(~0u, staged) >> done;
    const int rows = follow == ~0u ? 32 : __ffs(static_cast<int>(~follow)) - 1;
    if (rows == 0) {
      search_point<T, D> long_row;
      for (int axis = 0; axis < D; ++axis) long_row.position[axis] = __shfl_sync(~0u, own.position[axis], done);
      long_row.id = __shfl_sync(~0u, own.id, done);
      const std::uint32_t used = __shfl_sync(~0u, share.used, done);
      write_long_row<Plain, Boxes>(a, sink, long_row, __shfl_sync(~0u, home, done), used);
      ++done;
      continue;
    }
    const std::uint32_t start = end - share.count - base;
    if (lane >= done && lane < done + rows) {
      std::uint32_t* at = stage + start;
      const std::uint32_t tag = static_cast<std::uint32_t>(lane) << slot_bits;
      const auto put = [&](std::uint32_t mask, std::uint32_t code) {
        for (; mask != 0; mask &= mask - 1) {
          const std::uint32_t word = code + static_cast<std::uint32_t>(__ffs(static_cast<int>(mask)));
          *at++ = Plain ? slot_of<Boxes>(a, word) | tag : word;
        }
      };
      const candidate_mask* from = a.words + slot * a.slot_stride;
      candidate_mask next = share.used > 0 ? *from : candidate_mask{0, 0};
      for (std::uint32_t k = 0; k < share.used; ++k) {
        const candidate_mask word = next;
        from += a.mask_stride;
        if (k + 1 < share.used) next = *from;  // loads while the bits of this mask are read
        put(word.bits, word.code);
      }
      targets[lane] = {begin - start, start + room};
    }
    __syncwarp();
    if constexpr (Plain) {
      const std::uint32_t total = __shfl_sync(~0u, end, done + rows - 1) - base;
      write_staged_neighbors(a, sink, stage, total, targets);
    } else {
      for (int row = done; row < done + rows; ++row) {
        search_point<T, D> of_row;
        for (int axis = 0; axis < D; ++axis) of_row.position[axis] = __shfl_sync(~0u, own.position[axis], row);
        of_row.id = __shfl_sync(~0u, own.id, row);
        const staged_row target = targets[row];
        std::uint32_t entry = __shfl_sync(~0u, start, row) + threadIdx.x % 32;
        for (; entry < target.end; entry += 32) {
          const std::uint32_t word = stage[entry];
          write_entry<false, Boxes>(a, sink, target.to + entry, of_row, slot_of<Boxes>(a, word),
                                    unpacked_shift<Boxes>(a, word));
        }
      }
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
