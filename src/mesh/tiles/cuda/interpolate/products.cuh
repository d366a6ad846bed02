// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/interpolate/halves.cuh"
#include "mesh/tiles/cuda/interpolate/sums.cuh"
#include "mesh/tiles/cuda/mma.cuh"
#include "mesh/tiles/cuda/problem.hpp"
#include "mesh/tiles/cuda/weights.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation by tiles, the adjoint of spread/products.cuh: the patch of a tile is held in registers, and 8 points
/// at a time are one matrix product (mesh rows x last axis) times (last axis x points), whose columns are then summed
/// with the weights of the other two axes.
namespace quadrat::detail {

template <typename T, int Channels, int Layers, bool Gradient>
struct tile_interpolate_memory {
  tile_axis_weights<T> first, second, last[Layers];
  // The weights of derivatives.
  tile_axis_weights<T> first_slope, second_slope, last_slope[Layers];
  T results[Channels][4][tile_batch];  ///< derivatives, value
};

template <typename T, int Channels, int Layers>
struct tile_interpolate_memory<T, Channels, Layers, false> {
  tile_axis_weights<T> first, second, last[Layers];
  T results[Channels][1][tile_batch];
};

/// A lane's mesh values of a patch: eight planes, row g along the second axis. Plane i of the mesh is stored at i % 8,
/// and stays there while the patch moves. With one layer the values are kept split, as products need them; with two,
/// where tiles hold few points and registers are scarce, they are split each time.
template <typename T, int Channels, int Layers>
class tile_mesh_patch {
 public:
  using mma = tile_mma<T>;
  using kept_type = std::conditional_t<Layers == 1, typename mma::part, T>;

  /// Loads the planes [plane, plane + count).
  __device__ __forceinline__ void load(const mesh_shape& shape, const int (&offset)[Layers][2], int plane, int count,
                                       const tile_channels<T>& channels) {
#pragma unroll
    for (int p = 0; p < tile_patch; ++p) {
      const int after = (p - plane) & (tile_patch - 1);
      if (after < count) load_plane(shape, offset, plane + after, p, channels);
    }
  }

  __device__ void clear() {
#pragma unroll
    for (int p = 0; p < tile_patch; ++p) {
#pragma unroll
      for (int layer = 0; layer < Layers; ++layer) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
          for (int c = 0; c < Channels; ++c) kept_[c][layer][p / 2][2 * half + p % 2] = keep(T(0));
        }
      }
    }
  }

  /// The product with the weights of 8 points along the last axis.
  __device__ void multiply(int channel, const typename mma::part (&right)[Layers][2],
                           T (&product)[tile_patch / 2][4]) const {
#pragma unroll
    for (int layer = 0; layer < Layers; ++layer) {
#pragma unroll
      for (int pair = 0; pair < tile_patch / 2; ++pair) {
        typename mma::part left[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) left[k] = part_of(kept_[channel][layer][pair][k]);
        (layer == 0 ? mma::multiply : mma::add)(product[pair], left, right[layer]);
      }
    }
  }

 private:
  __device__ static kept_type keep(T value) {
    if constexpr (Layers == 1) {
      return mma::whole_part(value);
    } else {
      return value;
    }
  }
  __device__ static typename mma::part part_of(const kept_type& kept) {
    if constexpr (Layers == 1) {
      return kept;
    } else {
      return mma::whole_part(kept);
    }
  }

  __device__ __forceinline__ void load_plane(const mesh_shape& shape, const int (&offset)[Layers][2], int plane, int p,
                                             const tile_channels<T>& channels) {
    const int i = tile_home(shape, plane, 0);
    const std::size_t base = static_cast<std::size_t>(max(i, 0)) * static_cast<std::size_t>(shape.extent[1]) *
                             static_cast<std::size_t>(shape.extent[2]);
#pragma unroll
    for (int layer = 0; layer < Layers; ++layer) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        T value[Channels] = {};
        const int at = offset[layer][half];
        if (i >= 0 && at >= 0) load_tile_node<T, Channels>(channels, base + static_cast<std::size_t>(at), value);
#pragma unroll
        for (int c = 0; c < Channels; ++c) kept_[c][layer][p / 2][2 * half + p % 2] = keep(value[c]);
      }
    }
  }

  kept_type kept_[Channels][Layers][tile_patch / 2][4];
};

