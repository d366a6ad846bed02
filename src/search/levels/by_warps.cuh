// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "parallel/warp_reduce.cuh"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/warp_scan.hpp"
#include "search/levels/device.hpp"

/// Long rows, by warps.
namespace quadrat::detail {

inline constexpr unsigned long_rows_block = 256;

/// The slots of a row of cells, and their image.
template <int D>
struct slot_run {
  std::uint32_t first;
  std::uint32_t length;
  vec<int, D> shift;
};

template <typename T, int D>
__device__ slot_run<D> slots_of(const search_layer<T, search_system<T, D>>& layer, const layer_rows<T, D>& rows,
                                std::uint64_t number) {
  if (number >= rows.count()) return {0, 0, {}};
  const cell_run<D> run = rows[number];
  if (run.first > run.last) return {0, 0, {}};
  const auto first = static_cast<std::uint32_t>(layer.begin(run));
  return {first, static_cast<std::uint32_t>(layer.end(run)) - first, run.shift};
}

template <int D>
__device__ vec<int, D> shift_of_lane(const vec<int, D>& shift, int source) {
  return make_vec<int, D>([&](int axis) { return __shfl_sync(~0u, shift[axis], source); });
}

/// The candidates `from` to `to` of 32 rows of cells, one row per lane; `ends` are the running totals of candidates.
template <int D, typename F>
__device__ void for_each_candidate_of_runs(const slot_run<D>& mine, std::uint32_t ends, std::uint32_t from,
                                           std::uint32_t to, F&& f) {
  const std::uint32_t lane = threadIdx.x % 32;
  if (__shfl_sync(~0u, ends, 31) > 32 * 32) {  // long runs: one after another
    for (int source = 0; source < 32; ++source) {
      const std::uint32_t end = __shfl_sync(~0u, ends, source);
      const std::uint32_t begin = end - __shfl_sync(~0u, mine.length, source);
      const std::uint32_t first = max(from, begin), last = min(to, end);
      if (first >= last) continue;
      const std::uint32_t base = __shfl_sync(~0u, mine.first, source) - begin;
      const vec<int, D> shift = shift_of_lane(mine.shift, source);
#pragma unroll 4
      for (std::uint32_t k = first; k < last; k += 32) f(k + lane < last, base + k + lane, shift);
    }
    return;
  }
  for (std::uint32_t k = from; k < to; k += 32) {
    const std::uint32_t candidate = k + lane;
    int source = 0;  // the run of the candidate: the number of runs that end before it
    for (int step = 16; step > 0; step /= 2) {
      if (__shfl_sync(~0u, ends, source + step - 1) <= candidate) source += step;
    }
    const std::uint32_t slot = __shfl_sync(~0u, mine.first + mine.length - ends, source) + candidate;
    f(candidate < to, slot, shift_of_lane(mine.shift, source));
  }
}

/// The warp calls f(whether this lane has a candidate, its slot, S) for the candidates begin to end of a row.
template <typename T, int D, typename F>
__device__ void for_each_candidate(const levels_search<T, D>& walk, const search_query<T, D>& query,
                                   std::uint32_t own_slot, std::uint64_t begin, std::uint64_t end, F&& f) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint64_t before = 0;
  walk.for_each_layer(query, own_slot, [&](const auto& layer, const layer_rows<T, D>& rows) {
    const std::uint64_t count = rows.count();
    for (std::uint64_t base = 0; base < count && before < end; base += 32) {
      const slot_run<D> mine = slots_of(layer, rows, base + lane);
      const std::uint32_t ends = warp_inclusive_sum(mine.length, lane);
      const std::uint32_t total = __shfl_sync(~0u, ends, 31);
      if (before + total > begin) {
        const auto from = static_cast<std::uint32_t>(begin > before ? begin - before : 0);
        const std::uint64_t left = end - before;
        const std::uint32_t to = left < total ? static_cast<std::uint32_t>(left) : total;
        for_each_candidate_of_runs(mine, ends, from, to, f);
      }
      before += total;
    }
  });
}

[[nodiscard]] __device__ inline std::uint32_t warp_of_grid() {
  return (blockIdx.x * long_rows_block + threadIdx.x) / 32;
}
[[nodiscard]] __device__ inline std::uint32_t warps_of_grid() { return gridDim.x * long_rows_block / 32; }

/// Counts the candidates and the rows of cells of long rows.
template <typename T, int D>
__global__ void __launch_bounds__(long_rows_block) measure_long_rows(const __grid_constant__ radius_search<T, D> a) {
  const std::uint32_t lane = threadIdx.x % 32, rows = a.longer.size();
  std::uint64_t total = 0;
  for (std::uint32_t number = warp_of_grid(); number < rows; number += warps_of_grid()) {
    const std::uint32_t slot = a.longer.slot(number);
    std::uint64_t candidates = 0, cell_rows = 0;
    a.walk.for_each_layer(a.walk.query_of(slot), slot, [&](const auto& layer, const layer_rows<T, D>& within) {
      const std::uint64_t count = within.count();
      cell_rows += count;
      for (std::uint64_t k = lane; k < count; k += 32) candidates += slots_of(layer, within, k).length;
    });
    candidates = warp_sum(candidates);
    if (lane == 0) {
      a.longer.candidates[number] = candidates;
      a.longer.cell_rows[number] = static_cast<std::uint32_t>(min(cell_rows, std::uint64_t{1} << 31));
    }
    total += candidates;
  }
  if (lane == 0 && total > 0) atomic_add(a.longer.total, total);
}

