// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/spread/products.cuh"
#include "quadrat/parallel/warp_scan.hpp"

/// Spreading with few points per mesh point: a warp owns a patch of 8 x 8 x 8 mesh points, collects all footprints that
/// reach into it, and writes it once. A point is read by several patches; there are no atomic operations, the mesh need
/// not be cleared, and the order of sums is that of the tiles.
namespace quadrat::detail {

/// The tiles along an axis whose footprints may reach the patch that begins at mesh point `begin`: at most two runs of
/// them, because the axis may be periodic.
struct tile_span {
  int first[2];
  int count[2];

  __device__ tile_span(const tile_grid& grid, int axis, int begin) {
    const mesh_shape& shape = grid.shape;
    const int low = begin - shape.width[axis] + 1 - grid.origin[axis];
    const int high = begin + tile_patch - 1 - grid.origin[axis];
    first[0] = max(low, 0) / grid.edge[axis];
    const int end = min(high / grid.edge[axis], grid.tiles[axis] - 1);
    count[0] = end - first[0] + 1;
    first[1] = count[1] = 0;
    // The mesh is longer than a patch and a footprint, so only its lower end can be crossed.
    if (!shape.periodic[axis] || low >= 0) return;
    first[1] = max((low + shape.extent[axis]) / grid.edge[axis], end + 1);
    count[1] = max((shape.extent[axis] - 1) / grid.edge[axis] - first[1] + 1, 0);
  }
  [[nodiscard]] __device__ int total() const { return count[0] + count[1]; }
  [[nodiscard]] __device__ int tile(int k) const { return k < count[0] ? first[0] + k : first[1] + k - count[0]; }
};

/// Shifts eight weights by `offset`, from -7 to 7, in a row of eight; those shifted out are dropped.
template <typename T>
__device__ __forceinline__ void place_tile_weights(int offset, T (&w)[8]) {
  T two[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) two[j] = j < 8 ? w[j] : T(0);
  shift_tile_weights(offset & 7, 8, two);
#pragma unroll
  for (int j = 0; j < 8; ++j) w[j] = offset < 0 ? two[8 + j] : two[j];
}

template <typename T, int Channels>
struct tile_collect_memory {
  tile_spread_memory<T, Channels, 1> weights;
  std::uint32_t slots[2 * tile_batch];    ///< of points whose footprints reach into the patch
  std::uint32_t offsets[2 * tile_batch];  ///< where these begin: 8 + the offset from the patch, 8 bits per axis
};

/// Points of adjacent tiles of a row: a run of slots.
struct tile_run {
  std::uint32_t first, length;
  int from;     ///< the smallest first mesh point along the first axis
  int base[3];  ///< origin of the offsets in records
};

template <typename T, int Channels>
using tile_sums = T[tile_patch / 2][Channels][4];

/// The work of a warp for its patch.
template <typename T, int Channels>
struct tile_collector {
  const tile_problem<T>& problem;
  const tile_channels<T>& channels;
  tile_collect_memory<T, Channels>& memory;
  int begin[3];
  int lane;
  int queued;

  __device__ void collect(tile_sums<T, Channels>& sums) {
    const tile_grid& grid = problem.grid;
    const tile_span first(grid, 0, begin[0]), second(grid, 1, begin[1]), last(grid, 2, begin[2]);
    const int pieces = first.count[1] > 0 ? 2 : 1;
    const int runs = second.total() * last.total() * pieces;
    for (int round = 0; round < runs; round += 32) {
      const int number = round + lane;
      tile_run run{};
      if (number < runs) {
        const int piece = pieces == 2 ? number & 1 : 0, row = pieces == 2 ? number >> 1 : number;
        const int rank = row / last.total();
        run = run_of(piece == 0 ? first.first[0] : first.first[1], piece == 0 ? first.count[0] : first.count[1],
                     second.tile(rank), last.tile(row - rank * last.total()));
      }
      look_at(run, sums);
    }
    if (queued > 0) add_batch(queued, sums);
  }

 private:
  [[nodiscard]] __device__ tile_run run_of(int tile, int count, int second, int last) const {
    const tile_grid& grid = problem.grid;
    const std::uint32_t number = static_cast<std::uint32_t>(second * grid.tiles[2] + last) *
                                     static_cast<std::uint32_t>(grid.segments * grid.segment) +
                                 static_cast<std::uint32_t>(tile);
    const std::uint32_t begins = problem.offsets[number];
    return {begins,
            problem.offsets[number + static_cast<std::uint32_t>(count)] - begins,
            grid.origin[0] + tile * grid.edge[0],
            {grid.origin[0] + tile / grid.segment * grid.segment * grid.edge[0], grid.origin[1] + second * grid.edge[1],
             grid.origin[2] + last * grid.edge[2]}};
  }

  /// Each lane brings a run; their points are processed 32 at a time.
  __device__ void look_at(const tile_run& run, tile_sums<T, Channels>& sums) {
    const std::uint32_t end = warp_inclusive_sum(run.length, static_cast<unsigned>(lane));
    const std::uint32_t total = __shfl_sync(~0u, end, 31);
    for (std::uint32_t base = 0; base < total; base += 32) {
      const std::uint32_t index = min(base + lane, total - 1);
      int owner = 0;  // the lane whose run contains it
#pragma unroll
      for (int step = 16; step > 0; step /= 2) {
        if (__shfl_sync(~0u, end, owner + step - 1) <= index) owner += step;
      }
      const std::uint32_t before = __shfl_sync(~0u, end - run.length, owner);
      const std::uint32_t slot = __shfl_sync(~0u, run.first, owner) + index - before;
      int start[3];
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) start[axis] = __shfl_sync(~0u, run.base[axis], owner);
      const int from = __shfl_sync(~0u, run.from, owner);
      enqueue(slot, start, from, base + lane < total);
      if (queued >= tile_batch) {
        add_batch(tile_batch, sums);
        keep_rest();
      }
    }
  }