/// Sums four results of two points over the lanes of a row: lane 4 g + t gets result g / 2 of point 2t + g % 2.
template <typename T>
__device__ __forceinline__ T sum_tile_results(T (&own)[4][2], int lane) {
  T sums[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) sums[i] = own[i / 2][i % 2];
#pragma unroll
  for (int half = 4; half > 0; half /= 2) {
    const bool upper = (lane & (4 * half)) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const T sent = upper ? sums[i] : sums[i + half];
      sums[i] = (upper ? sums[i + half] : sums[i]) + __shfl_xor_sync(~0u, sent, 4 * half);
    }
  }
  return sums[0];
}

/// Sums a product's columns over planes with the weights of the first axis.
template <typename T>
__device__ __forceinline__ void sum_tile_planes(const T (&product)[tile_patch / 2][4], const T (&first)[2][8],
                                                T (&sums)[2]) {
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    sums[p] = T(0);
#pragma unroll
    for (int plane = 0; plane < tile_patch; ++plane) {
      sums[p] += first[p][plane] * product[plane / 2][2 * (plane % 2) + p];
    }
  }
}

/// The weights of the points from k on along the last axis, as the right matrices of products.
template <typename T, int Layers>
__device__ __forceinline__ void load_tile_columns(const tile_axis_weights<T> (&last)[Layers], int k, int lane,
                                                  typename tile_mma<T>::part (&right)[Layers][2]) {
#pragma unroll
  for (int layer = 0; layer < Layers; ++layer) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      right[layer][half] = tile_mma<T>::right_part(last[layer].at(k + lane / 4, lane % 4 + 4 * half));
    }
  }
}

/// Interpolates points [begin, end) of a batch, all in the patch's tile.
template <typename T, int Channels, int Layers, bool Gradient>
__device__ __forceinline__ void interpolate_tile_points(tile_interpolate_memory<T, Channels, Layers, Gradient>& memory,
                                                        const tile_mesh_patch<T, Channels, Layers>& patch, int begin,
                                                        int end, int lane) {
  const int g = lane / 4, t = lane % 4;
  for (int k = begin; k < end; k += 8) {
    T first[2][8];
    load_tile_weights(memory.first, k + 2 * t, first[0]);
    load_tile_weights(memory.first, k + 2 * t + 1, first[1]);
    const T second[2] = {memory.second.at(k + 2 * t, g), memory.second.at(k + 2 * t + 1, g)};
    const int point = k + 2 * t + g % 2;
    typename tile_mma<T>::part right[Layers][2];
    load_tile_columns(memory.last, k, lane, right);
#pragma unroll
    for (int channel = 0; channel < Channels; ++channel) {
      T product[tile_patch / 2][4], sums[2];
      patch.multiply(channel, right, product);
      sum_tile_planes(product, first, sums);
      if constexpr (!Gradient) {
        const T weighted[2] = {sums[0] * second[0], sums[1] * second[1]};
        const T sum = sum_tile_rows(weighted, lane);
        if (g < 2 && point < end) memory.results[channel][0][point] = sum;
      } else {
        T own[4][2], first_slope[2][8], slopes[2], along[2];
        load_tile_weights(memory.first_slope, k + 2 * t, first_slope[0]);
        load_tile_weights(memory.first_slope, k + 2 * t + 1, first_slope[1]);
        sum_tile_planes(product, first_slope, slopes);
        typename tile_mma<T>::part right_slope[Layers][2];
        load_tile_columns(memory.last_slope, k, lane, right_slope);
        patch.multiply(channel, right_slope, product);
        sum_tile_planes(product, first, along);
#pragma unroll
        for (int p = 0; p < 2; ++p) {
          own[0][p] = slopes[p] * second[p];
          own[1][p] = sums[p] * memory.second_slope.at(k + 2 * t + p, g);
          own[2][p] = along[p] * second[p];
          own[3][p] = sums[p] * second[p];
        }
        const T sum = sum_tile_results(own, lane);
        if (point < end) memory.results[channel][g / 2][point] = sum;
      }
    }
  }
}

