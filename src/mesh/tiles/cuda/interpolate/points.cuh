// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/interpolate/warps.cuh"
#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/problem.hpp"
#include "mesh/tiles/cuda/weights.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation of points in the order of tiles, for tiles with so few points that matrix products would be nearly
/// empty, for all cases that direct.cuh does not support, and for footprints longer than a patch. A warp takes 8
/// points. Three lanes compute the weights of a point, one per axis; then the 32 lanes read 4 rows of 8 adjacent mesh
/// points of each footprint, or 2 rows of 16. Values of longer footprints use one warp per point: see
/// interpolate_warps.cuh.
namespace quadrat::detail {

inline constexpr int point_batch = 8;
/// Large blocks, because neighbors read the same mesh points and find them in the first-level cache.
template <typename T>
inline constexpr int point_warps = sizeof(T) == 4 ? 8 : 4;

/// Row: the most mesh points of a footprint along an axis, 8 or 16.
template <typename T, bool Gradient, int Row>
struct tile_point_memory {
  T weights[3][point_batch][Row];
  T slopes[Gradient ? 3 : 1][point_batch][Row];
  int first[3][point_batch];
};

/// The first mesh point of a slot's footprint along an axis. `packed`: that axis of its record.
template <typename T>
[[nodiscard]] __device__ __forceinline__ int first_of_slot(const tile_problem<T>& problem, std::uint32_t slot, int axis,
                                                           typename tile_record<T>::word packed) {
  const tile_grid& grid = problem.grid;
  const std::uint32_t number = problem.segments[slot];
  const auto row = static_cast<int>(number / static_cast<unsigned>(grid.segments));
  const auto segment = static_cast<int>(number % static_cast<unsigned>(grid.segments));
  const int tile = axis == 0 ? segment * grid.segment : axis == 1 ? row / grid.tiles[2] : row % grid.tiles[2];
  return grid.origin[axis] + tile * grid.edge[axis] + offset_of<T>(packed);
}

/// Sums over rows for each point: of values, or of the three products that give derivatives.
template <typename T, int Channels, bool Gradient>
using point_sums = T[point_batch][Channels][Gradient ? 3 : 1];

/// One lane computes the weights of one axis of one point.
template <typename T, bool Gradient, int Row>
__device__ __forceinline__ void stage_point_weights(const tile_problem<T>& problem,
                                                    typename tile_record<T>::word packed, int axis, int point,
                                                    tile_point_memory<T, Gradient, Row>& memory) {
  const T place[1] = {place_of<T>(packed)};
  const bool there = axis >= problem.grid.shape.first_axis;
  if constexpr (Row > 8) {
    for (int j = 0; j < Row; ++j) {
      memory.weights[axis][point][j] = there ? problem.window.weight(j, place[0]) : j == 0 ? T(1) : T(0);
      if constexpr (Gradient) memory.slopes[axis][point][j] = there ? problem.window.derivative(j, place[0]) : T(0);
    }
    return;
  }
  T w[1][8], slope[1][8];
  tile_weights_at<T, Gradient>(problem.window, place, w, slope);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    memory.weights[axis][point][j] = there ? w[0][j] : j == 0 ? T(1) : T(0);
    if constexpr (Gradient) memory.slopes[axis][point][j] = there ? slope[0][j] : T(0);
  }
}

/// Adds a lane's rows to the sums of all points of a batch. Whole: no footprint crosses an end of the mesh.
template <typename T, int Channels, bool Gradient, int Row, bool Whole>
__device__ __forceinline__ void sum_point_rows(const mesh_shape& shape, const tile_channels<T>& channels,
                                               const tile_point_memory<T, Gradient, Row>& memory, int inverse_width,
                                               int lane, point_sums<T, Channels, Gradient>& sums) {
  const int z = lane % Row;
  const int rows = shape.width[0] * shape.width[1];
  int corner[point_batch];  // the mesh has at most 2^31 - 1 points
#pragma unroll
  for (int p = 0; p < point_batch; ++p) {
    corner[p] =
        Whole ? static_cast<int>(shape.node(memory.first[0][p], memory.first[1][p], memory.first[2][p] + z)) : 0;
  }
  if (z >= shape.width[2]) return;
  for (int row = lane / Row; row < rows; row += 32 / Row) {
    const int a = row * inverse_width >> 16, b = row - a * shape.width[1];
    const int along = (a * shape.extent[1] + b) * shape.extent[2];
#pragma unroll
    for (int p = 0; p < point_batch; ++p) {
      std::size_t node = static_cast<std::size_t>(corner[p] + along);
      if constexpr (!Whole) {
        const int i = tile_home(shape, memory.first[0][p] + a, 0), j = tile_home(shape, memory.first[1][p] + b, 1),
                  k = tile_home(shape, memory.first[2][p] + z, 2);
        if (i < 0 || j < 0 || k < 0) continue;
        node = shape.node(i, j, k);
      }
      T value[Channels];
      load_tile_node<T, Channels>(channels, node, value);
      const T first = memory.weights[0][p][a], second = memory.weights[1][p][b];
      const T both = first * second;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        if constexpr (Gradient) {
          sums[p][c][0] += memory.slopes[0][p][a] * second * value[c];
          sums[p][c][1] += first * memory.slopes[1][p][b] * value[c];
          sums[p][c][2] += both * value[c];
        } else {
          sums[p][c][0] += both * value[c];
        }
      }
    }
  }
}

