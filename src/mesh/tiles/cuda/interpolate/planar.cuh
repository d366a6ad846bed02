// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/interpolate/planar_lanes.cuh"
#include "mesh/tiles/cuda/interpolate/sums.cuh"
#include "mesh/tiles/cuda/planar.cuh"
#include "mesh/tiles/cuda/problem.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation from meshes of one or two dimensions, the adjoint of spread/planar.cuh: the patch of a tile is held in
/// registers, and the columns of the matrix product (second axis x last axis) times (last axis x points) are summed
/// with the weights of the second axis.
namespace quadrat::detail {

template <typename T, int Channels, bool Gradient>
struct planar_interpolate_memory {
  planar_axis_weights<T> second, last;
  // The weights of derivatives.
  planar_axis_weights<T> second_slope, last_slope;
  T results[Channels][3][tile_batch];  ///< derivatives along the second and the last axis, value
};

template <typename T, int Channels>
struct planar_interpolate_memory<T, Channels, false> {
  planar_axis_weights<T> second, last;
  T results[Channels][1][tile_batch];
};

/// The weights of the points from k on along the last axis, as the right matrices of products.
template <typename T>
struct planar_columns {
  using mma = tile_mma<T>;

  __device__ planar_columns(const planar_axis_weights<T>& last, int k, int lane) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int i = 0; i < 2; ++i) part[half][i] = mma::right_part(last.layer[half].at(k + lane / 4, lane % 4 + 4 * i));
    }
  }

  typename mma::part part[2][2];
};

/// A lane's mesh values of a patch, split as products need them.
template <typename T, int Channels>
class planar_mesh_patch {
 public:
  using mma = tile_mma<T>;

  __device__ planar_mesh_patch(const tile_grid& grid, const tile_channels<T>& channels, const planar_place& at) {
    const planar_offsets offsets(grid, at);
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
#pragma unroll
      for (int quarter = 0; quarter < 4; ++quarter) {
        T value[Channels] = {};
        if (offsets.inside(upper, quarter)) {
          load_tile_node<T, Channels>(channels, offsets.node(upper, quarter), value);
        }
#pragma unroll
        for (int c = 0; c < Channels; ++c)
          parts_[c][quarter / 2][2 * (quarter % 2) + upper] = mma::whole_part(value[c]);
      }
    }
  }

  /// The product with the weights of 8 points.
  __device__ void multiply(int channel, const planar_columns<T>& right, T (&product)[4]) const {
    mma::multiply(product, parts_[channel][0], right.part[0]);
    mma::add(product, parts_[channel][1], right.part[1]);
  }

 private:
  typename mma::part parts_[Channels][2][4];
};

/// Sums the columns of a product with the weights of two points along the second axis, over the lanes: lane 4 g + t
/// gets point 2t + g % 2.
template <typename T>
__device__ __forceinline__ T sum_planar_columns(const T (&product)[4], const T (&weights)[2][2], int lane) {
  const T sums[2] = {weights[0][0] * product[0] + weights[0][1] * product[2],
                     weights[1][0] * product[1] + weights[1][1] * product[3]};
  return sum_tile_rows(sums, lane);
}

/// The weights at mesh points g and g + 8 of the points k + 2t and k + 2t + 1.
template <typename T>
__device__ __forceinline__ void load_planar_columns(const planar_axis_weights<T>& axis, int k, int lane,
                                                    T (&weights)[2][2]) {
#pragma unroll
  for (int p = 0; p < 2; ++p) {
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
      weights[p][upper] = axis.layer[upper].at(k + 2 * (lane % 4) + p, lane / 4);
    }
  }
}

/// Interpolates the points [k, k + 8) of a batch.
template <typename T, int Channels, bool Gradient>
__device__ __forceinline__ void interpolate_planar_points(planar_interpolate_memory<T, Channels, Gradient>& memory,
                                                          const planar_mesh_patch<T, Channels>& patch, int k,
                                                          int lane) {
  const int g = lane / 4, t = lane % 4;
  const int point = k + 2 * t + g % 2;
  T second[2][2];
  load_planar_columns(memory.second, k, lane, second);
  const planar_columns<T> last(memory.last, k, lane);
#pragma unroll
  for (int channel = 0; channel < Channels; ++channel) {
    T product[4];
    patch.multiply(channel, last, product);
    const T value = sum_planar_columns(product, second, lane);
    if constexpr (!Gradient) {
      if (g < 2) memory.results[channel][0][point] = value;
    } else {
      T slope[2][2], along[4];
      load_planar_columns(memory.second_slope, k, lane, slope);
      const T by_second = sum_planar_columns(product, slope, lane);
      patch.multiply(channel, planar_columns<T>(memory.last_slope, k, lane), along);
      const T by_last = sum_planar_columns(along, second, lane);
      if (g < 2) {
        memory.results[channel][0][point] = by_second;
        memory.results[channel][1][point] = by_last;
        memory.results[channel][2][point] = value;
      }
    }
  }
}

