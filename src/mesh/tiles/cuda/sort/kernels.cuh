// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>

#include "mesh/tiles/cuda/sort/locator.hpp"
#include "parallel/range_partition.cuh"

/// The kernels of tile_sorter's partition, in their order: find, group, count_tiles, (a scan), place.
namespace quadrat::detail {

inline constexpr unsigned sort_threads = partition_ranges;
/// With this limit the low part of a tile's number has 14 bits, so that a block can count the tiles of a range.
inline constexpr std::size_t most_sorted_tiles = std::size_t{1} << 23;
/// Points of a block: their records are 64 KiB, so that two blocks share a multiprocessor.
template <typename T>
inline constexpr unsigned block_points = 65'536 / sizeof(tile_record<T>);
template <typename T>
inline constexpr unsigned block_items = block_points<T> / sort_threads;
/// Positions, or parts of records, that a thread has in flight.
inline constexpr unsigned items_at_once = 4;
/// Records are moved 16 bytes at a time.
template <typename T>
inline constexpr unsigned record_parts = sizeof(tile_record<T>) / sizeof(uint4);

/// Words that the kernels share.
struct sort_control {
  partition_control ranges;                         ///< of tiles
  std::uint32_t first_piece[partition_ranges + 1];  ///< first piece of each range; pieces have at most block_points
};

template <typename T>
struct sort_job {
  point_placement<T> points;  ///< all three axes have positions
  tile_locator<T> find;
  unsigned shift;  ///< a range is 2^shift tiles
  std::uint32_t count;
  sort_control* control;
  std::uint32_t* tiles;     ///< by point
  uint4* grouped;           ///< records by range
  std::uint16_t* low_keys;  ///< tile within its range, of grouped records
  std::uint32_t* tile_counts;
  const std::uint32_t* offsets;
  uint4* records;  ///< by point at first; then the result

  [[nodiscard]] QUADRAT_HD std::uint32_t tiles_of_range() const { return 1u << shift; }
};

template <typename T>
struct position {
  T x[3];
};

template <typename T>
__device__ position<T> read_position(const point_placement<T>& points, std::uint32_t i) {
  position<T> result;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    result.x[axis] = points.component[axis][i * points.stride];
  }
  return result;
}

/// The placement of a position that has already been loaded.
template <typename T>
__device__ placed_point<T> place_position(const point_placement<T>& points, const position<T>& position,
                                          std::uint32_t i) {
  point_placement<T> own = points;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) own.component[axis] = position.x + axis;
  own.stride = 0;
  return own(i);
}

/// Writes the tiles and records of a block's points, and counts them by range. All positions are loaded before the
/// first is used, because the compiler cannot move a load past a fault, which writes to memory.
template <typename T>
__device__ void find_tiles(const sort_job<T>& job, std::uint32_t first, std::uint32_t inside, std::uint32_t* counts) {
#pragma unroll
  for (unsigned batch = 0; batch < block_items<T>; batch += items_at_once) {
    position<T> positions[items_at_once];
#pragma unroll
    for (unsigned item = 0; item < items_at_once; ++item) {
      const std::uint32_t at = threadIdx.x + (batch + item) * sort_threads;
      positions[item] = read_position(job.points, first + min(at, inside - 1));
    }
#pragma unroll
    for (unsigned item = 0; item < items_at_once; ++item) {
      const std::uint32_t at = threadIdx.x + (batch + item) * sort_threads;
      if (at >= inside) continue;
      const std::uint32_t i = first + at;
      const tiled_point<T> point = job.find(place_position(job.points, positions[item], i), i);
      reinterpret_cast<tile_record<T>*>(job.records)[i] = point.record;
      job.tiles[i] = point.tile;
      atomicAdd(counts + (point.tile >> job.shift), 1u);
    }
  }
}

/// One block, one thread per range: computes where the ranges and their pieces begin.
template <typename T>
__device__ void plan_pieces(sort_control& control, std::uint32_t* warp_sums) {
  const std::uint32_t total = plan_ranges(control.ranges, warp_sums);
  __syncthreads();
  const std::uint32_t pieces = (total + block_points<T> - 1) / block_points<T>;
  const std::uint32_t pieces_before = block_exclusive_sum(pieces, warp_sums);
  control.first_piece[threadIdx.x] = pieces_before;
  if (threadIdx.x == partition_ranges - 1) control.first_piece[partition_ranges] = pieces_before + pieces;
}

