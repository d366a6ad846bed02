// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/cubes/cube.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

/// Spreading of long footprints: (first and second axis x points) times (points x value and last axis). Sums stay in
/// registers until the cube has moved past their planes, and are then added to the mesh by atomic operations.
namespace quadrat::detail {

template <typename T, int Channels, int Edge>
struct cube_spread_memory {
  struct batch {
    cube_weights<T, Edge, cube_pitch<T>> weights;
    T values[Channels][cube_batch];
  };
  cube_window<T> window;
  batch batches[2];  ///< one is filled while the other is in use
};

/// A lane's sums: of each block of eight rows the row g in two planes, and of eight columns 2t and 2t + 1.
template <typename T, int Channels, int Edge>
using cube_sums = T[cube_shape<Edge>::blocks][Channels][cube_shape<Edge>::held][4];

/// Adds the points [k, k + 8) of a batch, those before `end`.
template <typename T, int Channels, int Edge>
__device__ __forceinline__ void add_cube_points(const typename cube_spread_memory<T, Channels, Edge>::batch& memory,
                                                const cube_shape<Edge>& own, int k, int end, int lane,
                                                cube_sums<T, Channels, Edge>& sums) {
  using mma = tile_mma<T>;
  constexpr int held = cube_shape<Edge>::held;
  const int g = lane / 4, t = lane % 4;
  T plane[2][2];  // two points, two planes
  typename mma::part right[Channels][held][2];
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    const int point = min(k + t + 4 * p, cube_batch - 1);
#pragma unroll
    for (int h = 0; h < 2; ++h) plane[p][h] = memory.weights.first[2 * own.pair + h][point];
#pragma unroll
    for (int z = 0; z < held; ++z) {
      const T weight = memory.weights.last[8 * (own.block + z) + g][point];
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        right[c][z][p] = mma::right_part(k + t + 4 * p < end ? weight * memory.values[c][point] : T(0));
      }
    }
  }
#pragma unroll
  for (int y = 0; y < cube_shape<Edge>::blocks; ++y) {
    typename mma::part left[4];
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const T row = memory.weights.second[8 * y + g][min(k + t + 4 * p, cube_batch - 1)];
#pragma unroll
      for (int h = 0; h < 2; ++h) left[2 * p + h] = mma::left_part(plane[p][h], row);
    }
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
#pragma unroll
      for (int z = 0; z < held; ++z) mma::add(sums[y][c][z], left, right[c][z]);
    }
  }
}

/// Exchanges values among the four lanes of a row: lane t gets in value k what lane k had in value t.
template <typename T>
__device__ __forceinline__ void transpose_cube_row(T (&value)[4], int lane) {
#pragma unroll
  for (int distance = 1; distance < 4; distance *= 2) {
    const bool upper = (lane & distance) != 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      T& low = value[distance == 1 ? 2 * i : i];
      T& high = value[distance == 1 ? 2 * i + 1 : i + 2];
      const T got = __shfl_xor_sync(~0u, upper ? low : high, distance);
      (upper ? low : high) = got;
    }
  }
}

/// Adds a lane's sums of one of its planes, which is plane i of the mesh, and clears them. Sums of complex
/// doubles are first exchanged within rows, so that four lanes add to adjacent numbers in a quarter of the memory
/// sectors.
template <typename T, int Channels, int Edge>
__device__ __forceinline__ void flush_cube_plane(const mesh_shape& shape, const tile_channels<T>& channels,
                                                 const cube_segment& at, const cube_shape<Edge>& own, int i, int half,
                                                 int lane, cube_sums<T, Channels, Edge>& sums) {
  const int g = lane / 4, t = lane % 4;
  const bool exchanges = sizeof(T) == 8 && Channels == 2 && channels.pairs;
#pragma unroll
  for (int y = 0; y < cube_shape<Edge>::blocks; ++y) {
    const int j = tile_home(shape, at.begin[1] + 8 * y + g, 1);
#pragma unroll
    for (int z = 0; z < cube_shape<Edge>::held; ++z) {
      const int column = at.begin[2] + 8 * (own.block + z);
      T value[2][Channels];
#pragma unroll
      for (int next = 0; next < 2; ++next) {
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          T& sum = sums[y][c][z][2 * half + next];
          value[next][c] = sum;
          sum = T(0);
        }
      }
      if constexpr (sizeof(T) == 8 && Channels == 2) {
        if (exchanges) {
          T row[4] = {value[0][0], value[0][1], value[1][0], value[1][1]};
          transpose_cube_row(row, lane);
#pragma unroll
          for (int q = 0; q < 4; ++q) {
            const int k = tile_home(shape, column + 2 * q + t / 2, 2);
            if (i >= 0 && j >= 0 && k >= 0 && row[q] != T(0)) {
              atomicAdd(channels.mesh[0] + 2 * shape.node(i, j, k) + t % 2, row[q]);
            }
          }
          continue;
        }
      }
#pragma unroll
      for (int next = 0; next < 2; ++next) {
        const int k = tile_home(shape, column + 2 * t + next, 2);
        bool any = i >= 0 && j >= 0 && k >= 0 && value[next][0] != T(0);
        if constexpr (Channels == 2) any = any || (i >= 0 && j >= 0 && k >= 0 && value[next][1] != T(0));
        if (any) add_to_tile_mesh<T, Channels>(channels, shape.node(i, j, k), value[next]);
      }
    }
  }
}