/// Calls f(part, long row, slot, first candidate, one past the last) for the parts that this warp takes.
template <typename T, int D, typename F>
__device__ void for_each_part_of_warp(const radius_search<T, D>& a, F&& f) {
  const long_rows& rows = a.longer;
  const std::uint32_t parts = rows.first_part[rows.all];
  const std::uint32_t share = (parts + warps_of_grid() - 1) / warps_of_grid();
  const std::uint64_t first = static_cast<std::uint64_t>(share) * warp_of_grid();
  if (first >= parts) return;
  const auto begin = static_cast<std::uint32_t>(first);
  const std::uint32_t end = min(begin + share, parts);
  std::uint32_t number = rows.row_of_part(begin);
  for (std::uint32_t part = begin; part < end; ++part) {
    if (part == rows.first_part[number + 1]) ++number;
    const std::uint64_t length = rows.part_length(number), from = (part - rows.first_part[number]) * length;
    f(part, rows.slot(number), from, min(from + length, rows.candidates[number]));
  }
}

/// Counts the pairs of the parts.
template <typename T, int D>
__global__ void __launch_bounds__(long_rows_block) count_parts(const __grid_constant__ radius_search<T, D> a) {
  for_each_part_of_warp(a, [&](std::uint32_t part, std::uint32_t own, std::uint64_t first, std::uint64_t last) {
    const search_query<T, D> query = a.walk.query_of(own);
    const T radius = a.walk.slots.radius(own);
    const lattice<T, D>& shape = a.walk.search.systems[query.system].shape;
    std::uint32_t count = 0;
    for_each_candidate(a.walk, query, own, first, last, [&](bool there, std::uint32_t slot, const vec<int, D>& shift) {
      if (!there) return;
      const levels_hit<T, D> hit = a.walk.test(query, radius, slot, shape.translation(shift));
      if (hit.near && a.walk.pair_counts(query.row, a.walk.slots.ids[slot], shift)) ++count;
    });
    count = warp_sum(count);
    if (threadIdx.x % 32 == 0) a.longer.pairs[part] = count;
  });
}

/// Sums the pairs of the parts of each row; leaves for each part the pairs of the parts before it.
template <typename T, int D>
__global__ void __launch_bounds__(long_rows_block)
    sum_parts_of_rows(const __grid_constant__ radius_search<T, D> a, std::uint32_t* counts, fault_flag faults) {
  const long_rows& rows = a.longer;
  const std::uint32_t lane = threadIdx.x % 32, size = rows.size();
  for (std::uint32_t number = warp_of_grid(); number < size; number += warps_of_grid()) {
    const std::uint32_t begin = rows.first_part[number], end = rows.first_part[number + 1];
    std::uint64_t before = 0;
    for (std::uint32_t base = begin; base < end; base += 32) {
      const std::uint32_t part = base + lane;
      const std::uint32_t own = part < end ? rows.pairs[part] : 0;
      const std::uint32_t ends = warp_inclusive_sum(own, lane);
      if (part < end) rows.pairs[part] = static_cast<std::uint32_t>(before) + ends - own;
      before += __shfl_sync(~0u, ends, 31);
    }
    if (lane != 0) continue;
    const particle_id row = a.walk.slots.ids[rows.slot(number)];
    counts[row] = static_cast<std::uint32_t>(before);
    if (counts[row] != before) faults.raise_overflow(row_fault_base + row, before);
  }
}

/// Searches the parts again, and writes their pairs.
template <typename T, int D>
__global__ void __launch_bounds__(long_rows_block)
    write_parts(const __grid_constant__ radius_search<T, D> a, const __grid_constant__ neighbor_sink<T, D> sink) {
  const std::uint32_t earlier_lanes = (1u << threadIdx.x % 32) - 1;
  for_each_part_of_warp(a, [&](std::uint32_t part, std::uint32_t own, std::uint64_t first, std::uint64_t last) {
    const search_query<T, D> query = a.walk.query_of(own);
    const T radius = a.walk.slots.radius(own);
    const lattice<T, D>& shape = a.walk.search.systems[query.system].shape;
    const std::uint64_t limit = sink.limit(query.row);
    std::uint64_t at = sink.begin(query.row) + a.longer.pairs[part];
    for_each_candidate(a.walk, query, own, first, last, [&](bool there, std::uint32_t slot, const vec<int, D>& shift) {
      levels_hit<T, D> hit{};
      if (there) hit = a.walk.test(query, radius, slot, shape.translation(shift));
      particle_id j = 0;
      if (hit.near) {
        j = a.walk.slots.ids[slot];
        hit.near = a.walk.pair_counts(query.row, j, shift);
      }
      const std::uint32_t found = __ballot_sync(~0u, hit.near);
      const std::uint64_t mine = at + static_cast<std::uint32_t>(__popc(found & earlier_lanes));
      if (hit.near && mine < limit) write_levels_entry(a.walk, sink, query, mine, slot, j, shift, hit);
      at += static_cast<std::uint32_t>(__popc(found));
    });
  });
}

}  // namespace quadrat::detail
