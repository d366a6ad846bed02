// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/halves.cuh"
#include "mesh/tiles/cuda/interpolate/sums.cuh"
#include "mesh/tiles/cuda/spread/targets.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation of floats by tiles as in products.cuh, with factors in halves: (mesh rows x last axis) times (last
/// axis x points). Patches have 16 mesh points along the last axis, since a product adds up so many.
namespace quadrat::detail {

inline constexpr int half_read_batch = 32;

template <int Channels>
struct half_read_memory {
  float4 first[2][half_read_batch];  ///< planes 0 to 3, 4 to 7
  float second[8][half_read_batch + 8];
  uint4 last[half_read_batch]
            [4 + 1];  ///< a right factor: mesh points 2t and 2t + 8 and those after them, high, then low
  float results[Channels][half_read_batch];
};

/// A lane's mesh values of a patch: eight planes, row g along the second axis, mesh points 2t, 2t + 1, 2t + 8 and 2t +
/// 9 along the last, scaled plane by plane. Plane i of the mesh is stored at i % 8. In the order of a product's left
/// factor: of two planes, for the first two mesh points and for the others.
template <int Channels>
class half_mesh_patch {
 public:
  __device__ half_mesh_patch() {
#pragma unroll
    for (int p = 0; p < tile_patch; ++p) scale_[p] = 0;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
#pragma unroll
      for (int pair = 0; pair < tile_patch / 2; ++pair) {
#pragma unroll
        for (int k = 0; k < 4; ++k) high_[c][pair][k] = low_[c][pair][k] = 0;
      }
    }
  }

  /// Loads plane i of the mesh.
  __device__ __forceinline__ void load(const mesh_shape& shape, const int (&offset)[4], int plane,
                                       const tile_channels<float>& channels) {
    const int i = tile_home(shape, plane, 0);
    const std::size_t base = static_cast<std::size_t>(max(i, 0)) * static_cast<std::size_t>(shape.extent[1]) *
                             static_cast<std::size_t>(shape.extent[2]);
    float value[4][Channels];
    std::uint32_t most = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) value[k][c] = 0;
      if (i >= 0 && offset[k] >= 0) {
        load_tile_node<float, Channels>(channels, base + static_cast<std::size_t>(offset[k]), value[k]);
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) most = max(most, half_scale::modulus(value[k][c]));
    }
    const half_scale of(__reduce_max_sync(~0u, most));
    half_parts part[Channels][2];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        part[c][half] = split_halves(value[2 * half][c] * of.down, value[2 * half + 1][c] * of.down);
      }
    }
    keep_plane<0>(plane & (tile_patch - 1), of.up, part);
  }

  [[nodiscard]] __device__ float scale(int plane) const { return scale_[plane]; }
  /// Of two planes.
  __device__ __forceinline__ void multiply(int channel, int pair, const uint4& right, float (&product)[4]) const {
    const auto &high = high_[channel][pair], &low = low_[channel][pair];
    add_half_product(product, low[0], low[1], low[2], low[3], right.x, right.y);
    add_half_product(product, high[0], high[1], high[2], high[3], right.z, right.w);
    add_half_product(product, high[0], high[1], high[2], high[3], right.x, right.y);
  }

 private:
  template <int P>
  __device__ __forceinline__ void keep_plane(int p, float scale, const half_parts (&part)[Channels][2]) {
    if (P != p) {
      if constexpr (P + 1 < tile_patch) keep_plane<P + 1>(p, scale, part);
      return;
    }
    asm volatile("mov.f32 %0, %1;  // %2" : "=f"(scale_[P]) : "f"(scale), "n"(P));
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        keep<P>(high_[c][P / 2][2 * half + P % 2], part[c][half].high);
        keep<P>(low_[c][P / 2][2 * half + P % 2], part[c][half].low);
      }
    }
  }
  /// Compilers would merge the branches for different planes, and put the patch into memory, if what they do did not
  /// depend on P.
  template <int P>
  __device__ __forceinline__ static void keep(std::uint32_t& to, std::uint32_t value) {
    asm volatile("mov.b32 %0, %1;  // %2" : "=r"(to) : "r"(value), "n"(P));
  }

  std::uint32_t high_[Channels][tile_patch / 2][4], low_[Channels][tile_patch / 2][4];
  float scale_[tile_patch];
};

/// Interpolates points [begin, end) of a batch, all in the patch's tile.
template <int Channels>
__device__ __forceinline__ void interpolate_half_points(half_read_memory<Channels>& memory,
                                                        const half_mesh_patch<Channels>& patch, int begin, int end,
                                                        int lane) {
  const int g = lane / 4, t = lane % 4;
  for (int k = begin & ~7; k < end; k += 8) {
    const uint4 right = memory.last[k + g][t];
    float sums[Channels][2] = {};
#pragma unroll
    for (int four = 0; four < 2; ++four) {
      float first[2][4];
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        const float4 w = memory.first[four][k + 2 * t + p];
        const float all[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) first[p][i] = all[i] * patch.scale(4 * four + i);
      }
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          float product[4] = {};
          patch.multiply(c, 2 * four + pair, right, product);
#pragma unroll
          for (int p = 0; p < 2; ++p) {
            sums[c][p] += first[p][2 * pair] * product[p];
            sums[c][p] += first[p][2 * pair + 1] * product[2 + p];
          }
        }
      }
    }
    const float second[2] = {memory.second[g][k + 2 * t], memory.second[g][k + 2 * t + 1]};
    const int point = k + 2 * t + g % 2;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const float weighted[2] = {sums[c][0] * second[0], sums[c][1] * second[1]};
      const float sum = sum_tile_rows(weighted, lane);
      if (g < 2 && point >= begin && point < end) memory.results[c][point] = sum;
    }
  }
}

