// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "parallel/block_scan.cuh"
#include "parallel/look_back.cuh"
#include "parallel/warp_reduce.cuh"
#include "search/masks/report.cuh"
#include "search/masks/search.cuh"

/// Lists of small sets in one launch, since launches would take most of the time: each block puts all points into
/// cells, in shared memory, and waits once, for the numbers of pairs of the blocks before it.
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

/// The points of a block, in the order of cells.
template <typename T, int D>
struct points_in_block {
  T* position;             ///< by component, each `count` long
  std::uint32_t* offsets;  ///< cells + 1
  std::uint16_t* ids;      ///< cells, before the points are in order
  std::uint16_t* ranks;    ///< used until the points are in order
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

/// Finds the cell of each point of this thread and its rank there, and copies the points unsorted. Loads the next point
/// early, because the compiler cannot move its load before a fault or an atomic operation.
template <typename T, int D>
__device__ void count_cells(const list_at_once<T, D>& a, const points_in_block<T, D>& points) {
  if (threadIdx.x >= points.count) return;
  vec<T, D> next = a.key.read(threadIdx.x);
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < points.count; i += at_once_threads) {
    const vec<T, D> given = next;
    next = a.key.read(min(i + at_once_threads, points.count - 1));
    const point_in_cell<T, D> point = find_cell(a.key, i, given);
    for (int axis = 0; axis < D; ++axis) points.position[axis * points.count + i] = point.position[axis];
    points.ids[i] = static_cast<std::uint16_t>(point.cell);
    points.ranks[i] = static_cast<std::uint16_t>(atomicAdd(points.offsets + point.cell, 1u));
  }
}

/// Moves all points to their slots, one component at a time, through registers: all are read before any is written.
template <typename T, int D>
__device__ void order_points(const points_in_block<T, D>& points) {
  constexpr unsigned items = (at_once_most_points<T, D> + at_once_threads - 1) / at_once_threads;
  const auto for_each_item = [&](auto&& f) {
#pragma unroll
    for (unsigned k = 0; k < items; ++k) {
      const std::uint32_t i = threadIdx.x + k * at_once_threads;
      if (i < points.count) f(k, i);
    }
  };
  std::uint32_t slot[items];
  for_each_item([&](unsigned k, std::uint32_t i) { slot[k] = points.offsets[points.ids[i]] + points.ranks[i]; });
#pragma unroll 1
  for (int axis = 0; axis < D; ++axis) {
    T* position = points.position + axis * points.count;
    T value[items];
    for_each_item([&](unsigned k, std::uint32_t i) { value[k] = position[i]; });
    __syncthreads();
    for_each_item([&](unsigned k, std::uint32_t) { position[slot[k]] = value[k]; });
    if (axis > 0) continue;
    for_each_item([&](unsigned k, std::uint32_t i) { points.ids[slot[k]] = static_cast<std::uint16_t>(i); });
  }
  __syncthreads();
}

template <typename T, int D>
__device__ void fill_cells(const list_at_once<T, D>& a, const points_in_block<T, D>& points) {
  __shared__ std::uint32_t warp_sums[at_once_threads / 32];
  for (std::uint32_t cell = threadIdx.x; cell <= a.cells; cell += at_once_threads) points.offsets[cell] = 0;
  __syncthreads();
  count_cells(a, points);
  __syncthreads();
  const std::uint32_t share = ((a.cells + 1 + at_once_threads - 1) / at_once_threads) | 1;
  block_scan_counts(a.cells + 1, share, points.offsets, warp_sums,
                    [&](std::uint32_t cell, std::uint32_t before) { points.offsets[cell] = before; });
  __syncthreads();
  order_points(points);
}

/// The ranges of slots of a row that are not empty, up to 32 at a time, in shared memory.
template <typename T, int D>
struct staged_ranges {
  std::uint32_t slot[32];  ///< its candidate c, counted through all ranges, is in this slot + c
  T translation[D][32];    ///< of its image
  std::uint32_t code[32];  ///< the image itself

