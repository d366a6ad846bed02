// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/cuda_check.hpp"
#include "mesh/tiles/cuda/halves.cuh"
#include "mesh/tiles/cuda/spread/products.cuh"

/// Spreading of floats by tiles as in products.cuh, with factors in halves.
namespace quadrat::detail {

template <int Channels, int Layers>
struct half_spread_memory {
  half_rows<8 * (2 + Layers)> weights;  ///< along the first axis, the second and the last
  half_rows<Channels> values;
  float scale[half_batch / half_group];  ///< of products, by group
};

/// One lane's two points of a batch.
struct half_points {
  tile_record<float> of[2];

  __device__ void load(const tile_record<float>* records, std::uint32_t batch, std::uint32_t last, int lane) {
#pragma unroll
    for (int p = 0; p < 2; ++p) of[p] = records[min(batch + 2 * lane + p, last)];
  }
};

template <int Channels>
using half_values = float[2][Channels];

/// The weights of two points per lane, where the patch has the mesh points. Offsets along the first axis count from
/// mesh point `start`. The axes share the code, since instructions have to fit in a cache.
template <int Channels, int Layers>
__device__ __forceinline__ void stage_half_weights(const tile_problem<float>& problem, const half_points& points,
                                                   int start, int lane, half_spread_memory<Channels, Layers>& memory) {
  half_parts* to = &memory.weights.row[0][half_row_place(lane)];
#pragma unroll 1
  for (int axis = 0; axis < 3; ++axis, to += 8 * half_row_pitch) {
    std::uint32_t word[2];
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const auto& place = points.of[p].place;
      word[p] = axis == 0 ? place[0] : axis == 1 ? place[1] : place[2];
    }
    float w[2][8];
    weights_along<2>(problem.window, axis < problem.grid.shape.first_axis, word, w);
    int offset[2];
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      offset[p] = offset_of<float>(word[p]) + (axis == 0 ? start : 0);
      // No weights are shifted out.
      rotate_tile_weights(offset[p], w[p]);
    }
    if (Layers == 1 || axis < 2) {
#pragma unroll
      for (int j = 0; j < 8; ++j) to[j * half_row_pitch] = split_halves(w[0][j], w[1][j]);
    } else {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float lower[2], upper[2];
#pragma unroll
        for (int p = 0; p < 2; ++p) {
          const bool before = offset[p] <= j, after = offset[p] > j && offset[p] <= j + 8;
          lower[p] = before ? w[p][j] : 0;
          upper[p] = after ? w[p][j] : 0;
        }
        to[j * half_row_pitch] = split_halves(lower[0], lower[1]);
        to[(8 + j) * half_row_pitch] = split_halves(upper[0], upper[1]);
      }
    }
  }
}

/// The values of two points per lane.
template <int Channels, int Layers>
__device__ __forceinline__ void stage_half_values(const half_values<Channels>& value, float unit_scale, int lane,
                                                  half_spread_memory<Channels, Layers>& memory) {
  std::uint32_t most = 0;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    most = max(most, max(half_scale::modulus(value[0][c]), half_scale::modulus(value[1][c])));
  }
#pragma unroll
  for (int distance = 1; distance < half_group / 2; distance *= 2) {
    most = max(most, __shfl_xor_sync(~0u, most, distance));
  }
  const half_scale scale(most);
  if (lane % (half_group / 2) == 0) memory.scale[lane / (half_group / 2)] = scale.up * unit_scale;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    memory.values.row[c][half_row_place(lane)] = split_halves(value[0][c] * scale.down, value[1][c] * scale.down);
  }
}

