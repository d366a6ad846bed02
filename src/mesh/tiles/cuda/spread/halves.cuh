// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "core/cuda_check.hpp"
#include "mesh/tiles/cuda/halves.cuh"
#include "mesh/tiles/cuda/spread/products.cuh"
#include "parallel/warp_reduce.cuh"

/// Spreading of floats by tiles as in products.cuh, with factors in halves.
namespace quadrat::detail {

/// Planes that a patch passes on at a time.
inline constexpr int half_planes = 2;

template <int Channels, int Layers>
struct half_spread_memory {
  half_rows<8 * (2 + Layers)> weights;  ///< along the first axis, the second and the last
  half_rows<Channels> values;           ///< scaled, if halves serve
  float2 passed[half_planes][Channels * Layers][32];
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

/// The weights of two points per lane, aligned with the patch. Returns whether halves serve both. The axes share the
/// code, so that it fits the instruction cache.
template <int Channels, int Layers>
__device__ __forceinline__ bool stage_half_weights(const tile_problem<float>& problem, const half_points& points,
                                                   const tile_unit_patch& patch,
                                                   half_spread_memory<Channels, Layers>& memory) {
  constexpr int pitch = decltype(memory.weights)::pitch;
  float2* to = &memory.weights.row[0][patch.lane];
  bool serves = true;
#pragma unroll 1
  for (int axis = 0; axis < 3; ++axis, to += 8 * pitch) {
    std::uint32_t word[2];
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const auto& place = points.of[p].place;
      word[p] = axis == 0 ? place[0] : axis == 1 ? place[1] : place[2];
    }
    float w[2][8];
    weights_along<2>(problem.window, axis < problem.grid.shape.first_axis, word, w);
    const int begin = axis == 0 ? patch.first : axis == 1 ? patch.second : patch.last;
    int offset[2];
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      offset[p] = offset_of<float>(word[p]);
      serves = serves && half_weights_serve(problem.grid.shape, axis, begin + offset[p], w[p]);
      // Offsets along the first axis count from its first mesh point.
      if (axis == 0) offset[p] += begin;
      // No weights are shifted out.
      rotate_tile_weights(offset[p], w[p]);
    }
    if (Layers == 1 || axis < 2) {
#pragma unroll
      for (int j = 0; j < 8; ++j) to[j * pitch] = make_float2(w[0][j], w[1][j]);
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
        to[j * pitch] = make_float2(lower[0], lower[1]);
        to[(8 + j) * pitch] = make_float2(upper[0], upper[1]);
      }
    }
  }
  return serves;
}

/// The values of two points per lane, whose weights halves serve or not. Returns whether halves serve the whole batch;
/// its products must then be multiplied by `up`. If not, values are not scaled.
template <int Channels, int Layers>
__device__ __forceinline__ bool stage_half_values(const half_values<Channels>& value, half_unit unit, bool serves,
                                                  int lane, half_spread_memory<Channels, Layers>& memory,
                                                  float (&up)[Channels]) {
  float down[Channels];
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    const std::uint32_t own[2] = {half_scale::modulus(value[0][c]), half_scale::modulus(value[1][c])};
    const std::uint32_t most = warp_max(max(own[0], own[1]));
    const half_scale scale(most, unit, -1);
    serves = serves && scale.serves && scale.fits(own[0]) && scale.fits(own[1]);
    down[c] = scale.down;
    up[c] = scale.up;
  }
  serves = __all_sync(~0u, serves);
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    if (!serves) down[c] = 1.0f;
    memory.values.row[c][lane] = make_float2(value[0][c] * down[c], value[1][c] * down[c]);
  }
  return serves;
}

/// Adds the points [begin, end) of a batch, all of one tile, times `up`.
template <int Channels, int Layers, typename Target>
__device__ __forceinline__ void add_half_points(const half_spread_memory<Channels, Layers>& memory,
                                                const float (&up)[Channels], int begin, int end, int lane,
                                                float (&sums)[tile_patch / 2][Channels * Layers][4]) {
  const int g = lane / 4, t = lane % 4;
  const int position = Target::position(g);
  for (int k = begin & ~1; k < end; k += half_group) {
    const int pairs[2] = {k / 2 + t, k / 2 + t + 4};
    half_parts right[Channels * Layers][2];
    float2 second[2];
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      second[p] = memory.weights.row[8 + g][pairs[p]];
      // Exclude points of other tiles.
      const bool here[2] = {2 * pairs[p] >= begin && 2 * pairs[p] < end, 2 * pairs[p] + 1 < end};
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        float2 value = memory.values.row[c][pairs[p]];
        value = make_float2(here[0] ? value.x : 0.0f, here[1] ? value.y : 0.0f);
#pragma unroll
        for (int layer = 0; layer < Layers; ++layer) {
          const float2 weight = memory.weights.row[16 + 8 * layer + position][pairs[p]];
          right[c * Layers + layer][p] = multiply_to_halves(weight, value);
        }
      }
    }