  __device__ void store(int number, std::uint32_t from, const vec<int, D>& shift, const vec<T, D>& image) {
    slot[number] = from;
    code[number] = 0;
    for (int axis = 0; axis < D; ++axis) {
      translation[axis][number] = image[axis];
      code[number] |= static_cast<std::uint32_t>(shift[axis] + 1) << 2 * axis;
    }
  }
  [[nodiscard]] __device__ vec<T, D> image(int number) const {
    vec<T, D> result;
    for (int axis = 0; axis < D; ++axis) result[axis] = translation[axis][number];
    return result;
  }
  [[nodiscard]] __device__ vec<int, D> shift(int number) const {
    vec<int, D> result;
    for (int axis = 0; axis < D; ++axis) result[axis] = static_cast<int>(code[number] >> 2 * axis & 3) - 1;
    return result;
  }
};

/// Calls f(whether there is a candidate, slot, range) for the candidates in all lanes' ranges, 32 at a time.
template <boxes_kind Boxes, typename T, int D, typename F>
__device__ void for_each_staged_candidate(const list_at_once<T, D>& a, const row_range<D>& mine,
                                          staged_ranges<T, D>& staged, F&& f) {
  const std::uint32_t lane = threadIdx.x % 32, before = (1u << lane) - 1;
  const std::uint32_t length = mine.last - mine.first, end = warp_inclusive_sum(length, lane);
  const std::uint32_t start = end - length, total = __shfl_sync(~0u, end, 31);
  const std::uint32_t filled = __ballot_sync(~0u, length > 0);
  if (length > 0) {
    const vec<T, D> image = image_of<Boxes>(a.key.system, mine.shift)(vec<T, D>{});
    staged.store(__popc(filled & before), mine.first - start, mine.shift, image);
  }
  __syncwarp();
  int ranges = 0;  // number of ranges that begin before these candidates
  for (std::uint32_t first = 0; first < total; first += 32) {
    const std::uint32_t begins = warp_or(length > 0 && start - first < 32 ? 1u << (start - first) : 0);
    const int range = ranges + __popc(begins & (before << 1 | 1)) - 1;
    ranges += __popc(begins);
    f(first + lane < total, staged.slot[range] + first + lane, range);
  }
  __syncwarp();
}

/// A warp finds the neighbors of a point: a thread calls f(number, neighbor, separation without the image, S) for each.
/// Returns how many there are.
template <boxes_kind Boxes, typename T, int D, typename F>
__device__ std::uint32_t search_row(const list_at_once<T, D>& a, const points_in_block<T, D>& points, particle_id id,
                                    const vec<T, D>& given, staged_ranges<T, D>& staged, F&& f) {
  const neighbor_search<T, D>& search = a.key.key.search;
  const std::uint32_t lane = threadIdx.x % 32, before = (1u << lane) - 1;
  vec<int, D> boxes{};
  const vec<T, D> own = a.key.system.shape.wrap(given, boxes);
  const row_walk<T, D, rows_of<Boxes>> walk(a.key.system, points.offsets, own, search.reach);
  std::uint32_t count = 0;
  for (std::uint32_t base = 0; base < walk.count(); base += 32) {
    row_range<D> mine{0, 0, {}};
    if (base + lane < walk.count()) mine = walk.range(base + lane);
    for_each_staged_candidate<Boxes>(a, mine, staged, [&](bool candidate, std::uint32_t slot, int range) {
      bool pair = false;
      vec<T, D> direct{};
      particle_id other = 0;
      if (candidate) {
        other = points.ids[slot];
        direct = points.at(slot) - own;
        vec<T, D> r = direct;
        if constexpr (Boxes != boxes_kind::open) r += staged.image(range);
        pair = squared_norm(r) < search.squared_reach && (search.half ? id < other : id != other);
      }
      const std::uint32_t mask = __ballot_sync(~0u, pair);
      if (pair) f(count + static_cast<std::uint32_t>(__popc(mask & before)), other, direct, staged.shift(range));
      count += static_cast<std::uint32_t>(__popc(mask));
    });
  }
  return count;
}

/// Writes an entry with all requested values.
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

/// The shared memory of a block.
template <typename T, int D>
struct at_once_memory {
  points_in_block<T, D> points;
  std::uint32_t* ends;          ///< of the rows, within the block
  staged_ranges<T, D>* ranges;  ///< by warp; in the place of ranks
  std::uint16_t* kept;          ///< at_once_row_most neighbors of each row