/// Aligns the weights (or derivatives) of one point per lane with the mesh points of the patch.
template <typename T, int Layers>
__device__ __forceinline__ void put_tile_weights(const tile_grid& grid, const tile_record<T>& record, int start,
                                                 int lane, T (&w)[3][8], tile_axis_weights<T>& first,
                                                 tile_axis_weights<T>& second, tile_axis_weights<T> (&last)[Layers]) {
  rotate_tile_weights(start + offset_of<T>(record.place[0]), w[0]);
  store_tile_weights(first, lane, w[0]);
  shift_tile_weights(offset_of<T>(record.place[1]), grid.edge[1], w[1]);
  store_tile_weights(second, lane, w[1]);
  T wide[8 * Layers];
#pragma unroll
  for (int j = 0; j < 8 * Layers; ++j) wide[j] = j < 8 ? w[2][j] : T(0);
  shift_tile_weights(offset_of<T>(record.place[2]), grid.edge[2], wide);
#pragma unroll
  for (int layer = 0; layer < Layers; ++layer) store_tile_weights(last[layer], lane, wide + 8 * layer);
}

/// The weights of one point per lane.
template <typename T, int Channels, int Layers, bool Gradient>
__device__ __forceinline__ void stage_tile_weights(const tile_problem<T>& problem, const tile_record<T>& record,
                                                   int start, int lane,
                                                   tile_interpolate_memory<T, Channels, Layers, Gradient>& memory) {
  T w[3][8], slopes[3][8];
  tile_weights<T, Gradient>(problem.window, problem.grid.shape, record, w, slopes);
  put_tile_weights(problem.grid, record, start, lane, w, memory.first, memory.second, memory.last);
  if constexpr (Gradient) {
    put_tile_weights(problem.grid, record, start, lane, slopes, memory.first_slope, memory.second_slope,
                     memory.last_slope);
  }
}

/// Writes the derivatives of a batch in three dimensions, `Together` channels at a time. Neighboring lanes write
/// neighboring numbers, which touches fewer memory sectors.
template <int Together, typename T, typename Memory>
__device__ __forceinline__ void store_tile_slopes(const tile_results<T>& results, const Memory& memory, int channel,
                                                  particle_id id, int count, int lane) {
#pragma unroll
  for (int p = 0; p < 3 * Together; ++p) {
    const int number = tile_batch * p + lane, point = number / (3 * Together), part = number % (3 * Together);
    const int axis = part / Together, c = channel + part % Together;
    const particle_id at = __shfl_sync(~0u, id, point);
    if (point >= count) continue;
    T& to = results.gradients[channel][static_cast<std::size_t>(at) * (3 * Together) + static_cast<unsigned>(part)];
    const T slope = results.scale[axis] * memory.results[c][axis][point];
    to = results.accumulate ? to + slope : slope;
  }
}

/// Writes the results of a batch, one point per lane: values, or derivatives along the axes of the mesh and, if wanted,
/// values.
template <typename T, int Channels, int Layers, bool Gradient>
__device__ __forceinline__ void store_tile_results(const tile_results<T>& results,
                                                   const tile_interpolate_memory<T, Channels, Layers, Gradient>& memory,
                                                   particle_id id, int count, int lane) {
  const bool rows = Gradient && results.first_axis == 0;
#pragma unroll
  for (int channel = 0; channel < Channels; ++channel) {
    if (lane < count && (!Gradient || results.values[0] != nullptr)) {
      results.put_value(channel, id, memory.results[channel][Gradient ? 3 : 0][lane]);
    }
    if constexpr (Gradient) {
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        if (rows || lane >= count || axis < results.first_axis) continue;
        results.put_slope(channel, axis, id, memory.results[channel][axis][lane]);
      }
      if (rows && results.stride == 1) store_tile_slopes<1>(results, memory, channel, id, count, lane);
    }
  }
  if constexpr (Gradient && Channels == 2) {
    if (rows && results.stride == 2) store_tile_slopes<2>(results, memory, 0, id, count, lane);
  }
}

/// Blocks per multiprocessor, which bounds registers. Derivatives of floats suffer more from too few warps.
template <typename T, int Layers, bool Gradient>
inline constexpr int tile_interpolate_blocks = Gradient && Layers == 1 && sizeof(T) == 4 ? 4 : 0;

