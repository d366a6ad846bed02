// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/cubes/cube.cuh"
#include "mesh/tiles/cuda/plan.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation of long footprints, the adjoint of cubes/spread.cuh: warps hold the cube's mesh values in registers,
/// (mesh rows x last axis) times (last axis x points) is a matrix product, and its columns are summed with the weights
/// of the other two axes. The sums of the warps are added in their order.
namespace quadrat::detail {

template <typename T, int Channels, int Edge>
struct cube_interpolate_memory {
  struct batch {
    cube_weights<T, Edge, cube_batch + 8> weights;
    T sums[cube_shape<Edge>::warps][Channels][cube_batch];
  };
  static constexpr int buffers = Edge == 16 ? 2 : 1;  ///< with two, one is filled while the other is used
  cube_window<T> window;
  batch batches[buffers];
  T results[Channels][cube_shape<Edge>::slabs == 1 ? 1 : most_cube_slab_points];
};

/// A lane's mesh values: of each block of eight rows the row g, in two planes, and of eight columns t and t + 4.
template <typename T, int Channels, int Edge>
using cube_values = typename tile_mma<T>::part[Channels][cube_shape<Edge>::blocks][cube_shape<Edge>::held][4];

/// Loads the planes [from, from + count), counted from the segment's start.
template <typename T, int Channels, int Edge>
__device__ __forceinline__ void load_cube(const mesh_shape& shape, const tile_channels<T>& channels,
                                          const cube_segment& at, const cube_shape<Edge>& own, int from, int count,
                                          int slab, int lane, cube_values<T, Channels, Edge>& values) {
  const int g = lane / 4, t = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int after = cube_plane<Edge>(2 * (slab * cube_shape<Edge>::pairs + own.pair) + half, from);
    if (after >= count) continue;
    const int i = tile_home(shape, at.begin[0] + from + after, 0);
#pragma unroll
    for (int y = 0; y < cube_shape<Edge>::blocks; ++y) {
      const int j = tile_home(shape, at.begin[1] + 8 * y + g, 1);
#pragma unroll
      for (int z = 0; z < cube_shape<Edge>::held; ++z) {
#pragma unroll
        for (int upper = 0; upper < 2; ++upper) {
          const int k = tile_home(shape, at.begin[2] + 8 * (own.block + z) + 4 * upper + t, 2);
          T value[Channels] = {};
          if (i >= 0 && j >= 0 && k >= 0) load_tile_node<T, Channels>(channels, shape.node(i, j, k), value);
#pragma unroll
          for (int c = 0; c < Channels; ++c) values[c][y][z][2 * upper + half] = tile_mma<T>::whole_part(value[c]);
        }
      }
    }
  }
}

/// Sums 2 Channels values over the eight lanes of a column, two points of each channel: lane 4 g + t gets point 2t + p
/// of channel c where g / 4 is p and, with two channels, g / 2 % 2 is c.
template <typename T, int Channels>
__device__ __forceinline__ T sum_cube_rows(const T (&own)[Channels][2], int lane) {
  const bool second = (lane & 16) != 0;
  T sums[Channels];
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    sums[c] = (second ? own[c][1] : own[c][0]) + __shfl_xor_sync(~0u, second ? own[c][0] : own[c][1], 16);
  }
  T sum = sums[0];
  if constexpr (Channels == 2) {
    const bool other = (lane & 8) != 0;
    sum = (other ? sums[1] : sums[0]) + __shfl_xor_sync(~0u, other ? sums[0] : sums[1], 8);
  } else {
    sum += __shfl_xor_sync(~0u, sum, 8);
  }
  return sum + __shfl_xor_sync(~0u, sum, 4);
}

/// The points [k, k + 8) of a batch, of which those in [begin, end) get results; k is even.
template <typename T, int Channels, int Edge>
__device__ __forceinline__ void read_cube_points(typename cube_interpolate_memory<T, Channels, Edge>::batch& memory,
                                                 const cube_shape<Edge>& own, int k, int begin, int end, int warp,
                                                 int lane, const cube_values<T, Channels, Edge>& values) {
  using mma = tile_mma<T>;
  constexpr int held = cube_shape<Edge>::held;
  const int g = lane / 4, t = lane % 4;
  typename mma::part right[held][2];
#pragma unroll
  for (int z = 0; z < held; ++z) {
    const int column = 8 * (own.block + z) + t;
    const int point = min(k + g, cube_batch - 1);
    right[z][0] = mma::right_part(memory.weights.last[column][point]);
    right[z][1] = mma::right_part(memory.weights.last[column + 4][point]);
  }
  const int points = k + 2 * t;
  const auto pair_at = [&](const T* row) {
    return *reinterpret_cast<const tile_pair<T>*>(row + min(points, cube_batch - 2));
  };
  const tile_pair<T> planes[2] = {pair_at(memory.weights.first[2 * own.pair]),
                                  pair_at(memory.weights.first[2 * own.pair + 1])};
  T sums[Channels][2] = {};
#pragma unroll
  for (int y = 0; y < cube_shape<Edge>::blocks; ++y) {
    const tile_pair<T> row = pair_at(memory.weights.second[8 * y + g]);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      T product[4] = {};
#pragma unroll
      for (int z = 0; z < held; ++z) mma::add(product, values[c][y][z], right[z]);
      sums[c][0] += row.x * (planes[0].x * product[0] + planes[1].x * product[2]);
      sums[c][1] += row.y * (planes[0].y * product[1] + planes[1].y * product[3]);
    }
  }
  const T sum = sum_cube_rows(sums, lane);
  const int c = Channels == 2 ? g / 2 % 2 : 0, point = points + g / 4;
  if (g % (4 / Channels) == 0 && point >= begin && point < end) memory.sums[warp][c][point] = sum;
}