  __device__ void enqueue(std::uint32_t slot, const int (&start)[3], int from, bool there) {
    const tile_grid& grid = problem.grid;
    const tile_record<T> record = problem.records[slot];
    std::uint32_t packed = 0;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      int first = start[axis] + offset_of<T>(record.place[axis]);
      // A run may continue in the next segment.
      if (axis == 0 && first < from) first += grid.segment * grid.edge[0];
      int offset = first - begin[axis];
      if (offset >= tile_patch && grid.shape.periodic[axis]) offset -= grid.shape.extent[axis];
      there = there && offset > -grid.shape.width[axis] && offset < tile_patch;
      packed |= static_cast<std::uint32_t>(offset + 8) << (8 * axis);
    }
    const unsigned those = __ballot_sync(~0u, there);
    if (there) {
      const int at = queued + __popc(those & ((1u << lane) - 1));
      memory.slots[at] = slot;
      memory.offsets[at] = packed;
    }
    queued += __popc(those);
    __syncwarp();
  }

  __device__ void keep_rest() {
    queued -= tile_batch;
    const std::uint32_t slot = memory.slots[tile_batch + lane], packed = memory.offsets[tile_batch + lane];
    __syncwarp();
    memory.slots[lane] = slot;
    memory.offsets[lane] = packed;
    __syncwarp();
  }

  /// The first `count` points of the queue.
  __device__ void add_batch(int count, tile_sums<T, Channels>& sums) {
    auto& weights = memory.weights;
    const int mine = lane < count ? lane : 0;
    const tile_record<T> record = problem.records[memory.slots[mine]];
    const std::uint32_t packed = memory.offsets[mine];
    T value[Channels];
    load_tile_values<T, Channels>(channels, record.id, value);
    T w[3][8];
    tile_weights(problem.window, problem.grid.shape, record, w);
    place_tile_weights(static_cast<int>(packed & 0xff) - 8, w[0]);
    store_tile_weights(weights.first, lane, w[0]);
    place_tile_weights(static_cast<int>(packed >> 8 & 0xff) - 8, w[1]);
    store_tile_weights(weights.second, lane, w[1]);
    place_tile_weights(static_cast<int>(packed >> 16) - 8, w[2]);
#pragma unroll
    for (int j = 0; j < 8; ++j) w[2][j] = Channels == 1 ? w[2][j] * value[0] : w[2][j];
    store_tile_weights(weights.last[0], lane, w[2]);
    if constexpr (Channels > 1) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) weights.values[c][lane] = value[c];
    }
    __syncwarp();
    add_tile_points<T, Channels, 1, tile_mesh_target<T, Channels, 1>>(weights, 0, count, lane, sums);
    __syncwarp();
  }
};

template <typename T, int Channels>
__global__ void __launch_bounds__(32 * tile_warps<T>)
    collect_tiles_kernel(const __grid_constant__ tile_problem<T> problem,
                         const __grid_constant__ tile_channels<T> channels, unsigned patches, bool accumulate) {
  __shared__ tile_collect_memory<T, Channels> memories[tile_warps<T>];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const mesh_shape& shape = problem.grid.shape;
  const unsigned along_last = (shape.extent[2] + tile_patch - 1) / tile_patch,
                 along_second = (shape.extent[1] + tile_patch - 1) / tile_patch;
  const unsigned patch = blockIdx.x * tile_warps<T> + warp;
  if (patch >= patches) return;
  const int begin[3] = {static_cast<int>(patch / along_last / along_second) * tile_patch,
                        static_cast<int>(patch / along_last % along_second) * tile_patch,
                        static_cast<int>(patch % along_last) * tile_patch};
  tile_sums<T, Channels> sums = {};
  tile_collector<T, Channels> collector{problem, channels, memories[warp], {begin[0], begin[1], begin[2]}, lane, 0};
  collector.collect(sums);
  const int j = begin[1] + lane / 4;
#pragma unroll
  for (int plane = 0; plane < tile_patch; ++plane) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = begin[0] + plane, k = begin[2] + 4 * half + lane % 4;
      if (i >= shape.extent[0] || j >= shape.extent[1] || k >= shape.extent[2]) continue;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        T& to = channels.mesh[c][shape.node(i, j, k) * static_cast<std::size_t>(channels.stride)];
        const T sum = sums[plane / 2][c][2 * (plane % 2) + half];
        to = accumulate ? to + sum : sum;
      }
    }
  }
}

template <typename T, int Channels>
void launch_collect_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                          bool accumulate) {
  const cuda_launch launch(context, "mesh.tiles.collect");
  std::size_t patches = 1;
  for (const int extent : problem.grid.shape.extent) {
    patches *= static_cast<std::size_t>((extent + tile_patch - 1) / tile_patch);
  }
  collect_tiles_kernel<T, Channels>
      <<<cuda_launch::blocks(patches, tile_warps<T>), 32 * tile_warps<T>, 0, context.stream()>>>(
          problem, channels, static_cast<unsigned>(patches), accumulate);
  launch.check();
}

template <typename T>
void collect_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                   bool accumulate) {
  if (channels.count == 1) {
    launch_collect_tiles<T, 1>(context, problem, channels, accumulate);
  } else {
    launch_collect_tiles<T, 2>(context, problem, channels, accumulate);
  }
}

}  // namespace quadrat::detail
