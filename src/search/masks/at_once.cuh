// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cooperative_groups.h>

#include "parallel/block_scan.cuh"
#include "search/masks/search.cuh"

/// Lists of small sets in one launch, since launches would take most of the time: each block puts all points into
/// cells, in shared memory, and blocks wait for each other once, for the numbers of pairs.
namespace quadrat::detail {

inline constexpr unsigned small_cells_threads = 1024;

/// One block puts all points into cells, in shared memory: launches dominate the time of small sets, and this needs
/// one.
template <typename Key, typename T, int D>
__global__ void __launch_bounds__(small_cells_threads)
    build_small_cells(const __grid_constant__ Key key, std::uint32_t count, std::uint32_t cells,
                      const __grid_constant__ small_cells<T, D> out) {
  extern __shared__ std::uint32_t shared[];  // a counter per cell, then cell and rank of each point
  __shared__ std::uint32_t warp_sums[small_cells_threads / 32];
  std::uint32_t* counts = shared;
  std::uint32_t* places = shared + cells;
  for (std::uint32_t cell = threadIdx.x; cell < cells; cell += small_cells_threads) counts[cell] = 0;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < count; i += small_cells_threads) {
    const cell_id cell = key(i);
    places[i] = cell << 16 | atomicAdd(counts + cell, 1u);
  }
  __syncthreads();
  const std::uint32_t share = (cells + small_cells_threads - 1) / small_cells_threads;
  block_scan_counts(cells, share, counts, warp_sums, [&](std::uint32_t cell, std::uint32_t before) {
    counts[cell] = before;
    out.offsets[cell] = before;
  });
  if (threadIdx.x == 0) out.offsets[cells] = count;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < count; i += small_cells_threads) {
    const std::uint32_t slot = counts[places[i] >> 16] + (places[i] & 0xffffu);
    vec<int, D> boxes{};
    out.elements[slot] = i;
    out.records[slot] = {key.system.shape.wrap(key.read(i), boxes), i};
    out.blocks.store(slot, out.records[slot]);
  }
}

/// The points in the order of cells.
template <typename T, int D>
struct points_in_block {
  T* position;             ///< by component, each `count` long
  std::uint32_t* offsets;  ///< cells + 1
  std::uint16_t* ids;
  std::uint32_t count;

  __device__ vec<T, D> at(std::uint32_t slot) const {
    vec<T, D> result;
    for (int axis = 0; axis < D; ++axis) result[axis] = position[axis * count + slot];
    return result;
  }
};

/// A wrapped point, and the number of its cell.
template <typename T, int D>
struct point_in_cell {
  vec<T, D> position;
  cell_id cell;
};
/// Not inlined: few points need it, and all blocks read the instructions of a kernel that runs this briefly.
template <typename T, int D>
__device__ __noinline__ point_in_cell<T, D> find_cell_of_any(const search_key_of_one<T, D>& key, std::uint32_t i,
                                                             const vec<T, D>& point) {
  vec<int, D> boxes{};
  return {key.system.shape.wrap(point, boxes), key.at(i, point)};
}
template <typename T, int D>
__device__ point_in_cell<T, D> find_cell(const search_key_of_one<T, D>& key, std::uint32_t i, const vec<T, D>& point) {
  const lattice<T, D>& shape = key.system.shape;
  bool inside = true;
  for (int axis = 0; axis < D; ++axis) {
    const T offset = point[axis] - shape.origin[axis];
    inside = inside && offset >= T(0) && offset < shape.vectors[axis][axis];
  }
  if (inside) return {point, key.system.cell_of(point)};
  return find_cell_of_any(key, i, point);
}

/// Calls f(i, point with its cell) for the points of this thread. The next is loaded before: the compiler cannot load
/// it past a fault or an atomic operation.
template <typename T, int D, typename F>
__device__ void for_each_point_in_cell(const search_key_of_one<T, D>& key, std::uint32_t count, F&& f) {
  if (threadIdx.x >= count) return;
  vec<T, D> point = key.read(threadIdx.x);
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < count; i += at_once_threads) {
    const vec<T, D> next = key.read(min(i + at_once_threads, count - 1));
    f(i, find_cell(key, i, point));
    point = next;
  }
}

