// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/halves.cuh"
#include "mesh/tiles/cuda/mma.cuh"
#include "mesh/tiles/cuda/problem.hpp"
#include "mesh/tiles/cuda/spread/targets.cuh"
#include "mesh/tiles/cuda/weights.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

/// Spreading by tiles: a warp goes through the points of a segment, tile by tile along the first axis, and keeps the
/// sums of the patch of 8 x 8 x (8 Layers) mesh points in registers. A footprint is a product of three rows of weights,
/// so 8 points at a time are one matrix product for the tensor cores: (first and second axis x points) times (points x
/// value and last axis). Planes that the moving patch leaves go to a target (targets.cuh).
namespace quadrat::detail {

template <typename T, int Channels, int Layers>
struct tile_spread_memory {
  tile_axis_weights<T> first, second;
  tile_axis_weights<T> last[Layers];
  T values[Channels][tile_batch + 8];
};

/// The sums of a lane: one row along the last axis, for pairs of planes and groups of eight columns, of which it has 2t
/// and 2t + 1. Plane i of the mesh is stored at i % 8, and stays there while the patch moves.
template <typename T, int Channels, int Layers>
class tile_patch_sums {
 public:
  static constexpr int groups = Channels * Layers;  // of eight columns

  __device__ tile_patch_sums() {
#pragma unroll
    for (int pair = 0; pair < tile_patch / 2; ++pair) {
#pragma unroll
      for (int group = 0; group < groups; ++group) {
#pragma unroll
        for (int c = 0; c < 4; ++c) sums_[pair][group][c] = T(0);
      }
    }
  }

  using sums_type = T[tile_patch / 2][groups][4];
  [[nodiscard]] __device__ sums_type& sums() { return sums_; }

  /// Passes the planes of the mesh [plane, plane + count) to the target and clears them.
  template <typename Target>
  __device__ void advance(Target& target, int plane, int count) {
    target.skip_to(plane);
    const auto first = target.plane(plane);
#pragma unroll
    for (int p = 0; p < tile_patch; ++p) {
      const int after = (p - plane) & (tile_patch - 1);
      if (after < count) flush(target, target.after(first, after), p);
    }
    target.skip_written(count);
  }

 private:
  template <typename Target, typename Place>
  __device__ __forceinline__ void flush(const Target& target, const Place& place, int p) {
#pragma unroll
    for (int layer = 0; layer < Layers; ++layer) {
      T value[2][Channels];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int c = 0; c < Channels; ++c) value[half][c] = sums_[p / 2][c * Layers + layer][2 * (p % 2) + half];
      }
      target.put(place, layer, value);
    }
    // Clear only after all planes are passed, so that no sum is copied before.
#pragma unroll
    for (int group = 0; group < groups; ++group) {
      sums_[p / 2][group][2 * (p % 2)] = sums_[p / 2][group][2 * (p % 2) + 1] = T(0);
    }
  }

  sums_type sums_;
};

/// The weights of a point along all axes.
template <typename T>
__device__ __forceinline__ void weights_to_spread(const tile_problem<T>& problem, const tile_record<T>& record,
                                                  T (&w)[3][8]) {
  if constexpr (sizeof(T) == sizeof(float)) {
    weights_of_record(problem.window, problem.grid.shape, record, w);
  } else {
    tile_weights(problem.window, problem.grid.shape, record, w);
  }
}

/// A batch: one point per lane. Offsets along the first axis count from mesh point `start`.
template <typename T, int Channels, int Layers>
__device__ __forceinline__ void stage_tile_batch(const tile_problem<T>& problem, const tile_record<T>& record,
                                                 const T (&value)[Channels], int start, int lane,
                                                 tile_spread_memory<T, Channels, Layers>& memory) {
  const tile_grid& grid = problem.grid;
  T w[3][8];
  weights_to_spread(problem, record, w);
  rotate_tile_weights(start + offset_of<T>(record.place[0]), w[0]);
  store_tile_weights(memory.first, lane, w[0]);
  shift_tile_weights(offset_of<T>(record.place[1]), grid.edge[1], w[1]);
  store_tile_weights(memory.second, lane, w[1]);
  T last[8 * Layers];
#pragma unroll
  for (int j = 0; j < 8 * Layers; ++j) last[j] = j >= 8 ? T(0) : Channels == 1 ? w[2][j] * value[0] : w[2][j];
  shift_tile_weights(offset_of<T>(record.place[2]), grid.edge[2], last);
#pragma unroll
  for (int layer = 0; layer < Layers; ++layer) store_tile_weights(memory.last[layer], lane, last + 8 * layer);
  if constexpr (Channels > 1) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) memory.values[c][lane] = value[c];
  }
}