template <typename T>
__device__ __forceinline__ void put_planar_weights(const tile_grid& grid, const tile_record<T>& record, int lane,
                                                   const T (&w)[3][8], planar_axis_weights<T>& second,
                                                   planar_axis_weights<T>& last) {
  T placed[planar_patch];
  place_planar_weights(w[1], offset_of<T>(record.place[1]), grid.edge[1], placed);
  second.store(lane, placed);
  place_planar_weights(w[2], offset_of<T>(record.place[2]), grid.edge[2], placed);
  last.store(lane, placed);
}

/// The weights of one point per lane.
template <typename T, int Channels, bool Gradient>
__device__ __forceinline__ void stage_planar_weights(const tile_problem<T>& problem, const tile_record<T>& record,
                                                     int lane,
                                                     planar_interpolate_memory<T, Channels, Gradient>& memory) {
  T w[3][8], slopes[3][8];
  tile_weights<T, Gradient>(problem.window, problem.grid.shape, record, w, slopes);
  put_planar_weights(problem.grid, record, lane, w, memory.second, memory.last);
  if constexpr (Gradient) {
    put_planar_weights(problem.grid, record, lane, slopes, memory.second_slope, memory.last_slope);
  }
}

/// Writes the results of one point: values, or derivatives along the axes of the mesh and, if wanted, values.
template <typename T, int Channels, bool Gradient>
__device__ __forceinline__ void store_planar_results(const tile_results<T>& results,
                                                     const planar_interpolate_memory<T, Channels, Gradient>& memory,
                                                     particle_id id, int lane) {
  if constexpr (Channels == 2 && !Gradient) {
    if (results.pairs) return results.put_pair(id, memory.results[0][0][lane], memory.results[1][0][lane]);
  }
#pragma unroll
  for (int channel = 0; channel < Channels; ++channel) {
    if (!Gradient || results.values[0] != nullptr) {
      results.put_value(channel, id, memory.results[channel][Gradient ? 2 : 0][lane]);
    }
    if constexpr (Gradient) {
#pragma unroll
      for (int axis = 1; axis < 3; ++axis) {
        if (axis >= results.first_axis) results.put_slope(channel, axis, id, memory.results[channel][axis - 1][lane]);
      }
    }
  }
}

/// One warp per unit.
template <typename T, int Channels, bool Gradient>
__global__ void __launch_bounds__(32 * tile_warps<T>)
    interpolate_planar_kernel(const __grid_constant__ tile_problem<T> problem,
                              const __grid_constant__ tile_channels<T> channels,
                              const __grid_constant__ tile_results<T> results) {
  __shared__ planar_interpolate_memory<T, Channels, Gradient> memories[tile_warps<T>];
  const int lane = threadIdx.x % 32;
  auto& memory = memories[threadIdx.x / 32];
  const std::uint32_t number = blockIdx.x * tile_warps<T> + threadIdx.x / 32;
  if (number >= *problem.unit_count) return;
  const planar_place at(problem.grid, problem.units[number], lane);
  tile_record<T> record = at.record(problem.records, at.unit.first);
  const planar_mesh_patch<T, Channels> patch(problem.grid, channels, at);
  for (std::uint32_t batch = at.unit.first; batch < at.unit.last; batch += tile_batch) {
    const tile_record<T> next = at.record(problem.records, batch + tile_batch);
    const int count = static_cast<int>(min(static_cast<std::uint32_t>(tile_batch), at.unit.last - batch));
    stage_planar_weights(problem, record, lane, memory);
    __syncwarp();
    for (int k = 0; k < count; k += 8) interpolate_planar_points(memory, patch, k, lane);
    __syncwarp();
    if (lane < count) store_planar_results<T, Channels, Gradient>(results, memory, record.id, lane);
    __syncwarp();
    record = next;
  }
}

template <typename T, int Channels>
void launch_interpolate_planar(const cuda_context& context, const tile_problem<T>& problem,
                               const tile_channels<T>& channels, const tile_results<T>& results) {
  const cuda_launch launch(context, "mesh.tiles.interpolate_planar");
  const unsigned blocks = cuda_launch::blocks(problem.most_units, tile_warps<T>);
  if (results.gradient) {
    interpolate_planar_kernel<T, Channels, true>
        <<<blocks, 32 * tile_warps<T>, 0, context.stream()>>>(problem, channels, results);
  } else {
    interpolate_planar_kernel<T, Channels, false>
        <<<blocks, 32 * tile_warps<T>, 0, context.stream()>>>(problem, channels, results);
  }
  launch.check();
}

template <typename T>
void interpolate_planar_tiles(const cuda_context& context, const tile_problem<T>& problem,
                              const tile_channels<T>& channels, const tile_results<T>& results) {
  if (problem.most_units == 0) return;
  if constexpr (sizeof(T) == sizeof(float)) {
    if (serves_planar_lanes(problem.grid, channels, results)) {
      return interpolate_planar_lanes(context, problem, channels, results);
    }
  }
  if (channels.count == 1) {
    launch_interpolate_planar<T, 1>(context, problem, channels, results);
  } else {
    launch_interpolate_planar<T, 2>(context, problem, channels, results);
  }
}

}  // namespace quadrat::detail