#pragma unroll
    for (int pair = 0; pair < tile_patch / 2; ++pair) {
      half_parts left[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        left[i] = multiply_to_halves(memory.weights.row[2 * pair + i % 2][pairs[i / 2]], second[i / 2]);
      }
#pragma unroll
      for (int r = 0; r < Channels * Layers; ++r) {
        // Tensor cores truncate a sum's last digits instead of rounding, which accumulates: each product is summed
        // separately.
        float fresh[4] = {};
        multiply_half_parts(fresh, left, right[r]);
#pragma unroll
        for (int c = 0; c < 4; ++c) sums[pair][r][c] = fmaf(fresh[c], up[r / Layers], sums[pair][r][c]);
      }
    }
  }
}

/// The same without halves, for values that are not scaled.
template <int Channels, int Layers, typename Target>
__device__ __forceinline__ void add_half_points_singly(const half_spread_memory<Channels, Layers>& memory,
                                                       const float (&unit)[3], int begin, int end, int lane,
                                                       float (&sums)[tile_patch / 2][Channels * Layers][4]) {
  const int g = lane / 4, t = lane % 4;
#pragma unroll 1
  for (int point = begin; point < end; ++point) {
    const float second = unit[0] * unit[1] * memory.weights.of_point(8 + g, point);
    float right[Channels * Layers][2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int layer = 0; layer < Layers; ++layer) {
        const float weight = unit[2] * memory.weights.of_point(16 + 8 * layer + Target::position(2 * t + half), point);
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          right[c * Layers + layer][half] = weight * memory.values.of_point(c, point);
        }
      }
    }
#pragma unroll
    for (int plane = 0; plane < tile_patch; ++plane) {
      const float left = second * memory.weights.of_point(plane, point);
#pragma unroll
      for (int r = 0; r < Channels * Layers; ++r) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float& sum = sums[plane / 2][r][2 * (plane % 2) + half];
          sum = fmaf(left, right[r][half], sum);
        }
      }
    }
  }
}

/// Like tile_patch_sums::advance, but through shared memory, where each lane has its own sums. The code that passes a
/// plane to the target then occurs once instead of once per plane.
template <int Channels, int Layers, typename Target>
__device__ __forceinline__ void advance_half_patch(half_spread_memory<Channels, Layers>& memory, Target& target,
                                                   int plane, int count, int lane,
                                                   float (&sums)[tile_patch / 2][Channels * Layers][4]) {
  constexpr int groups = Channels * Layers;
  target.skip_to(plane);
  const auto first = target.plane(plane);
#pragma unroll 1
  for (int done = 0; done < count; done += half_planes) {
    const int here = min(half_planes, count - done);
#pragma unroll
    for (int p = 0; p < tile_patch; ++p) {
      const int after = ((p - plane) & (tile_patch - 1)) - done;
      if (after < 0 || after >= here) continue;
#pragma unroll
      for (int r = 0; r < groups; ++r) {
        float* const own = &sums[p / 2][r][2 * (p % 2)];
        memory.passed[after][r][lane] = make_float2(own[0], own[1]);
        own[0] = own[1] = 0;
      }
    }
#pragma unroll 1
    for (int i = 0; i < here; ++i) {
      const auto place = target.after(first, done + i);
#pragma unroll
      for (int layer = 0; layer < Layers; ++layer) {
        float value[2][Channels];
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          const float2 both = memory.passed[i][c * Layers + layer][lane];
          value[0][c] = both.x, value[1][c] = both.y;
        }
        target.put(place, layer, value);
      }
    }
  }
  target.skip_written(count);
}

inline constexpr int half_warps = 4;

/// Like spread_tiles_kernel. The problem's window is scaled by `unit`.
template <int Channels, int Layers, template <typename, int, int> typename Target,
          int Resident = (Channels * Layers == 4   ? 3
                          : Channels * Layers == 2 ? 4
                                                   : 5)>