/// Adds the points [begin, end) of a batch, all of one tile.
template <typename T, int Channels, int Layers, typename Target>
__device__ __forceinline__ void add_tile_points(const tile_spread_memory<T, Channels, Layers>& memory, int begin,
                                                int end, int lane, T (&sums)[tile_patch / 2][Channels * Layers][4]) {
  using mma = tile_mma<T>;
  const int g = lane / 4, t = lane % 4;
  const int position = Target::position(g);
  for (int k = begin; k < end; k += 8) {
    const int points[2] = {k + t, k + t + 4};
    T first[2][8], second[2];
    typename mma::part right[Channels * Layers][2];
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      load_tile_weights(memory.first, points[p], first[p]);
      second[p] = memory.second.at(points[p], g);
#pragma unroll
      for (int layer = 0; layer < Layers; ++layer) {
        const T weight = memory.last[layer].at(points[p], position);
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          const T value = Channels == 1 ? weight : weight * memory.values[c][points[p]];
          right[c * Layers + layer][p] = mma::right_part(points[p] < end ? value : T(0));
        }
      }
    }
#pragma unroll
    for (int pair = 0; pair < tile_patch / 2; ++pair) {
      const typename mma::part left[4] = {
          mma::left_part(first[0][2 * pair], second[0]), mma::left_part(first[0][2 * pair + 1], second[0]),
          mma::left_part(first[1][2 * pair], second[1]), mma::left_part(first[1][2 * pair + 1], second[1])};
#pragma unroll
      for (int group = 0; group < Channels * Layers; ++group) mma::add(sums[pair][group], left, right[group]);
    }
  }
}

/// Blocks on a multiprocessor, which bound registers; 0: no bound.
template <typename T, int Channels, int Layers>
inline constexpr int tile_spread_blocks = sizeof(T) == 4 && Channels * Layers == 1 ? 6 : 0;

template <typename T, int Channels, int Layers, template <typename, int, int> typename Target>
__global__ void __launch_bounds__(32 * tile_warps<T>, tile_spread_blocks<T, Channels, Layers>)
    spread_tiles_kernel(const __grid_constant__ tile_problem<T> problem,
                        const __grid_constant__ tile_channels<T> channels, T* __restrict__ shares) {
  __shared__ tile_spread_memory<T, Channels, Layers> memories[tile_warps<T>];
  const int lane = threadIdx.x % 32;
  tile_spread_memory<T, Channels, Layers>& memory = memories[threadIdx.x / 32];
  const std::uint32_t number = blockIdx.x * tile_warps<T> + threadIdx.x / 32;
  if (number >= *problem.unit_count) return;
  const tile_unit unit = problem.units[number];
  const tile_grid& grid = problem.grid;

  memory.first.clear_tail();
  memory.second.clear_tail();
  for (int layer = 0; layer < Layers; ++layer) memory.last[layer].clear_tail();

  const tile_unit_patch patch = patch_of_unit(grid, unit, number, lane);
  const int start = patch.first;
  Target<T, Channels, Layers> target(grid, channels, shares, patch);
  tile_patch_sums<T, Channels, Layers> sums;

  int current = -1;  // tile of the patch
  // Records are loaded two batches ahead, values one.
  tile_record<T> record = problem.records[min(unit.first + lane, unit.last - 1)];
  tile_record<T> next = problem.records[min(unit.first + tile_batch + lane, unit.last - 1)];
  T value[Channels];
  load_tile_values<T, Channels>(channels, record.id, value);
  for (std::uint32_t batch = unit.first; batch < unit.last; batch += tile_batch) {
    T next_value[Channels];
    load_tile_values<T, Channels>(channels, next.id, next_value);
    const tile_record<T> after = problem.records[min(batch + 2 * tile_batch + lane, unit.last - 1)];
    const int tile = grid.tile_in_segment(offset_of<T>(record.place[0]));
    const int count = static_cast<int>(min(static_cast<std::uint32_t>(tile_batch), unit.last - batch));
    const int before = __shfl_up_sync(~0u, tile, 1);
    unsigned begins = __ballot_sync(~0u, lane < count && (lane == 0 || tile != before));
    __syncwarp();
    stage_tile_batch(problem, record, value, start, lane, memory);
    __syncwarp();
    while (begins != 0) {
      const int begin = __ffs(static_cast<int>(begins)) - 1;
      begins &= begins - 1;
      const int end = begins == 0 ? count : __ffs(static_cast<int>(begins)) - 1;
      const int here = __shfl_sync(~0u, tile, begin);
      if (here != current) {
        if (current >= 0) {
          const int planes = min((here - current) * grid.edge[0], grid.reach(0));
          sums.advance(target, start + current * grid.edge[0], planes);
        }
        current = here;
      }
      add_tile_points<T, Channels, Layers, Target<T, Channels, Layers>>(memory, begin, end, lane, sums.sums());
    }
    record = next;
    next = after;
#pragma unroll
    for (int c = 0; c < Channels; ++c) value[c] = next_value[c];
  }
  sums.advance(target, start + current * grid.edge[0], grid.reach(0));
  target.skip_to(start + grid.segment_reach());
}

/// `shares`: for targets that use them.
template <typename T, int Channels, int Layers, template <typename, int, int> typename Target>
void launch_spread_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                         T* shares) {
  const cuda_launch launch(context, "mesh.tiles.spread");
  spread_tiles_kernel<T, Channels, Layers, Target>
      <<<cuda_launch::blocks(problem.most_units, tile_warps<T>), 32 * tile_warps<T>, 0, context.stream()>>>(
          problem, channels, shares);
  launch.check();
}

}  // namespace quadrat::detail