/// Adds the sums of the planes [base, base + count), from the segment's start, to the mesh.
template <typename T, int Channels, int Edge>
__device__ __forceinline__ void flush_cube(const mesh_shape& shape, const tile_channels<T>& channels,
                                           const cube_segment& at, const cube_shape<Edge>& own, int base, int count,
                                           int slab, int lane, cube_sums<T, Channels, Edge>& sums) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int after = cube_plane<Edge>(2 * (slab * cube_shape<Edge>::pairs + own.pair) + half, base);
    if (after >= count) continue;
    const int i = tile_home(shape, at.begin[0] + base + after, 0);
    flush_cube_plane<T, Channels, Edge>(shape, channels, at, own, i, half, lane, sums);
  }
}

/// Block x: unit. Block y: slab.
template <typename T, int Channels, int Edge>
__global__ void __launch_bounds__(32 * cube_shape<Edge>::warps, cube_shape<Edge>::resident)
    spread_cubes_kernel(const __grid_constant__ tile_problem<T> problem,
                        const __grid_constant__ tile_channels<T> channels) {
  __shared__ cube_spread_memory<T, Channels, Edge> memory;
  if (blockIdx.x >= *problem.unit_count) return;
  const tile_unit unit = problem.units[blockIdx.x];
  const tile_grid& grid = problem.grid;
  const int lane = threadIdx.x % 32, warp = cube_warp(), slab = blockIdx.y;
  const cube_segment at(grid, unit.segment);
  const cube_shape<Edge> own(warp);
  const cube_work<Edge> work{warp, lane};
  const auto slot_of = [&](std::uint32_t batch) { return min(batch + lane, unit.last - 1); };
  const auto tile_of = [&](const cube_points<T, Edge>& points) {
    return grid.tile_in_segment(offset_of<T>(points.first));
  };
  // Records are loaded one batch ahead, the ids of values two.
  const bool brings_values = warp == cube_shape<Edge>::warps - 1;
  particle_id id = 0;
  T value[Channels] = {};
  const auto stage = [&](const cube_points<T, Edge>& points, int buffer) {
    auto& to = memory.batches[buffer];
    stage_cube_weights<Edge>(memory.window, problem.window.terms, points, work, slab, to.weights);
    if (brings_values) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) to.values[c][lane] = value[c];
    }
  };
  const auto load_values = [&](std::uint32_t after) {
    if (!brings_values) return;
    load_tile_values<T, Channels>(channels, id, value);
    id = problem.records[slot_of(after)].id;
  };
  memory.window.load(problem.window);
  if (brings_values) id = problem.records[slot_of(unit.first)].id;
  load_values(unit.first + cube_batch);
  cube_points<T, Edge> points(problem.records, unit.first, unit.last - 1, work);
  __syncthreads();
  stage(points, 0);
  int tile = tile_of(points), current = -1;  // of the cube
  points = cube_points<T, Edge>(problem.records, unit.first + cube_batch, unit.last - 1, work);
  load_values(unit.first + 2 * cube_batch);
  __syncthreads();
  cube_sums<T, Channels, Edge> sums = {};
  int buffer = 0;
  for (std::uint32_t batch = unit.first; batch < unit.last; batch += cube_batch, buffer ^= 1) {
    const int count = static_cast<int>(min(static_cast<std::uint32_t>(cube_batch), unit.last - batch));
    for_each_cube_run(tile, count, lane, [&](int here, int begin, int end) {
      if (here != current) {
        if (current >= 0) {
          flush_cube<T, Channels, Edge>(grid.shape, channels, at, own, current * grid.edge[0],
                                        min((here - current) * grid.edge[0], Edge), slab, lane, sums);
        }
        current = here;
      }
      for (int k = begin; k < end; k += 8) {
        add_cube_points<T, Channels, Edge>(memory.batches[buffer], own, k, end, lane, sums);
      }
    });
    if (batch + cube_batch < unit.last) {
      stage(points, buffer ^ 1);
      tile = tile_of(points);
      points = cube_points<T, Edge>(problem.records, batch + 2 * cube_batch, unit.last - 1, work);
      load_values(batch + 3 * cube_batch);
    }
    __syncthreads();
  }
  flush_cube<T, Channels, Edge>(grid.shape, channels, at, own, current * grid.edge[0], Edge, slab, lane, sums);
}

template <typename T, int Channels, int Edge>
void launch_spread_cubes(const cuda_context& context, const tile_problem<T>& problem,
                         const tile_channels<T>& channels) {
  const cuda_launch launch(context, "mesh.tiles.spread_cubes");
  const dim3 blocks(cuda_launch::blocks(problem.most_units, 1), cube_shape<Edge>::slabs);
  spread_cubes_kernel<T, Channels, Edge>
      <<<blocks, 32 * cube_shape<Edge>::warps, 0, context.stream()>>>(problem, channels);
  launch.check();
}

template <typename T>
void spread_cubes(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                  int edge) {
  if (problem.most_units == 0) return;
  if (edge == 16) {
    (channels.count == 1 ? launch_spread_cubes<T, 1, 16> : launch_spread_cubes<T, 2, 16>)(context, problem, channels);
  } else {
    (channels.count == 1 ? launch_spread_cubes<T, 1, 24> : launch_spread_cubes<T, 2, 24>)(context, problem, channels);
  }
}

}  // namespace quadrat::detail