/// Whether all footprints of a batch lie entirely within the mesh.
template <typename T, bool Gradient, int Row>
[[nodiscard]] __device__ __forceinline__ bool points_are_whole(const mesh_shape& shape,
                                                               const tile_point_memory<T, Gradient, Row>& memory,
                                                               int lane) {
  bool inside = true;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const int first = memory.first[axis][lane % point_batch];
    inside = inside && first >= 0 && first + shape.width[axis] <= shape.extent[axis];
  }
  return __all_sync(~0u, inside);
}

/// Sums each of eight numbers over the warp; lane l gets the sum of number l / 4.
template <typename T>
__device__ __forceinline__ T sum_of_eight(T (&sums)[point_batch], int lane) {
#pragma unroll
  for (int half = point_batch / 2; half > 0; half /= 2) {
    const bool upper = (lane & (4 * half)) != 0;
#pragma unroll
    for (int p = 0; p < half; ++p) {
      const T sent = upper ? sums[p] : sums[p + half];
      sums[p] = (upper ? sums[p + half] : sums[p]) + __shfl_xor_sync(~0u, sent, 4 * half);
    }
  }
  T sum = sums[0];
  sum += __shfl_xor_sync(~0u, sum, 2);
  return sum + __shfl_xor_sync(~0u, sum, 1);
}

/// One result of a batch: the sums times the weights along the last axis, or times their derivatives. Lane 4 p gets the
/// result of point p.
template <int Channels, bool Gradient, int Row, typename T>
__device__ __forceinline__ T close_point_sums(const T (&last)[point_batch][Row],
                                              const point_sums<T, Channels, Gradient>& sums, int channel, int product,
                                              int lane) {
  T own[point_batch];
#pragma unroll
  for (int p = 0; p < point_batch; ++p) own[p] = sums[p][channel][product] * last[p][lane % Row];
  return sum_of_eight(own, lane);
}

/// Combines the sums of a batch and writes them for the slots [batch, end).
template <typename T, int Channels, bool Gradient, int Row>
__device__ __forceinline__ void store_point_sums(const tile_problem<T>& problem, const tile_results<T>& results,
                                                 const tile_point_memory<T, Gradient, Row>& memory,
                                                 const point_sums<T, Channels, Gradient>& sums, std::uint32_t batch,
                                                 std::uint32_t end, int lane) {
  const std::uint32_t slot = batch + lane / 4;
  const bool writes = lane % 4 == 0 && slot < end;
  const particle_id id = writes ? problem.records[slot].id : 0;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    if constexpr (!Gradient) {
      const T sum = close_point_sums<Channels, Gradient>(memory.weights[2], sums, c, 0, lane);
      if (writes) results.put_value(c, id, sum);
    } else {
      if (results.values[0] != nullptr) {
        const T sum = close_point_sums<Channels, Gradient>(memory.weights[2], sums, c, 2, lane);
        if (writes) results.put_value(c, id, sum);
      }
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        if (axis < results.first_axis) continue;
        const auto& last = axis == 2 ? memory.slopes[2] : memory.weights[2];
        const T sum = close_point_sums<Channels, Gradient>(last, sums, c, axis, lane);
        if (writes) results.put_slope(c, axis, id, sum);
      }
    }
  }
}