  __device__ at_once_memory(const list_at_once<T, D>& a, float4* memory) {
    const auto count = static_cast<std::uint32_t>(a.key.key.search.points.count);
    auto* positions = reinterpret_cast<T*>(memory);
    ranges = reinterpret_cast<staged_ranges<T, D>*>(positions + D * (count + count % 2));
    auto* scratch = reinterpret_cast<char*>(ranges) + at_once_scratch<T, D>(count);
    auto* offsets = reinterpret_cast<std::uint32_t*>(scratch);
    ends = offsets + a.cells + 2;
    auto* ids = reinterpret_cast<std::uint16_t*>(ends + a.rows_a_block);
    kept = ids + count;
    points = {positions, offsets, ids, reinterpret_cast<std::uint16_t*>(ranges), count};
  }
};

/// The rows of a block, one after another in the list.
struct block_rows {
  std::uint32_t first;
  std::uint32_t count;
};

/// Finds the neighbors of the rows, counts and keeps them.
template <boxes_kind Boxes, typename T, int D>
__device__ void search_rows(const list_at_once<T, D>& a, const at_once_memory<T, D>& block, const block_rows& rows,
                            vec<T, D> next) {
  const std::uint32_t warp = threadIdx.x / 32;
  for (std::uint32_t row = warp; row < rows.count; row += at_once_threads / 32) {
    const vec<T, D> own = next;
    next = a.key.read(rows.first + min(row + at_once_threads / 32, rows.count - 1));
    const auto keep = [&](std::uint32_t k, particle_id other, const vec<T, D>&, const vec<int, D>&) {
      if (k < at_once_row_most) block.kept[row * at_once_row_most + k] = static_cast<std::uint16_t>(other);
    };
    const std::uint32_t id = rows.first + row;
    const std::uint32_t count = search_row<Boxes>(a, block.points, id, own, block.ranges[warp], keep);
    if (threadIdx.x % 32 == 0) block.ends[row] = a.sink.counts[id] = count;
  }
}

/// Writes the rows, from entry `begin_of_block` on. Rows that were not kept are searched again.
template <boxes_kind Boxes, typename T, int D>
__device__ void write_rows(const list_at_once<T, D>& a, const at_once_memory<T, D>& block, const block_rows& rows,
                           std::uint64_t begin_of_block) {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (std::uint32_t row = warp; row < rows.count; row += at_once_threads / 32) {
    const std::uint32_t start = row > 0 ? block.ends[row - 1] : 0, count = block.ends[row] - start;
    const std::uint32_t id = rows.first + row;
    const std::uint64_t begin = begin_of_block + start;
    if (lane == 0) a.offsets[id] = begin;
    if (begin + count > a.sink.capacity) continue;
    if (a.plain && count <= at_once_row_most) {
      const std::uint16_t* kept = block.kept + row * at_once_row_most;
      for (std::uint32_t k = lane; k < count; k += 32) a.sink.neighbors[begin + k] = kept[k];
    } else {
      search_row<Boxes>(a, block.points, id, a.key.read(id), block.ranges[warp],
                        [&](std::uint32_t k, particle_id other, const vec<T, D>& direct, const vec<int, D>& shift) {
                          write_at_once<Boxes>(a, begin + k, id, other, direct, shift);
                        });
    }
  }
}

/// A block takes consecutive rows of the list, one warp each. It keeps the neighbors found in shared memory until it
/// knows how many the blocks before it have.
template <boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(at_once_threads) build_at_once(const __grid_constant__ list_at_once<T, D> a) {
  extern __shared__ float4 memory[];
  __shared__ std::uint64_t begin_of_block;
  const at_once_memory<T, D> block(a, memory);
  const std::uint32_t first_row = blockIdx.x * a.rows_a_block;
  const block_rows rows{first_row, min(a.rows_a_block, a.rows - first_row)};
  const std::uint64_t round = threadIdx.x < 32 ? next_round(a.sums) : 0;
  const vec<T, D> first_point = a.key.read(rows.first + min(threadIdx.x / 32, rows.count - 1));
  fill_cells(a, block.points);
  search_rows<Boxes>(a, block, rows, first_point);
  __syncthreads();
  if (threadIdx.x < 32) {
    const std::uint32_t total = sum_counts(block.ends, rows.count);
    const std::uint64_t before = look_back(a.sums, round, total);
    if (threadIdx.x == 0) {
      begin_of_block = before;
      report_at_end(a.sink, a.offsets, a.rows, before + total);
    }
  }
  __syncthreads();
  write_rows<Boxes>(a, block, rows, begin_of_block);
}

}  // namespace quadrat::detail