/// The weights of one point per lane.
template <int Channels>
__device__ __forceinline__ void stage_half_weights(const tile_problem<float>& problem, const tile_record<float>& record,
                                                   int start, int lane, half_read_memory<Channels>& memory) {
  const tile_grid& grid = problem.grid;
  float w[3][8];
  weights_of_record(problem.window, grid.shape, record, w);
  rotate_tile_weights(start + offset_of<float>(record.place[0]), w[0]);
  memory.first[0][lane] = make_float4(w[0][0], w[0][1], w[0][2], w[0][3]);
  memory.first[1][lane] = make_float4(w[0][4], w[0][5], w[0][6], w[0][7]);
  shift_tile_weights(offset_of<float>(record.place[1]), grid.edge[1], w[1]);
#pragma unroll
  for (int j = 0; j < 8; ++j) memory.second[j][lane] = w[1][j];
  float wide[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) wide[j] = j < 8 ? w[2][j] : 0;
  shift_tile_weights(offset_of<float>(record.place[2]), grid.edge[2], wide);
#pragma unroll
  for (int t = 0; t < 4; ++t) {
    const half_parts lower = split_halves(wide[2 * t], wide[2 * t + 1]),
                     upper = split_halves(wide[2 * t + 8], wide[2 * t + 9]);
    memory.last[lane][t] = make_uint4(lower.high, upper.high, lower.low, upper.low);
  }
}

template <int Channels>
__device__ __forceinline__ void put_half_results(const tile_results<float>& results,
                                                 const half_read_memory<Channels>& memory, particle_id id, float scale,
                                                 int lane) {
  if constexpr (Channels == 2) {
    if (results.pairs) return results.put_pair(id, scale * memory.results[0][lane], scale * memory.results[1][lane]);
  }
#pragma unroll
  for (int c = 0; c < Channels; ++c) results.put_value(c, id, scale * memory.results[c][lane]);
}

inline constexpr int half_read_warps = 4;

/// As interpolate_tiles_kernel, values only. The window is at most about 1; results are multiplied by `unit_scale`.
template <int Channels, int Resident = 4>
__global__ void __launch_bounds__(32 * half_read_warps, Resident)
    interpolate_halves_kernel(const __grid_constant__ tile_problem<float> problem,
                              const __grid_constant__ tile_channels<float> channels,
                              const __grid_constant__ tile_results<float> results, float unit_scale) {
  __shared__ half_read_memory<Channels> memories[half_read_warps];
  const int lane = threadIdx.x % 32;
  auto& memory = memories[threadIdx.x / 32];
  const std::uint32_t number = blockIdx.x * half_read_warps + threadIdx.x / 32;
  if (number >= *problem.unit_count) return;
  const tile_unit unit = problem.units[number];
  const tile_grid& grid = problem.grid;

  const tile_unit_patch at = patch_of_unit(grid, unit, number, lane);
  const int start = at.first;
  const int home = lane / 4 < grid.reach(1) ? tile_home(grid.shape, at.second + lane / 4, 1) : -1;
  int offset[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int position = 2 * (lane % 4) + k % 2 + 8 * (k / 2);
    const int z = position < grid.reach(2) ? tile_home(grid.shape, at.last + position, 2) : -1;
    offset[k] = home < 0 || z < 0 ? -1 : home * grid.shape.extent[2] + z;
  }

  int loaded = start - tile_patch;  // all planes of the mesh before this one have been loaded
  half_mesh_patch<Channels> patch;
  tile_record<float> record = problem.records[min(unit.first + lane, unit.last - 1)];
  for (std::uint32_t batch = unit.first; batch < unit.last; batch += half_read_batch) {
    const tile_record<float> next = problem.records[min(batch + half_read_batch + lane, unit.last - 1)];
    const int tile = grid.tile_in_segment(offset_of<float>(record.place[0]));
    const int count = static_cast<int>(min(static_cast<std::uint32_t>(half_read_batch), unit.last - batch));
    const int before = __shfl_up_sync(~0u, tile, 1);
    unsigned begins = __ballot_sync(~0u, lane < count && (lane == 0 || tile != before));
    stage_half_weights(problem, record, start, lane, memory);
    __syncwarp();
    while (begins != 0) {
      const int begin = __ffs(static_cast<int>(begins)) - 1;
      begins &= begins - 1;
      const int end = begins == 0 ? count : __ffs(static_cast<int>(begins)) - 1;
      const int plane = start + __shfl_sync(~0u, tile, begin) * grid.edge[0];
      const int until = plane + grid.reach(0);
      if (until > loaded) {
#pragma unroll 1
        for (int i = max(plane, loaded); i < until; ++i) patch.load(grid.shape, offset, i, channels);
        loaded = until;
      }
      interpolate_half_points(memory, patch, begin, end, lane);
    }
    __syncwarp();
    if (lane < count) put_half_results(results, memory, record.id, unit_scale, lane);
    __syncwarp();
    record = next;
  }
}

template <int Channels>
void launch_interpolate_halves(const cuda_context& context, const tile_problem<float>& problem,
                               const tile_channels<float>& channels, const tile_results<float>& results) {
  const cuda_launch launch(context, "mesh.tiles.interpolate");
  tile_problem<float> scaled = problem;
  const float scale = scale_half_window(scaled.window, problem.grid.shape);
  interpolate_halves_kernel<Channels>
      <<<cuda_launch::blocks(problem.most_units, half_read_warps), 32 * half_read_warps, 0, context.stream()>>>(
          scaled, channels, results, scale);
  launch.check();
}

}  // namespace quadrat::detail