/// Adds up the sums of the warps for a batch, whose first point is `before` points after the unit's first.
template <typename T, int Channels, int Edge>
__device__ __forceinline__ void close_cube_batch(const tile_problem<T>& problem, const tile_results<T>& results,
                                                 std::uint32_t batch, int before, int count, int slab, int buffer,
                                                 cube_interpolate_memory<T, Channels, Edge>& memory) {
  const int c = threadIdx.x / cube_batch, point = threadIdx.x % cube_batch;
  if (c >= Channels || point >= count) return;
  T sum = T(0);
#pragma unroll
  for (int w = 0; w < cube_shape<Edge>::warps; ++w) sum += memory.batches[buffer].sums[w][c][point];
  if constexpr (cube_shape<Edge>::slabs > 1) {
    T& kept = memory.results[c][before + point];
    if (slab > 0) sum += kept;
    kept = sum;
    if (slab + 1 < cube_shape<Edge>::slabs) return;
  }
  results.put_value(c, problem.records[batch + point].id, sum);
}

/// A block per unit.
template <typename T, int Channels, int Edge>
__global__ void __launch_bounds__(32 * cube_shape<Edge>::warps, cube_shape<Edge>::resident)
    interpolate_cubes_kernel(const __grid_constant__ tile_problem<T> problem,
                             const __grid_constant__ tile_channels<T> channels,
                             const __grid_constant__ tile_results<T> results) {
  __shared__ __align__(16) cube_interpolate_memory<T, Channels, Edge> memory;
  if (blockIdx.x >= *problem.unit_count) return;
  const tile_unit unit = problem.units[blockIdx.x];
  const tile_grid& grid = problem.grid;
  const int lane = threadIdx.x % 32, warp = cube_warp();
  const cube_segment at(grid, unit.segment);
  const cube_shape<Edge> own(warp);
  const cube_work<Edge> work{warp, lane};
  const auto tile_of = [&](const cube_points<T, Edge>& points) {
    return grid.tile_in_segment(offset_of<T>(points.first));
  };
  constexpr int buffers = cube_interpolate_memory<T, Channels, Edge>::buffers;
  memory.window.load(problem.window);
  __syncthreads();
#pragma unroll 1
  for (int slab = 0; slab < cube_shape<Edge>::slabs; ++slab) {
    const auto stage = [&](const cube_points<T, Edge>& points, int buffer) {
      stage_cube_weights<Edge>(memory.window, problem.window.terms, points, work, slab, memory.batches[buffer].weights);
    };
    cube_values<T, Channels, Edge> values = {};
    int loaded = -Edge;  // all planes before this one have been loaded
    cube_points<T, Edge> points(problem.records, unit.first, unit.last - 1, work);
    stage(points, 0);
    int tile = tile_of(points), buffer = 0;
    points = cube_points<T, Edge>(problem.records, unit.first + cube_batch, unit.last - 1, work);
    __syncthreads();
    for (std::uint32_t batch = unit.first; batch < unit.last; batch += cube_batch) {
      const int count = static_cast<int>(min(static_cast<std::uint32_t>(cube_batch), unit.last - batch));
      for_each_cube_run(tile, count, lane, [&](int here, int begin, int end) {
        const int base = here * grid.edge[0], from = max(base, loaded);
        if (from < base + Edge) {
          load_cube<T, Channels, Edge>(grid.shape, channels, at, own, from, base + Edge - from, slab, lane, values);
          loaded = base + Edge;
        }
        for (int k = begin & ~1; k < end; k += 8) {
          read_cube_points<T, Channels, Edge>(memory.batches[buffer], own, k, begin, end, warp, lane, values);
        }
      });
      const int next = buffers == 1 ? 0 : buffer ^ 1, before = static_cast<int>(batch - unit.first);
      const auto close = [&] { close_cube_batch(problem, results, batch, before, count, slab, buffer, memory); };
      if (buffers == 1) __syncthreads();
      if (batch + cube_batch < unit.last) {
        stage(points, next);
        tile = tile_of(points);
        points = cube_points<T, Edge>(problem.records, batch + 2 * cube_batch, unit.last - 1, work);
      }
      if (buffers == 1) close();
      __syncthreads();
      if (buffers == 2) close();
      buffer = next;
    }
  }
}

template <typename T, int Channels, int Edge>
void launch_interpolate_cubes(const cuda_context& context, const tile_problem<T>& problem,
                              const tile_channels<T>& channels, const tile_results<T>& results) {
  const cuda_launch launch(context, "mesh.tiles.interpolate_cubes");
  interpolate_cubes_kernel<T, Channels, Edge>
      <<<cuda_launch::blocks(problem.most_units, 1), 32 * cube_shape<Edge>::warps, 0, context.stream()>>>(
          problem, channels, results);
  launch.check();
}

template <typename T>
void interpolate_cubes(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                       const tile_results<T>& results, int edge) {
  if (problem.most_units == 0) return;
  if (edge == 16) {
    (channels.count == 1 ? launch_interpolate_cubes<T, 1, 16> : launch_interpolate_cubes<T, 2, 16>)(context, problem,
                                                                                                    channels, results);
  } else {
    (channels.count == 1 ? launch_interpolate_cubes<T, 1, 24> : launch_interpolate_cubes<T, 2, 24>)(context, problem,
                                                                                                    channels, results);
  }
}

}  // namespace quadrat::detail
