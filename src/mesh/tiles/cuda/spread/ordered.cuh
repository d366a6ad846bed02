// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/cover.hpp"
#include "mesh/tiles/cuda/spread/halves.cuh"
#include "mesh/tiles/cuda/spread/planar.cuh"

/// Spreading by tiles in a fixed order: units write their sums to their own memory, and then each mesh point gets the
/// sum of its shares.
namespace quadrat::detail {

/// Mesh points of a block along the last two axes, such that its threads read all of a patch's rows.
inline constexpr int tile_sum_block[2] = {8, 32};

template <typename T, int Channels>
__device__ __forceinline__ void store_tile_node(const tile_channels<T>& channels, std::size_t node, bool accumulate,
                                                T (&value)[Channels]) {
  if (accumulate) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) value[c] += channels.mesh[c][node * static_cast<std::size_t>(channels.stride)];
  }
  if constexpr (Channels == 2) {
    if (channels.pairs) {
      reinterpret_cast<tile_pair<T>*>(channels.mesh[0])[node] = {value[0], value[1]};
      return;
    }
  }
#pragma unroll
  for (int c = 0; c < Channels; ++c) channels.mesh[c][node * static_cast<std::size_t>(channels.stride)] = value[c];
}

template <typename T, int Channels, int Rows, int Length>
__global__ void __launch_bounds__(tile_sum_block[0] * tile_sum_block[1], sizeof(T) == 4 ? 6 : 4)
    sum_tile_shares_kernel(const __grid_constant__ tile_covers covers, const __grid_constant__ tile_shares<T> shares,
                           const __grid_constant__ tile_channels<T> channels, bool accumulate) {
  const int extent[3] = {covers.axis[0].extent, covers.axis[1].extent, covers.axis[2].extent};
  const unsigned rows = (extent[1] + tile_sum_block[0] - 1) / tile_sum_block[0];
  const unsigned strips = (extent[2] + tile_sum_block[1] - 1) / tile_sum_block[1];
  const unsigned above = blockIdx.x / strips;
  const int k = static_cast<int>(blockIdx.x % strips * tile_sum_block[1] + threadIdx.x % tile_sum_block[1]);
  const int j = static_cast<int>(above % rows * tile_sum_block[0] + threadIdx.x / tile_sum_block[1]);
  const int i = static_cast<int>(above / rows * tile_column);
  if (j >= extent[1] || k >= extent[2]) return;
  T sum[tile_column][Channels] = {};
  add_tile_shares<T, Channels, Rows, Length>(covers, shares, i, j, k, sum);
  std::size_t node = (static_cast<std::size_t>(i) * extent[1] + j) * extent[2] + k;
#pragma unroll
  for (int p = 0; p < tile_column; ++p) {
    if (i + p < extent[0]) store_tile_node<T, Channels>(channels, node, accumulate, sum[p]);
    node += static_cast<std::size_t>(extent[1]) * extent[2];
  }
}

template <typename T, int Channels, int Rows, int Length>
void launch_sum_tile_shares(const cuda_context& context, const tile_grid& grid, const tile_channels<T>& channels,
                            const tile_shares<T>& shares, bool accumulate) {
  const cuda_launch launch(context, "mesh.tiles.sum");
  const int* extent = grid.shape.extent;
  const auto parts = [&](int axis, int part) { return static_cast<std::size_t>((extent[axis] + part - 1) / part); };
  const std::size_t count = parts(0, tile_column) * parts(1, tile_sum_block[0]) * parts(2, tile_sum_block[1]);
  const unsigned blocks = cuda_launch::blocks(count, 1), threads = tile_sum_block[0] * tile_sum_block[1];
  sum_tile_shares_kernel<T, Channels, Rows, Length>
      <<<blocks, threads, 0, context.stream()>>>(make_tile_covers(grid), shares, channels, accumulate);
  launch.check();
}

template <typename T, int Channels>
void launch_ordered_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                          const tile_shares<T>& shares, bool accumulate) {
  const tile_grid& grid = problem.grid;
  if (grid.planar) {
    launch_spread_planar<T, Channels, planar_share_target>(context, problem, channels, shares.sums);
    return launch_sum_tile_shares<T, Channels, planar_patch, planar_patch>(context, grid, channels, shares, accumulate);
  }
  launch_spread_units<T, Channels, tile_share_target>(context, problem, channels, shares.sums);
  if (grid.layers == 1) {
    launch_sum_tile_shares<T, Channels, tile_patch, tile_patch>(context, grid, channels, shares, accumulate);
  } else {
    launch_sum_tile_shares<T, Channels, tile_patch, 2 * tile_patch>(context, grid, channels, shares, accumulate);
  }
}

template <typename T>
void spread_tiles_in_order(const cuda_context& context, const tile_problem<T>& problem,
                           const tile_channels<T>& channels, const tile_shares<T>& shares, bool accumulate) {
  if (problem.most_units == 0) return;
  if (channels.count == 1) {
    launch_ordered_tiles<T, 1>(context, problem, channels, shares, accumulate);
  } else {
    launch_ordered_tiles<T, 2>(context, problem, channels, shares, accumulate);
  }
}

}  // namespace quadrat::detail
