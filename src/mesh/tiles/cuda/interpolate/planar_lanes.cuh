// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/interpolate/pairs.cuh"
#include "mesh/tiles/cuda/planar.cuh"
#include "mesh/tiles/cuda/problem.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation of complex floats from meshes of two dimensions, for windows of up to 7 mesh points: a warp copies the
/// patch of its tile to shared memory, and eight lanes take a point, as in interpolate/pairs.cuh. This needs half the
/// registers of matrix products, which leaves room for more warps.
namespace quadrat::detail {

/// A patch in shared memory, by rows of pairs. The pitch is 4 modulo 8, so that four pairs of each of two neighboring
/// rows never share a bank. The last row and the last columns are read with weights of zero.
struct planar_lane_patch {
  static constexpr int pitch = patch_pitch, rows = planar_patch + 1;
  float4 pairs[rows * pitch];

  /// Called by a whole warp.
  __device__ void load(const tile_grid& grid, const tile_channels<float>& channels, const planar_place& at) {
    auto* const values = reinterpret_cast<float2*>(pairs);
    for (int i = at.lane; i < rows * 2 * pitch; i += 32) {
      const int row = i / (2 * pitch), column = i - row * 2 * pitch;
      const int j = row < grid.reach(1) ? tile_home(grid.shape, at.second + row, 1) : -1;
      const int k = column < grid.reach(2) ? tile_home(grid.shape, at.last + column, 2) : -1;
      float value[2] = {};
      if (j >= 0 && k >= 0) {
        load_tile_node<float, 2>(channels, static_cast<std::size_t>(j * grid.shape.extent[2] + k), value);
      }
      values[i] = make_float2(value[0], value[1]);
    }
  }
};

/// A number of the point's value: of the real part in even lanes, of the imaginary part in odd ones.
template <int Width>
__device__ __forceinline__ float sum_planar_lanes(const planar_lane_patch& patch, const lane_polynomial& own,
                                                  const mesh_window<float>& window, const tile_record<float>& record,
                                                  int lane) {
  const int t = lane % 4, h = lane / 4;
  float weight[2], slope;
  own.evaluate<false>(window, record.place[1], weight[0], slope);
  own.evaluate<false>(window, record.place[2], weight[1], slope);
  const int row = offset_of<float>(record.place[1]), column = offset_of<float>(record.place[2]), odd = column & 1;
  const float4* const from = patch.pairs + (row + h) * planar_lane_patch::pitch + column / 2 + t;
  float4 sum{};
#pragma unroll
  for (int k = 0; k < pair_rows<Width>; ++k) {
    add_pair(sum, __shfl_sync(~0u, weight[0], 2 * k + h, 8), from[2 * k * planar_lane_patch::pitch]);
  }
  const float last[2] = {__shfl_sync(~0u, weight[1], (2 * t - odd) & 7, 8),
                         __shfl_sync(~0u, weight[1], 2 * t + 1 - odd, 8)};
  float results[2];
  close_pair(sum, last, results);
  return sum_over_lanes(lane, results);
}

/// Points of a group of eight lanes whose sums are computed together.
inline constexpr int planar_lane_points = 2;

/// One warp per unit.
template <int Width>
__global__ void __launch_bounds__(32 * tile_warps<float>, 8)
    interpolate_planar_lanes_kernel(const __grid_constant__ tile_problem<float> problem,
                                    const __grid_constant__ tile_channels<float> channels,
                                    const __grid_constant__ tile_results<float> results) {
  constexpr int points = planar_lane_points;
  __shared__ planar_lane_patch patches[tile_warps<float>];
  const std::uint32_t number = blockIdx.x * tile_warps<float> + threadIdx.x / 32;
  if (number >= *problem.unit_count) return;
  const planar_place at(problem.grid, problem.units[number], static_cast<int>(threadIdx.x % 32));
  const std::uint32_t group = static_cast<std::uint32_t>(at.lane / 8);
  const auto record_of = [&](std::uint32_t slot) { return problem.records[min(slot, at.unit.last - 1)]; };
  tile_record<float> record[points];
#pragma unroll
  for (int q = 0; q < points; ++q) record[q] = record_of(at.unit.first + 4 * q + group);
  const lane_polynomial own(problem.window, at.lane % 8);
  planar_lane_patch& patch = patches[threadIdx.x / 32];
  patch.load(problem.grid, channels, at);
  __syncwarp();
#pragma unroll 1
  for (std::uint32_t slot = at.unit.first + group; slot - group < at.unit.last; slot += 4 * points) {
    tile_record<float> next[points];
#pragma unroll
    for (int q = 0; q < points; ++q) next[q] = record_of(slot + 4 * (points + q));
#pragma unroll
    for (int q = 0; q < points; ++q) {
      const float sum = sum_planar_lanes<Width>(patch, own, problem.window, record[q], at.lane % 8);
      if (at.lane % 8 < 2 && slot + 4 * q < at.unit.last) results.put_value(at.lane % 8, record[q].id, sum);
      record[q] = next[q];
    }
  }
}

[[nodiscard]] inline bool serves_planar_lanes(const tile_grid& grid, const tile_channels<float>& channels,
                                              const tile_results<float>& results) {
  return channels.count == 2 && channels.pairs && !results.gradient && grid.shape.first_axis == 1 &&
         grid.shape.width[2] <= patch_most_width;
}

inline void interpolate_planar_lanes(const cuda_context& context, const tile_problem<float>& problem,
                                     const tile_channels<float>& channels, const tile_results<float>& results) {
  const cuda_launch launch(context, "mesh.tiles.interpolate_planar_lanes");
  const unsigned blocks = cuda_launch::blocks(problem.most_units, tile_warps<float>);
  with_pair_width(problem.window.width, [&](auto width) {
    interpolate_planar_lanes_kernel<decltype(width)::value>
        <<<blocks, 32 * tile_warps<float>, 0, context.stream()>>>(problem, channels, results);
  });
  launch.check();
}

}  // namespace quadrat::detail