template <typename T, int D>
__device__ void fill_cells(const list_at_once<T, D>& a, const points_in_block<T, D>& points) {
  __shared__ std::uint32_t warp_sums[at_once_threads / 32];
  std::uint32_t* ends = points.offsets + 1;
  for (std::uint32_t cell = threadIdx.x; cell <= a.cells; cell += at_once_threads) points.offsets[cell] = 0;
  __syncthreads();
  for_each_point_in_cell(a.key, points.count,
                         [&](std::uint32_t, const point_in_cell<T, D>& point) { atomicAdd(ends + point.cell, 1u); });
  __syncthreads();
  const std::uint32_t share = ((a.cells + at_once_threads - 1) / at_once_threads) | 1;
  block_scan_counts(a.cells, share, ends, warp_sums,
                    [&](std::uint32_t cell, std::uint32_t before) { ends[cell] = before; });
  __syncthreads();
  for_each_point_in_cell(a.key, points.count, [&](std::uint32_t i, const point_in_cell<T, D>& point) {
    // In the end each cell ends where the next one begins.
    const std::uint32_t slot = atomicAdd(ends + point.cell, 1u);
    for (int axis = 0; axis < D; ++axis) points.position[axis * points.count + slot] = point.position[axis];
    points.ids[slot] = static_cast<std::uint16_t>(i);
  });
  __syncthreads();
}

/// A warp finds the neighbors of a point: a thread calls f(number, neighbor, separation without the image, S) for each.
/// Returns how many there are.
template <boxes_kind Boxes, typename T, int D, typename F>
__device__ std::uint32_t search_row(const list_at_once<T, D>& a, const points_in_block<T, D>& points, particle_id id,
                                    F&& f) {
  const neighbor_search<T, D>& search = a.key.key.search;
  const std::uint32_t before = (1u << threadIdx.x % 32) - 1;
  vec<int, D> boxes{};
  const vec<T, D> own = a.key.system.shape.wrap(a.key.read(id), boxes);
  const row_walk<T, D, rows_of<Boxes>> walk(a.key.system, points.offsets, own, search.reach);
  std::uint32_t count = 0;
  for_each_warp_candidate<Boxes, T, D>(walk, [&](bool candidate, std::uint32_t slot, const vec<int, D>& shift) {
    bool pair = false;
    vec<T, D> direct{};
    particle_id other = 0;
    if (candidate) {
      other = points.ids[slot];
      direct = points.at(slot) - own;
      const vec<T, D> r = image_of<Boxes>(a.key.system, shift)(direct);
      pair = squared_norm(r) < search.squared_reach && (search.half ? id < other : id != other);
    }
    const std::uint32_t mask = __ballot_sync(~0u, pair);
    if (pair) f(count + static_cast<std::uint32_t>(__popc(mask & before)), other, direct, shift);
    count += static_cast<std::uint32_t>(__popc(mask));
  });
  return count;
}

/// Writes an entry with all that is asked for.
template <boxes_kind Boxes, typename T, int D>
__device__ void write_at_once(const list_at_once<T, D>& a, std::uint64_t at, particle_id id, particle_id other,
                              const vec<T, D>& direct, vec<int, D> shift) {
  const neighbor_sink<T, D>& sink = a.sink;
  if (sink.keys != nullptr) {
    sink.keys[at] = key_of_entry(other, shift);
    return;
  }
  const neighbor_search<T, D>& search = a.key.key.search;
  const vec<T, D> r = image_of<Boxes>(a.key.system, shift)(direct);
  if (sink.shifts != nullptr) shift = search.reported(search.query_of_row(id), other, shift);
  sink.store(at, id, other, shift, r, squared_norm(r));
}