/// Adds the points [begin, end) of a batch, all of one tile.
template <int Channels, int Layers, typename Target>
__device__ __forceinline__ void add_half_points(const half_spread_memory<Channels, Layers>& memory, int begin, int end,
                                                int lane, float (&sums)[tile_patch / 2][Channels * Layers][4]) {
  const int g = lane / 4, t = lane % 4;
  const int position = Target::position(g);
  for (int group = begin / half_group; group * half_group < end; ++group) {
    half_parts right[Channels * Layers][2];
#pragma unroll
    for (int layer = 0; layer < Layers; ++layer) {
      const half_rows_two weight = memory.weights.at(16 + 8 * layer + position, group, t);
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        const half_rows_two value = memory.values.at(c, group, t);
#pragma unroll
        for (int p = 0; p < 2; ++p) right[c * Layers + layer][p] = multiply_halves(weight.of[p], value.of[p]);
      }
    }
    if (group * half_group < begin || end < (group + 1) * half_group) {
      // Other tiles' points.
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        const int point = group * half_group + 2 * t + 8 * p;
        const std::uint32_t mask =
            (point >= begin && point < end ? 0xffffu : 0u) | (point + 1 >= begin && point + 1 < end ? 0xffff0000u : 0u);
#pragma unroll
        for (int r = 0; r < Channels * Layers; ++r) {
          right[r][p].high &= mask;
          right[r][p].low &= mask;
        }
      }
    }
    const float scale = memory.scale[group];
    const half_rows_two second = memory.weights.at(8 + g, group, t);
#pragma unroll
    for (int pair = 0; pair < tile_patch / 2; ++pair) {
      const half_rows_two first = memory.weights.at(2 * pair, group, t),
                          next = memory.weights.at(2 * pair + 1, group, t);
      const half_parts left[4] = {multiply_halves(first.of[0], second.of[0]), multiply_halves(next.of[0], second.of[0]),
                                  multiply_halves(first.of[1], second.of[1]),
                                  multiply_halves(next.of[1], second.of[1])};
#pragma unroll
      for (int r = 0; r < Channels * Layers; ++r) {
        // Tensor cores truncate a sum's last digits instead of rounding, which accumulates: each product is summed
        // separately.
        float fresh[4] = {};
        multiply_half_parts(fresh, left, right[r]);
#pragma unroll
        for (int c = 0; c < 4; ++c) sums[pair][r][c] = fmaf(fresh[c], scale, sums[pair][r][c]);
      }
    }
  }
}

inline constexpr int half_warps = 4;

/// As spread_tiles_kernel. The window is at most about 1; sums are multiplied by `unit`.
template <int Channels, int Layers, template <typename, int, int> typename Target,
          int Resident = (Channels * Layers == 4   ? 3
                          : Channels * Layers == 2 ? 4
                                                   : 5)>