template <typename T, int Channels, int Layers, bool Gradient>
__global__ void __launch_bounds__(32 * tile_warps<T>, tile_interpolate_blocks<T, Layers, Gradient>)
    interpolate_tiles_kernel(const __grid_constant__ tile_problem<T> problem,
                             const __grid_constant__ tile_channels<T> channels,
                             const __grid_constant__ tile_results<T> results) {
  __shared__ tile_interpolate_memory<T, Channels, Layers, Gradient> memories[tile_warps<T>];
  const int lane = threadIdx.x % 32;
  auto& memory = memories[threadIdx.x / 32];
  const std::uint32_t number = blockIdx.x * tile_warps<T> + threadIdx.x / 32;
  if (number >= *problem.unit_count) return;
  const tile_unit unit = problem.units[number];
  const tile_grid& grid = problem.grid;

  const int row = static_cast<int>(unit.segment / static_cast<unsigned>(grid.segments));
  const int segment = static_cast<int>(unit.segment % static_cast<unsigned>(grid.segments));
  const int start = grid.origin[0] + segment * grid.segment * grid.edge[0];
  int offset[Layers][2];
  tile_row_offsets<Layers>(grid, grid.origin[1] + row / grid.tiles[2] * grid.edge[1],
                           grid.origin[2] + row % grid.tiles[2] * grid.edge[2], lane, offset);

  int loaded = start - tile_patch;  // all planes of the mesh before this one have been loaded
  tile_mesh_patch<T, Channels, Layers> patch;
  patch.clear();
  tile_record<T> record = problem.records[min(unit.first + lane, unit.last - 1)];
  for (std::uint32_t batch = unit.first; batch < unit.last; batch += tile_batch) {
    const tile_record<T> next = problem.records[min(batch + tile_batch + lane, unit.last - 1)];
    const int tile = grid.tile_in_segment(offset_of<T>(record.place[0]));
    const int count = static_cast<int>(min(static_cast<std::uint32_t>(tile_batch), unit.last - batch));
    const int before = __shfl_up_sync(~0u, tile, 1);
    unsigned begins = __ballot_sync(~0u, lane < count && (lane == 0 || tile != before));
    stage_tile_weights(problem, record, start, lane, memory);
    __syncwarp();
    while (begins != 0) {
      const int begin = __ffs(static_cast<int>(begins)) - 1;
      begins &= begins - 1;
      const int end = begins == 0 ? count : __ffs(static_cast<int>(begins)) - 1;
      const int plane = start + __shfl_sync(~0u, tile, begin) * grid.edge[0];
      const int until = plane + grid.reach(0);
      if (until > loaded) {
        const int from = max(plane, loaded);
        patch.load(grid.shape, offset, from, until - from, channels);
        loaded = until;
      }
      interpolate_tile_points<T, Channels, Layers, Gradient>(memory, patch, begin, end, lane);
    }
    __syncwarp();
    store_tile_results<T, Channels, Layers, Gradient>(results, memory, record.id, count, lane);
    __syncwarp();
    record = next;
  }
}

template <typename T, int Channels, int Layers>
void launch_interpolate_tiles(const cuda_context& context, const tile_problem<T>& problem,
                              const tile_channels<T>& channels, const tile_results<T>& results) {
  const cuda_launch launch(context, "mesh.tiles.interpolate");
  const unsigned blocks = cuda_launch::blocks(problem.most_units, tile_warps<T>);
  if (results.gradient) {
    interpolate_tiles_kernel<T, Channels, Layers, true>
        <<<blocks, 32 * tile_warps<T>, 0, context.stream()>>>(problem, channels, results);
  } else if constexpr (sizeof(T) == sizeof(double)) {
    interpolate_tiles_kernel<T, Channels, Layers, false>
        <<<blocks, 32 * tile_warps<T>, 0, context.stream()>>>(problem, channels, results);
  }
  launch.check();
}

template <typename T>
void launch_interpolate_tiles(const cuda_context& context, const tile_problem<T>& problem,
                              const tile_channels<T>& channels, const tile_results<T>& results) {
  if (problem.most_units == 0) return;
  if (problem.grid.layers == 1) {
    if (channels.count == 1) {
      launch_interpolate_tiles<T, 1, 1>(context, problem, channels, results);
    } else {
      launch_interpolate_tiles<T, 2, 1>(context, problem, channels, results);
    }
  } else if (channels.count == 1) {
    launch_interpolate_tiles<T, 1, 2>(context, problem, channels, results);
  } else {
    launch_interpolate_tiles<T, 2, 2>(context, problem, channels, results);
  }
}

template <typename T>
void interpolate_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                       const tile_results<T>& results) {
  if constexpr (sizeof(T) == sizeof(float)) {
    if (problem.most_units == 0) return;
    if (!results.gradient) {
      return (channels.count == 1 ? interpolate_by_halves<1> : interpolate_by_halves<2>)(context, problem, channels,
                                                                                         results);
    }
  }
  launch_interpolate_tiles(context, problem, channels, results);
}

}  // namespace quadrat::detail