/// Sums counts in place, each with those before it; returns the total. Called by one warp.
__device__ inline std::uint32_t sum_counts(std::uint32_t* counts, std::uint32_t rows) {
  std::uint32_t total = 0;
  for (std::uint32_t base = 0; base < rows; base += 32) {
    const std::uint32_t row = base + threadIdx.x;
    const std::uint32_t end = warp_inclusive_sum(row < rows ? counts[row] : 0, threadIdx.x);
    if (row < rows) counts[row] = total + end;
    total += __shfl_sync(~0u, end, 31);
  }
  return total;
}

/// The sum of what all blocks before this one found; the first block reports the total. Called by one warp.
template <typename T, int D>
__device__ std::uint64_t pairs_before_block(const list_at_once<T, D>& a) {
  std::uint64_t before = 0, all = 0;
  for (std::uint32_t block = threadIdx.x; block < gridDim.x; block += 32) {
    const std::uint64_t pairs = __ldcg(a.pairs_of_blocks + block);
    all += pairs;
    if (block < blockIdx.x) before += pairs;
  }
  for (int step = 16; step > 0; step /= 2) {
    before += __shfl_xor_sync(~0u, before, step);
    all += __shfl_xor_sync(~0u, all, step);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    a.offsets[a.rows] = all;
    a.sink.report(a.rows);
  }
  return before;
}

/// A block has consecutive rows of the list, a warp for each, and keeps the neighbors that it has found in shared
/// memory until it knows how many the blocks before it have.
template <boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(at_once_threads) build_at_once(const __grid_constant__ list_at_once<T, D> a) {
  extern __shared__ float4 memory[];
  __shared__ std::uint64_t begin_of_block;
  const auto count_of_points = static_cast<std::uint32_t>(a.key.key.search.points.count);
  auto* positions = reinterpret_cast<T*>(memory);
  auto* offsets = reinterpret_cast<std::uint32_t*>(positions + D * count_of_points);
  std::uint32_t* ends = offsets + a.cells + 2;  // of the rows, within the block
  auto* ids = reinterpret_cast<std::uint16_t*>(ends + a.rows_a_block);
  std::uint16_t* kept = ids + count_of_points;
  const points_in_block<T, D> points{positions, offsets, ids, count_of_points};
  fill_cells(a, points);
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t first_row = blockIdx.x * a.rows_a_block, rows = min(a.rows_a_block, a.rows - first_row);
  for (std::uint32_t row = warp; row < rows; row += at_once_threads / 32) {
    const auto keep = [&](std::uint32_t k, particle_id other, const vec<T, D>&, const vec<int, D>&) {
      if (k < at_once_row_most) kept[row * at_once_row_most + k] = static_cast<std::uint16_t>(other);
    };
    const std::uint32_t count = search_row<Boxes>(a, points, first_row + row, keep);
    if (lane == 0) ends[row] = a.sink.counts[first_row + row] = count;
  }
  __syncthreads();
  if (warp == 0) {
    const std::uint32_t total = sum_counts(ends, rows);
    if (lane == 0) a.pairs_of_blocks[blockIdx.x] = total;
  }
  cooperative_groups::this_grid().sync();
  if (warp == 0) begin_of_block = pairs_before_block(a);
  __syncthreads();
  for (std::uint32_t row = warp; row < rows; row += at_once_threads / 32) {
    const std::uint32_t start = row > 0 ? ends[row - 1] : 0, count = ends[row] - start, id = first_row + row;
    const std::uint64_t begin = begin_of_block + start;
    if (lane == 0) a.offsets[id] = begin;
    if (begin + count > a.sink.capacity) continue;
    if (a.plain && count <= at_once_row_most) {
      for (std::uint32_t k = lane; k < count; k += 32) a.sink.neighbors[begin + k] = kept[row * at_once_row_most + k];
    } else {
      search_row<Boxes>(a, points, id,
                        [&](std::uint32_t k, particle_id other, const vec<T, D>& direct, const vec<int, D>& shift) {
                          write_at_once<Boxes>(a, begin + k, id, other, direct, shift);
                        });
    }
  }
}

}  // namespace quadrat::detail
