// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "parallel/block_scan.cuh"
#include "parallel/look_back.cuh"
#include "search/masks/entries.cuh"
#include "search/masks/report.cuh"
#include "search/masks/tiles.cuh"

/// Lists of many small systems whose points are grouped by system, as they nearly always are. A block tests the pairs
/// of its system (tiles.cuh) and writes its rows, which are contiguous, in the same launch.
namespace quadrat::detail {

/// Entries of a row, as numbers of points in the system, that a warp stages.
inline constexpr unsigned systems_staged_most = 1408;

/// Index: point. Finds where the systems begin, or notes that they are not in order.
template <typename T, int D>
struct find_systems {
  systems_at_once<T, D> list;

  QUADRAT_HD void operator()(std::size_t i) const {
    const neighbor_search<T, D>& search = list.masks.search;
    const std::uint32_t* of = search.system_of_point;
    const std::uint32_t mine = of[i], before = i > 0 ? of[i - 1] : 0;
    const bool last = i + 1 == search.points.count;
    if (mine >= search.system_count || mine < before) {
      *list.disorder = 1;
      return;
    }
    for (std::uint32_t k = i > 0 ? before + 1 : 0; k <= mine; ++k) list.first[k] = static_cast<std::uint32_t>(i);
    if (!last) return;
    for (std::uint32_t k = mine + 1; k <= search.system_count; ++k) list.first[k] = static_cast<std::uint32_t>(i + 1);
  }
};

/// Notes that the list is not written.
template <typename T, int D>
__device__ void give_up(const systems_at_once<T, D>& list) {
  atomicOr(reinterpret_cast<unsigned long long*>(list.masks.most_used), static_cast<unsigned long long>(gave_up_note));
}

/// The system of a block, in shared memory.
template <typename T, int D>
struct block_system {
  search_point<T, D>* points;
  std::uint32_t* words;  ///< of pairs (tiles.cuh)
  std::uint32_t* ends;   ///< of rows
  std::uint32_t first;   ///< point
  std::uint32_t count;
  std::uint32_t groups;  ///< of 32 points

  __device__ block_system(const systems_at_once<T, D>& list, float4* memory) {
    const std::uint32_t most = list.masks.tile_points;
    points = reinterpret_cast<search_point<T, D>*>(memory);
    words = reinterpret_cast<std::uint32_t*>(points + most);
    ends = words + most / 32 * most;
    first = list.first[blockIdx.x];
    count = list.first[blockIdx.x + 1] - first;
    if (count > most && threadIdx.x == 0) give_up(list);
    if (count > most) count = 0;
    groups = (count + 31) / 32;
  }
  /// Loads the points.
  __device__ void load(const systems_at_once<T, D>& list, const lattice<T, D>& shape) {
    bool valid = true;
    for (std::uint32_t i = threadIdx.x; i < 32 * groups; i += tiles_block) {
      const std::uint32_t id = first + min(i, count - 1);
      const vec<T, D> point = list.key.read(id);
      vec<int, D> boxes{};
      valid = valid && list.key.fault_of(shape, point) == fault_kind::none;
      points[i] = {shape.wrap(point, boxes), id};
    }
    if (!valid) give_up(list);
  }
};

/// Sums the lengths of rows within the block; returns their total. Called by the whole block.
template <typename T, int D>
__device__ std::uint32_t sum_rows(const masks_search<T, D>& a, const block_system<T, D>& own) {
  __shared__ std::uint32_t warp_sums[tiles_block / 32];
  std::uint32_t total = 0;
  for (std::uint32_t base = 0; base < own.count; base += tiles_block) {
    const std::uint32_t row = base + threadIdx.x;
    std::uint32_t length = 0;
    for (std::uint32_t k = 0; row < own.count && k < own.groups; ++k) {
      length += static_cast<std::uint32_t>(__popc(own.words[k * a.tile_points + row]));
    }
    const std::uint32_t before = total + block_exclusive_sum(length, warp_sums);
    if (row < own.count) own.ends[row] = before + length;
    for (const std::uint32_t sum : warp_sums) total += sum;
    __syncthreads();
  }
  return total;
}

/// A warp writes 32 rows, as many at a time as it can stage. `row`: of this lane.
template <typename T, int D>
__device__ void write_system_rows(const masks_search<T, D>& a, const block_system<T, D>& own, std::uint32_t row,
                                  particle_id* to, std::uint16_t* stage) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const std::uint32_t end = own.ends[min(row, own.count - 1)], start = row == 0 ? 0 : own.ends[min(row, own.count) - 1];
  for (int done = 0; done < 32;) {
    const std::uint32_t base = __shfl_sync(~0u, start, done);
    const std::uint32_t follow = __ballot_sync(~0u, end - base <= systems_staged_most) >> done;
    const int rows = follow == ~0u ? 32 : __ffs(static_cast<int>(~follow)) - 1;
    const std::uint32_t total = __shfl_sync(~0u, end, done + rows - 1) - base;
    if (lane >= done && lane < done + rows && row < own.count) {
      std::uint16_t* at = stage + (start - base);
      for (std::uint32_t k = 0; k < own.groups; ++k) {
        for_each_bit(own.words[k * a.tile_points + row],
                     [&](std::uint32_t bit) { *at++ = static_cast<std::uint16_t>(32 * k + bit); });
      }
    }
    __syncwarp();
#pragma unroll 4
    for (std::uint32_t k = threadIdx.x % 32; k < total; k += 32) to[base + k] = own.first + stage[k];
    __syncwarp();
    done += rows;
  }
}

/// A block per system.
template <bool Half, typename T, int D>
__global__ void __launch_bounds__(tiles_block, 5)
    build_systems_at_once(const __grid_constant__ systems_at_once<T, D> list) {
  extern __shared__ float4 memory[];
  __shared__ std::uint16_t stage[tiles_block / 32][systems_staged_most];
  __shared__ std::uint64_t begin_of_block;
  const masks_search<T, D>& a = list.masks;
  if (*list.disorder != 0) {
    if (threadIdx.x == 0) {
      give_up(list);
      report_at_end(list.sink, list.offsets, a.rows, 0);
    }
    return;
  }
  const std::uint64_t round = threadIdx.x < 32 ? next_round(list.sums) : 0;
  const lattice<T, D>& shape = a.search.systems[blockIdx.x].shape;
  block_system<T, D> own(list, memory);
  own.load(list, shape);
  __syncthreads();
  test_tiles<Half>(a, nearest_size<T, D>(shape), own.points, own.count, own.words);
  __syncthreads();
  const std::uint32_t total = sum_rows(a, own);
  if (threadIdx.x < 32) {
    const std::uint64_t before = look_back(list.sums, round, total);
    if (threadIdx.x == 0) {
      begin_of_block = before;
      report_at_end(list.sink, list.offsets, a.rows, before + total);
    }
  }
  __syncthreads();
  const std::uint64_t begin = begin_of_block;
  for (std::uint32_t row = threadIdx.x; row < own.count; row += tiles_block) {
    const std::uint32_t start = row > 0 ? own.ends[row - 1] : 0;
    list.offsets[own.first + row] = begin + start;
    list.sink.counts[own.first + row] = own.ends[row] - start;
  }
  if (begin + total > list.sink.capacity) return;
  for (std::uint32_t row = threadIdx.x; row < 32 * own.groups; row += tiles_block) {
    write_system_rows(a, own, row, list.sink.neighbors + begin, stage[threadIdx.x / 32]);
  }
}

}  // namespace quadrat::detail
