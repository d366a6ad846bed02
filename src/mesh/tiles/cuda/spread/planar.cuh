// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/planar.cuh"
#include "mesh/tiles/cuda/problem.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

/// Spreading onto meshes of one or two dimensions: the sums of a patch are the matrix product (second axis x points)
/// times (points x value and last axis), and stay in registers until the points of a unit are done.
namespace quadrat::detail {

template <typename T, int Channels>
struct planar_spread_memory {
  planar_axis_weights<T> second, last;
  T values[Channels][tile_batch];
};

/// Half h of the patch along the last axis: the four sums of a product.
template <typename T, int Channels>
using planar_sums = T[2][Channels][4];

/// Adds to the mesh, by atomic operations.
template <typename T, int Channels>
struct planar_mesh_target {
  /// Columns 2t and 2t + 1 are the mesh points t and t + 4, so that four lanes add to adjacent mesh points.
  [[nodiscard]] __device__ static int position(int column) { return column / 2 + 4 * (column % 2); }

  __device__ static void put(const tile_grid& grid, const tile_channels<T>& channels, T*, std::uint32_t,
                             const planar_place& at, const planar_sums<T, Channels>& sums) {
    const planar_offsets offsets(grid, at);
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
#pragma unroll
      for (int quarter = 0; quarter < 4; ++quarter) {
        T value[Channels];
        bool any = false;
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          value[c] = sums[quarter / 2][c][2 * upper + quarter % 2];
          any = any || value[c] != T(0);
        }
        if (any && offsets.inside(upper, quarter)) {
          add_to_tile_mesh<T, Channels>(channels, offsets.node(upper, quarter), value);
        }
      }
    }
  }
};

/// Writes the unit's share.
template <typename T, int Channels>
struct planar_share_target {
  [[nodiscard]] __device__ static int position(int column) { return column; }

  __device__ static void put(const tile_grid&, const tile_channels<T>&, T* shares, std::uint32_t unit,
                             const planar_place& at, const planar_sums<T, Channels>& sums) {
    auto* own = reinterpret_cast<tile_pair<T>*>(shares + static_cast<std::size_t>(unit) * (Channels * planar_size));
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
#pragma unroll
      for (int upper = 0; upper < 2; ++upper) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int place = (at.lane / 4 + tile_patch * upper) * planar_patch + tile_patch * half + 2 * (at.lane % 4);
          own[(c * planar_size + place) / 2] = {sums[half][c][2 * upper], sums[half][c][2 * upper + 1]};
        }
      }
    }
  }
};

/// A batch: one point per lane. Past the end of the unit values are zeros.
template <typename T, int Channels>
__device__ __forceinline__ void stage_planar_batch(const tile_problem<T>& problem, const tile_record<T>& record,
                                                   const T (&value)[Channels], bool there, int lane,
                                                   planar_spread_memory<T, Channels>& memory) {
  const tile_grid& grid = problem.grid;
  T w[3][8], placed[planar_patch];
  tile_weights(problem.window, grid.shape, record, w);
  place_planar_weights(w[1], offset_of<T>(record.place[1]), grid.edge[1], placed);
  memory.second.store(lane, placed);
#pragma unroll
  for (int j = 0; j < tile_patch; ++j) w[2][j] = Channels == 1 ? (there ? w[2][j] * value[0] : T(0)) : w[2][j];
  place_planar_weights(w[2], offset_of<T>(record.place[2]), grid.edge[2], placed);
  memory.last.store(lane, placed);
  if constexpr (Channels > 1) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) memory.values[c][lane] = there ? value[c] : T(0);
  }
}

/// Adds the points [k, k + 8) of a batch.
template <typename T, int Channels, typename Target>
__device__ __forceinline__ void add_planar_points(const planar_spread_memory<T, Channels>& memory, int k, int lane,
                                                  planar_sums<T, Channels>& sums) {
  using mma = tile_mma<T>;
  const int g = lane / 4, t = lane % 4;
  const int position = Target::position(g);
  const typename mma::part left[4] = {
      mma::whole_part(memory.second.at(k + t, g)), mma::whole_part(memory.second.at(k + t, g + tile_patch)),
      mma::whole_part(memory.second.at(k + t + 4, g)), mma::whole_part(memory.second.at(k + t + 4, g + tile_patch))};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const T weight[2] = {memory.last.layer[half].at(k + t, position), memory.last.layer[half].at(k + t + 4, position)};
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      typename mma::part right[2];
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        right[p] = mma::right_part(Channels == 1 ? weight[p] : weight[p] * memory.values[c][k + t + 4 * p]);
      }
      mma::add(sums[half][c], left, right);
    }
  }
}

/// One warp per unit.
template <typename T, int Channels, template <typename, int> typename Target>
__global__ void __launch_bounds__(32 * tile_warps<T>)
    spread_planar_kernel(const __grid_constant__ tile_problem<T> problem,
                         const __grid_constant__ tile_channels<T> channels, T* __restrict__ shares) {
  __shared__ planar_spread_memory<T, Channels> memories[tile_warps<T>];
  const int lane = threadIdx.x % 32;
  auto& memory = memories[threadIdx.x / 32];
  const std::uint32_t number = blockIdx.x * tile_warps<T> + threadIdx.x / 32;
  if (number >= *problem.unit_count) return;
  const planar_place at(problem.grid, problem.units[number], lane);
  planar_sums<T, Channels> sums = {};
  // Records are loaded two batches ahead, values one.
  tile_record<T> record = at.record(problem.records, at.unit.first);
  tile_record<T> next = at.record(problem.records, at.unit.first + tile_batch);
  T value[Channels];
  load_tile_values<T, Channels>(channels, record.id, value);
  for (std::uint32_t batch = at.unit.first; batch < at.unit.last; batch += tile_batch) {
    T next_value[Channels];
    load_tile_values<T, Channels>(channels, next.id, next_value);
    const tile_record<T> after = at.record(problem.records, batch + 2 * tile_batch);
    const int count = static_cast<int>(min(static_cast<std::uint32_t>(tile_batch), at.unit.last - batch));
    __syncwarp();
    stage_planar_batch(problem, record, value, lane < count, lane, memory);
    __syncwarp();
    for (int k = 0; k < count; k += 8) add_planar_points<T, Channels, Target<T, Channels>>(memory, k, lane, sums);
    record = next;
    next = after;
#pragma unroll
    for (int c = 0; c < Channels; ++c) value[c] = next_value[c];
  }
  Target<T, Channels>::put(problem.grid, channels, shares, number, at, sums);
}

/// `shares`: for targets that use them.
template <typename T, int Channels, template <typename, int> typename Target>
void launch_spread_planar(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                          T* shares) {
  const cuda_launch launch(context, "mesh.tiles.spread_planar");
  spread_planar_kernel<T, Channels, Target>
      <<<cuda_launch::blocks(problem.most_units, tile_warps<T>), 32 * tile_warps<T>, 0, context.stream()>>>(
          problem, channels, shares);
  launch.check();
}

template <typename T>
void spread_planar_tiles(const cuda_context& context, const tile_problem<T>& problem,
                         const tile_channels<T>& channels) {
  if (problem.most_units == 0) return;
  if (channels.count == 1) {
    launch_spread_planar<T, 1, planar_mesh_target>(context, problem, channels, nullptr);
  } else {
    launch_spread_planar<T, 2, planar_mesh_target>(context, problem, channels, nullptr);
  }
}

}  // namespace quadrat::detail