__global__ void __launch_bounds__(32 * half_warps, Resident)
    spread_halves_kernel(const __grid_constant__ tile_problem<float> problem,
                         const __grid_constant__ tile_channels<float> channels, float* __restrict__ shares,
                         float unit_scale) {
  extern __shared__ uint4 half_memory[];
  const int lane = threadIdx.x % 32;
  auto& memory = reinterpret_cast<half_spread_memory<Channels, Layers>*>(half_memory)[threadIdx.x / 32];
  const std::uint32_t number = blockIdx.x * half_warps + threadIdx.x / 32;
  if (number >= *problem.unit_count) return;
  const tile_unit unit = problem.units[number];
  const tile_grid& grid = problem.grid;

  const tile_unit_patch patch = patch_of_unit(grid, unit, number, lane);
  const int start = patch.first;
  Target<float, Channels, Layers> target(grid, channels, shares, patch);
  tile_patch_sums<float, Channels, Layers> sums;

  int current = -1;  // tile of the patch
  half_points points;
  points.load(problem.records, unit.first, unit.last - 1, lane);
  half_values<Channels> value;
#pragma unroll
  for (int p = 0; p < 2; ++p) load_tile_values<float, Channels>(channels, points.of[p].id, value[p]);
  // The last turn only passes on what the patch still holds: there is one copy of that code.
  for (std::uint32_t batch = unit.first;; batch += half_batch) {
    const bool over = batch >= unit.last;
    const int count = over ? 1 : static_cast<int>(min(static_cast<std::uint32_t>(half_batch), unit.last - batch));
    const int tile[2] = {grid.tile_in_segment(offset_of<float>(points.of[0].place[0])),
                         grid.tile_in_segment(offset_of<float>(points.of[1].place[0]))};
    const int before = __shfl_up_sync(~0u, tile[1], 1);
    // Runs of one tile's points begin at these even and odd points; the first one at 0.
    unsigned even = __ballot_sync(~0u, lane > 0 && tile[0] != before), odd = __ballot_sync(~0u, tile[1] != tile[0]);
    if (!over) {
      stage_half_weights(problem, points, start, lane, memory);
      stage_half_values<Channels, Layers>(value, unit_scale, lane, memory);
      points.load(problem.records, batch + half_batch, unit.last - 1, lane);
      __syncwarp();
    }
    for (int begin = 0; begin < count;) {
      const unsigned next_even = 2 * static_cast<unsigned>(__ffs(static_cast<int>(even)) - 1),
                     next_odd = 2 * static_cast<unsigned>(__ffs(static_cast<int>(odd)) - 1) + 1;
      const int end = static_cast<int>(min(static_cast<unsigned>(count), min(next_even, next_odd)));
      const int here = __shfl_sync(~0u, begin % 2 == 0 ? tile[0] : tile[1], begin / 2);
      if (here != current || over) {
        if (current >= 0) {
          const int planes = over ? grid.reach(0) : min((here - current) * grid.edge[0], grid.reach(0));
          sums.advance(target, start + current * grid.edge[0], planes);
        }
        current = here;
      }
      if (over) break;
      add_half_points<Channels, Layers, Target<float, Channels, Layers>>(memory, begin, end, lane, sums.sums());
      if (begin == 0) {
        // The records have arrived.
#pragma unroll
        for (int p = 0; p < 2; ++p) load_tile_values<float, Channels>(channels, points.of[p].id, value[p]);
      }
      (end % 2 == 0 ? even : odd) &= (end % 2 == 0 ? even : odd) - 1;
      begin = end;
    }
    if (over) break;
    __syncwarp();
  }
  target.skip_to(start + grid.segment_reach());
}

template <int Channels, int Layers, template <typename, int, int> typename Target>
void launch_spread_halves(const cuda_context& context, const tile_problem<float>& problem,
                          const tile_channels<float>& channels, float* shares, float scale) {
  const cuda_launch launch(context, "mesh.tiles.spread");
  auto* const kernel = spread_halves_kernel<Channels, Layers, Target>;
  constexpr int bytes = half_warps * sizeof(half_spread_memory<Channels, Layers>);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "asking for shared memory");
  kernel<<<cuda_launch::blocks(problem.most_units, half_warps), 32 * half_warps, bytes, context.stream()>>>(
      problem, channels, shares, scale);
  launch.check();
}

/// `shares`: for targets that use them.
template <typename T, int Channels, template <typename, int, int> typename Target>
void launch_spread_units(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                         T* shares) {
  if constexpr (sizeof(T) == sizeof(float)) {
    tile_problem<float> scaled = problem;
    const float scale = scale_half_window(scaled.window, problem.grid.shape);
    if (problem.grid.layers == 1) {
      launch_spread_halves<Channels, 1, Target>(context, scaled, channels, shares, scale);
    } else {
      launch_spread_halves<Channels, 2, Target>(context, scaled, channels, shares, scale);
    }
  } else {
    launch_spread_tiles<T, Channels, Target>(context, problem, channels, shares);
  }
}

template <typename T>
void spread_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels) {
  if (problem.most_units == 0) return;
  if (channels.count == 1) {
    launch_spread_units<T, 1, tile_mesh_target>(context, problem, channels, nullptr);
  } else {
    launch_spread_units<T, 2, tile_mesh_target>(context, problem, channels, nullptr);
  }
}

}  // namespace quadrat::detail