/// Finds the tiles and records of points, and counts them by range; the last block to finish turns the counts into
/// first records and pieces.
template <typename T>
__global__ void __launch_bounds__(sort_threads, 2) find_kernel(const __grid_constant__ sort_job<T> job) {
  __shared__ std::uint32_t counts[partition_ranges];
  __shared__ std::uint32_t warp_sums[sort_threads / 32];
  __shared__ bool last;
  sort_control& control = *job.control;
  counts[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t first = blockIdx.x * block_points<T>;
  find_tiles(job, first, min(block_points<T>, job.count - first), counts);
  __syncthreads();
  if (add_to_totals(control.ranges, counts, last)) plan_pieces<T>(control, warp_sums);
}

/// Begins to copy records to shared memory; __pipeline_wait_prior(0) and a barrier complete it.
template <typename T>
__device__ void stage_records(uint4* staged, const uint4* records, std::uint32_t first, std::uint32_t size) {
  constexpr unsigned parts = record_parts<T>;
  const uint4* from = records + static_cast<std::size_t>(first) * parts;
  for (std::uint32_t chunk = threadIdx.x; chunk < size * parts; chunk += sort_threads) {
    __pipeline_memcpy_async(staged + chunk, from + chunk, sizeof(uint4));
  }
  __pipeline_commit();
}

/// Loads a thread's keys; past the end, the last one of the block.
template <unsigned Items, typename Key>
__device__ void load_keys(std::uint32_t (&keys)[Items], const Key* of_block, std::uint32_t size) {
#pragma unroll
  for (unsigned item = 0; item < Items; ++item) {
    keys[item] = of_block[min(threadIdx.x + item * sort_threads, size - 1)];
  }
}

/// Writes the records in their order: slot s to place_of(s, once), where `once` is true in one thread per existing
/// slot. Several are in flight at a time.
template <typename T, typename PlaceOf>
__device__ void write_runs(uint4* records, const uint4* staged, const std::uint16_t* order, std::uint32_t size,
                           PlaceOf&& place_of) {
  constexpr unsigned parts = record_parts<T>;
  const std::uint32_t end = size * parts;
  for (std::uint32_t first = threadIdx.x; first < end; first += items_at_once * sort_threads) {
    uint4 value[items_at_once];
    std::size_t to[items_at_once];
#pragma unroll
    for (unsigned item = 0; item < items_at_once; ++item) {
      const std::uint32_t chunk = min(first + item * sort_threads, end - 1);
      const std::uint32_t slot = chunk / parts, part = chunk % parts;
      const bool once = part == 0 && first + item * sort_threads < end;
      to[item] = static_cast<std::size_t>(place_of(slot, once)) * parts + part;
      value[item] = staged[order[slot] * parts + part];
    }
#pragma unroll
    for (unsigned item = 0; item < items_at_once; ++item) {
      if (first + item * sort_threads < end) records[to[item]] = value[item];
    }
  }
}

/// Sorts a block's records by range in shared memory, reserves space for each range's run among the grouped records,
/// and writes the runs.
template <typename T>
__global__ void __launch_bounds__(sort_threads, 2) group_kernel(const __grid_constant__ sort_job<T> job) {
  constexpr unsigned parts = record_parts<T>;
  extern __shared__ uint4 staged[];  // records, then by slot their tiles and indices
  auto* tiles = reinterpret_cast<std::uint32_t*>(staged + block_points<T> * parts);
  auto* order = reinterpret_cast<std::uint16_t*>(tiles + block_points<T>);
  __shared__ std::uint32_t counts[partition_ranges];  // later: how far a run moves
  __shared__ std::uint32_t starts[partition_ranges];
  __shared__ std::uint32_t warp_sums[sort_threads / 32];
  const std::uint32_t first = blockIdx.x * block_points<T>;
  const std::uint32_t inside = min(block_points<T>, job.count - first);
  stage_records<T>(staged, job.records, first, inside);
  std::uint32_t tile[block_items<T>];
  std::uint32_t rank[block_items<T>];
  load_keys(tile, job.tiles + first, inside);
  counts[threadIdx.x] = 0;
  __syncthreads();
  take_ranks(tile, job.shift, inside, counts, rank);
  __syncthreads();
  const range_run run = reserve_run(job.control->ranges, counts[threadIdx.x], warp_sums);
  starts[threadIdx.x] = run.start;
  __syncthreads();
  put_in_order(tile, job.shift, inside, starts, rank, [&](std::uint32_t slot, std::uint32_t at, std::uint32_t whole) {
    order[slot] = static_cast<std::uint16_t>(at);
    tiles[slot] = whole;
  });
  counts[threadIdx.x] = run.room - run.start;
  __pipeline_wait_prior(0);
  __syncthreads();
  write_runs<T>(job.grouped, staged, order, inside, [&](std::uint32_t slot, bool once) {
    const std::uint32_t to = counts[tiles[slot] >> job.shift] + slot;
    if (once) job.low_keys[to] = static_cast<std::uint16_t>(tiles[slot] & (job.tiles_of_range() - 1));
    return to;
  });
}

/// The grouped records of one range that a block takes.
struct sort_piece {
  std::uint32_t begin;
  std::uint32_t size;  ///< at most block_points
  std::uint32_t range;
};

/// The block's piece: a range's records are divided evenly. The last blocks may be empty. All threads take part.
__device__ inline sort_piece find_piece(const sort_control& control, sort_piece& found) {
  const std::uint32_t piece = blockIdx.x;
  if (threadIdx.x == 0) found = {0, 0, 0};
  __syncthreads();
  const std::uint32_t first_piece = control.first_piece[threadIdx.x];
  const std::uint32_t last_piece = control.first_piece[threadIdx.x + 1];
  if (first_piece <= piece && piece < last_piece) {
    const std::uint32_t first = control.ranges.first[threadIdx.x];
    const std::uint32_t total = control.ranges.first[threadIdx.x + 1] - first;
    const std::uint32_t pieces = last_piece - first_piece;
    const std::uint32_t share = (total + pieces - 1) / pieces;
    const std::uint32_t skipped = min((piece - first_piece) * share, total);
    found = {first + skipped, min(share, total - skipped), threadIdx.x};
  }
  __syncthreads();
  return found;
}

/// One block per piece. Adds to the number of points of its tiles.
template <typename T>
__global__ void __launch_bounds__(sort_threads) count_tiles_kernel(const __grid_constant__ sort_job<T> job) {
  extern __shared__ std::uint32_t counts_of_tiles[];
  __shared__ sort_piece found;
  const sort_piece piece = find_piece(*job.control, found);
  if (piece.size == 0) return;
  const std::uint32_t tiles = job.tiles_of_range();
  for (std::uint32_t tile = threadIdx.x; tile < tiles; tile += sort_threads) counts_of_tiles[tile] = 0;
  __syncthreads();
#pragma unroll
  for (unsigned item = 0; item < block_items<T>; ++item) {
    const std::uint32_t at = threadIdx.x + item * sort_threads;
    if (at < piece.size) atomicAdd(counts_of_tiles + job.low_keys[piece.begin + at], 1u);
  }
  __syncthreads();
  for (std::uint32_t tile = threadIdx.x; tile < tiles; tile += sort_threads) {
    const std::uint32_t count = counts_of_tiles[tile];
    if (count != 0) atomicAdd(job.tile_counts + (piece.range << job.shift) + tile, count);
  }
}

/// Turns the piece's count of each tile into the distance that the tile's run moves. Reserves space in tiles from their
/// ends, so that their counts end at zero.
template <typename T>
__device__ void take_room(const sort_job<T>& job, const sort_piece& piece, std::uint32_t* counts,
                          const std::uint16_t* starts) {
  const std::uint32_t number = piece.range << job.shift;
#pragma unroll 4
  for (std::uint32_t tile = threadIdx.x; tile < job.tiles_of_range(); tile += sort_threads) {
    const std::uint32_t own = counts[tile];
    if (own == 0) continue;
    const std::uint32_t left = atomicSub(job.tile_counts + number + tile, own) - own;
    counts[tile] = job.offsets[number + tile] + left - starts[tile];
  }
}

/// One block per piece. Sorts its records by tile in shared memory, and writes each tile's run.
template <typename T>
__global__ void __launch_bounds__(sort_threads, 2) place_kernel(const __grid_constant__ sort_job<T> job) {
  constexpr unsigned parts = record_parts<T>;
  extern __shared__ uint4 staged[];  // records, then by slot their tiles and indices, then by tile
  auto* tiles = reinterpret_cast<std::uint16_t*>(staged + block_points<T> * parts);
  std::uint16_t* order = tiles + block_points<T>;
  auto* counts = reinterpret_cast<std::uint32_t*>(order + block_points<T>);  // later: how far a run moves
  auto* starts = reinterpret_cast<std::uint16_t*>(counts + job.tiles_of_range());
  __shared__ std::uint32_t warp_sums[sort_threads / 32];
  __shared__ sort_piece found;
  const sort_piece piece = find_piece(*job.control, found);
  if (piece.size == 0) return;
  stage_records<T>(staged, job.grouped, piece.begin, piece.size);
  std::uint32_t tile[block_items<T>];
  std::uint32_t rank[block_items<T>];
  load_keys(tile, job.low_keys + piece.begin, piece.size);
  for (std::uint32_t t = threadIdx.x; t < job.tiles_of_range(); t += sort_threads) counts[t] = 0;
  __syncthreads();
  take_ranks(tile, 0, piece.size, counts, rank);
  __syncthreads();
  const std::uint32_t share = (job.tiles_of_range() + sort_threads - 1) / sort_threads | 1;
  block_scan_counts(job.tiles_of_range(), share, counts, warp_sums,
                    [&](std::uint32_t t, std::uint32_t before) { starts[t] = static_cast<std::uint16_t>(before); });
  __syncthreads();
  take_room(job, piece, counts, starts);
  put_in_order(tile, 0, piece.size, starts, rank, [&](std::uint32_t slot, std::uint32_t at, std::uint32_t whole) {
    order[slot] = static_cast<std::uint16_t>(at);
    tiles[slot] = static_cast<std::uint16_t>(whole);
  });
  __pipeline_wait_prior(0);
  __syncthreads();
  write_runs<T>(job.records, staged, order, piece.size,
                [&](std::uint32_t slot, bool) { return counts[tiles[slot]] + slot; });
}

}  // namespace quadrat::detail