/// 8 slots per warp.
template <typename T, int Channels, bool Gradient, int Row>
__global__ void __launch_bounds__(32 * point_warps<T>)
    interpolate_each_point_kernel(const __grid_constant__ tile_problem<T> problem,
                                  const __grid_constant__ tile_channels<T> channels,
                                  const __grid_constant__ tile_results<T> results, int inverse_width) {
  __shared__ tile_point_memory<T, Gradient, Row> memories[point_warps<T>];
  const int lane = threadIdx.x % 32;
  auto& memory = memories[threadIdx.x / 32];
  const std::uint32_t batch = (blockIdx.x * point_warps<T> + threadIdx.x / 32) * point_batch;
  if (batch >= problem.count) return;
  const mesh_shape& shape = problem.grid.shape;
  {
    // Lanes without a point repeat the last slot, lanes without an axis the last axis.
    const int axis = min(lane / point_batch, 2), point = lane % point_batch;
    const std::uint32_t slot = min(batch + point, problem.count - 1);
    const auto packed = problem.records[slot].place[axis];
    memory.first[axis][point] = first_of_slot(problem, slot, axis, packed);
    stage_point_weights<T, Gradient, Row>(problem, packed, axis, point, memory);
  }
  __syncwarp();
  point_sums<T, Channels, Gradient> sums = {};
  if (points_are_whole(shape, memory, lane)) {
    sum_point_rows<T, Channels, Gradient, Row, true>(shape, channels, memory, inverse_width, lane, sums);
  } else {
    sum_point_rows<T, Channels, Gradient, Row, false>(shape, channels, memory, inverse_width, lane, sums);
  }
  store_point_sums<T, Channels, Gradient, Row>(problem, results, memory, sums, batch, problem.count, lane);
}

template <typename T, int Channels, bool Gradient, int Row>
void launch_interpolate_each_point(const cuda_context& context, const tile_problem<T>& problem,
                                   const tile_channels<T>& channels, const tile_results<T>& results) {
  const cuda_launch launch(context, "mesh.tiles.interpolate_each_point");
  interpolate_each_point_kernel<T, Channels, Gradient, Row>
      <<<cuda_launch::blocks(problem.count, point_batch * point_warps<T>), 32 * point_warps<T>, 0, context.stream()>>>(
          problem, channels, results, (1 << 16) / problem.grid.shape.width[1] + 1);
  launch.check();
}

/// Points in the order of tiles, for interpolate_warps.cuh.
template <typename T, int Channels>
struct tile_slot_source {
  tile_problem<T> problem;
  tile_channels<T> channels;
  tile_results<T> results;

  [[nodiscard]] __device__ const mesh_shape& shape() const { return problem.grid.shape; }
  [[nodiscard]] __device__ const mesh_window<T>& window() const { return problem.window; }
  [[nodiscard]] __device__ placed_point<T> point(std::size_t i) const {
    const auto slot = static_cast<std::uint32_t>(i);
    const tile_record<T> record = problem.records[slot];
    placed_point<T> point;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      point.place[axis] = place_of<T>(record.place[axis]);
      point.first[axis] = first_of_slot(problem, slot, axis, record.place[axis]);
    }
    return point;
  }
  __device__ void load(std::size_t node, T (&value)[Channels]) const {
    load_tile_node<T, Channels>(channels, node, value);
  }
  __device__ void put(std::size_t i, const T (&sum)[Channels]) const {
    const particle_id id = problem.records[i].id;
#pragma unroll
    for (int c = 0; c < Channels; ++c) results.put_value(c, id, sum[c]);
  }
};

template <typename T, int Channels, int Row>
void interpolate_rows(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                      const tile_results<T>& results) {
  if (results.gradient) {
    launch_interpolate_each_point<T, Channels, true, Row>(context, problem, channels, results);
  } else if constexpr (Row > tile_patch) {
    launch_interpolate_warps<T, Channels, false>(context, "mesh.tiles.interpolate_warps",
                                                 tile_slot_source<T, Channels>{problem, channels, results},
                                                 problem.count);
  } else {
    launch_interpolate_each_point<T, Channels, false, Row>(context, problem, channels, results);
  }
}

template <typename T, int Channels>
void interpolate_each_point(const cuda_context& context, const tile_problem<T>& problem,
                            const tile_channels<T>& channels, const tile_results<T>& results) {
  if (problem.window.width <= tile_patch) {
    interpolate_rows<T, Channels, tile_patch>(context, problem, channels, results);
  } else {
    interpolate_rows<T, Channels, mesh_window<T>::most_width>(context, problem, channels, results);
  }
}

template <typename T>
void interpolate_each_point(const cuda_context& context, const tile_problem<T>& problem,
                            const tile_channels<T>& channels, const tile_results<T>& results) {
  if (channels.count == 1) {
    interpolate_each_point<T, 1>(context, problem, channels, results);
  } else {
    interpolate_each_point<T, 2>(context, problem, channels, results);
  }
}

}  // namespace quadrat::detail