__global__ void __launch_bounds__(32 * half_warps, Resident)
    spread_halves_kernel(const __grid_constant__ tile_problem<float> problem,
                         const __grid_constant__ tile_channels<float> channels, float* __restrict__ shares,
                         half_unit unit) {
  extern __shared__ uint4 half_memory[];
  const int lane = threadIdx.x % 32;
  auto& memory = reinterpret_cast<half_spread_memory<Channels, Layers>*>(half_memory)[threadIdx.x / 32];
  const std::uint32_t number = blockIdx.x * half_warps + threadIdx.x / 32;
  if (number >= *problem.unit_count) return;
  const tile_unit own = problem.units[number];
  const tile_grid& grid = problem.grid;

  const tile_unit_patch patch = patch_of_unit(grid, own, number, lane);
  const int start = patch.first;
  Target<float, Channels, Layers> target(grid, channels, shares, patch);
  float sums[tile_patch / 2][Channels * Layers][4] = {};

  int current = -1;  // tile of the patch
  bool serves = true;
  float up[Channels];
  memory.weights.clear_tail(lane);
  memory.values.clear_tail(lane);
  half_points points;
  points.load(problem.records, own.first, own.last - 1, lane);
  half_values<Channels> value;
#pragma unroll
  for (int p = 0; p < 2; ++p) load_tile_values<float, Channels>(channels, points.of[p].id, value[p]);
  // The last iteration only passes on the rest of the patch, so that this code occurs once.
  for (std::uint32_t batch = own.first;; batch += half_batch) {
    const bool over = batch >= own.last;
    const int count = over ? 1 : static_cast<int>(min(static_cast<std::uint32_t>(half_batch), own.last - batch));
    const int tile[2] = {grid.tile_in_segment(offset_of<float>(points.of[0].place[0])),
                         grid.tile_in_segment(offset_of<float>(points.of[1].place[0]))};
    const int before = __shfl_up_sync(~0u, tile[1], 1);
    // Runs of one tile's points begin at these even and odd points; the first run begins at 0.
    unsigned even = __ballot_sync(~0u, lane > 0 && tile[0] != before), odd = __ballot_sync(~0u, tile[1] != tile[0]);
    if (!over) {
      serves = stage_half_weights(problem, points, patch, memory);
      serves = stage_half_values<Channels, Layers>(value, unit, serves, lane, memory, up);
      points.load(problem.records, batch + half_batch, own.last - 1, lane);
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
          advance_half_patch(memory, target, start + current * grid.edge[0], planes, lane, sums);
        }
        current = here;
      }
      if (over) break;
      if (serves) {
        add_half_points<Channels, Layers, Target<float, Channels, Layers>>(memory, up, begin, end, lane, sums);
      } else {
        const float units[3] = {unit.along(0, grid.shape), unit.along(1, grid.shape), unit.along(2, grid.shape)};
        add_half_points_singly<Channels, Layers, Target<float, Channels, Layers>>(memory, units, begin, end, lane,
                                                                                  sums);
      }
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
                          const tile_channels<float>& channels, float* shares) {
  const cuda_launch launch(context, "mesh.tiles.spread");
  tile_problem<float> scaled = problem;
  const half_unit unit = scale_half_window(scaled.window, problem.grid.shape);
  auto* const kernel = spread_halves_kernel<Channels, Layers, Target>;
  constexpr int bytes = half_warps * sizeof(half_spread_memory<Channels, Layers>);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "asking for shared memory");
  kernel<<<cuda_launch::blocks(problem.most_units, half_warps), 32 * half_warps, bytes, context.stream()>>>(
      scaled, channels, shares, unit);
  launch.check();
}

/// Whether products of 16 points in halves are faster than those of 8 in the tf32 format: with four groups of columns,
/// which use each factor four times. Sums in a fixed order must serve values of any size.
template <int Channels, int Layers, template <typename, int, int> typename Target>
inline constexpr bool spreads_halves =
    Channels * Layers == 4 ||
    !std::is_same_v<Target<float, Channels, Layers>, tile_mesh_target<float, Channels, Layers>>;

template <typename T, int Channels, int Layers, template <typename, int, int> typename Target>
void launch_spread_layers(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                          T* shares) {
  if constexpr (sizeof(T) == sizeof(float) && spreads_halves<Channels, Layers, Target>) {
    launch_spread_halves<Channels, Layers, Target>(context, problem, channels, shares);
  } else {
    launch_spread_tiles<T, Channels, Layers, Target>(context, problem, channels, shares);
  }
}

/// `shares`: for targets that use them.
template <typename T, int Channels, template <typename, int, int> typename Target>
void launch_spread_units(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                         T* shares) {
  (problem.grid.layers == 1 ? launch_spread_layers<T, Channels, 1, Target>
                            : launch_spread_layers<T, Channels, 2, Target>)(context, problem, channels, shares);
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
