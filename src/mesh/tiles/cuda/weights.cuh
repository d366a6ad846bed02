// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/grid.hpp"
#include "quadrat/mesh/window.hpp"

namespace quadrat::detail {

/// The mesh point of a patch point; -1 outside an open axis. Along a periodic axis patches begin at 0 or above, and may
/// be longer than the mesh.
__device__ __forceinline__ int tile_home(const mesh_shape& shape, int index, int axis) {
  const int n = shape.extent[axis];
  if (index >= 0 && index < n) return index;
  return shape.periodic[axis] ? index % n : -1;
}

/// Offsets of a lane's mesh points in a plane of the mesh: row g along the second axis, t and t + 4 of each layer along
/// the last, so that four lanes access adjacent values; -1 for those that no footprint reaches.
template <int Layers>
__device__ __forceinline__ void tile_row_offsets(const tile_grid& grid, int second, int last, int lane,
                                                 int (&offset)[Layers][2]) {
  const int g = lane / 4, t = lane % 4;
  const int j = g < grid.reach(1) ? tile_home(grid.shape, second + g, 1) : -1;
#pragma unroll
  for (int layer = 0; layer < Layers; ++layer) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int position = 8 * layer + 4 * half + t;
      const int k = position < grid.reach(2) ? tile_home(grid.shape, last + position, 2) : -1;
      offset[layer][half] = j < 0 || k < 0 ? -1 : j * grid.shape.extent[2] + k;
    }
  }
}

/// Points whose weights are in shared memory at a time, one per lane; products read up to 7 beyond the last.
inline constexpr int tile_batch = 32;
/// Rows are 4 numbers of a point, so that lanes write and read 16 bytes each; the gap between halves avoids bank
/// conflicts.
inline constexpr int tile_row_pitch = 4 * (tile_batch + 12);

/// The weights of a batch along one axis, over 8 mesh points.
template <typename T>
struct tile_axis_weights {
  T half[2][tile_row_pitch];

  __device__ T at(int point, int position) const { return half[position >> 2][4 * point + (position & 3)]; }
  __device__ void clear_tail() {
    for (int i = threadIdx.x % 32; i < tile_row_pitch - 4 * tile_batch; i += 32) {
      half[0][4 * tile_batch + i] = half[1][4 * tile_batch + i] = T(0);
    }
  }
};

/// Weights at [0, width), zeros up to 8; with Slopes also their derivatives per mesh unit.
template <typename T, int Width, bool Slopes, int Axes>
__device__ __forceinline__ void evaluate_tile_weights(const mesh_window<T>& window, const T (&place)[Axes],
                                                      T (&w)[Axes][8], T (*slopes)[8]) {
#pragma unroll
  for (int axis = 0; axis < Axes; ++axis) {
    if constexpr (Slopes) {
      window.template weights_and_derivatives<Width>(place[axis], w[axis], slopes[axis]);
    } else {
      window.template weights<Width>(place[axis], w[axis]);
    }
#pragma unroll
    for (int j = Width; j < 8; ++j) {
      w[axis][j] = T(0);
      if (Slopes) slopes[axis][j] = T(0);
    }
  }
}

template <typename T, bool Slopes, int Axes>
__device__ __forceinline__ void tile_weights_at(const mesh_window<T>& window, const T (&place)[Axes], T (&w)[Axes][8],
                                                T (*slopes)[8]) {
  switch (window.width) {
    case 1:
      return evaluate_tile_weights<T, 1, Slopes>(window, place, w, slopes);
    case 2:
      return evaluate_tile_weights<T, 2, Slopes>(window, place, w, slopes);
    case 3:
      return evaluate_tile_weights<T, 3, Slopes>(window, place, w, slopes);
    case 4:
      return evaluate_tile_weights<T, 4, Slopes>(window, place, w, slopes);
    case 5:
      return evaluate_tile_weights<T, 5, Slopes>(window, place, w, slopes);
    case 6:
      return evaluate_tile_weights<T, 6, Slopes>(window, place, w, slopes);
    case 7:
      return evaluate_tile_weights<T, 7, Slopes>(window, place, w, slopes);
    default:
      return evaluate_tile_weights<T, 8, Slopes>(window, place, w, slopes);
  }
}

/// The weights of a record along all axes, and with Slopes their derivatives; along axes beyond the dimension the
/// weight is 1, and there is no derivative.
template <typename T, bool Slopes = false>
__device__ __forceinline__ void tile_weights(const mesh_window<T>& window, const mesh_shape& shape,
                                             const tile_record<T>& record, T (&w)[3][8], T (*slopes)[8] = nullptr) {
  const T place[3] = {place_of<T>(record.place[0]), place_of<T>(record.place[1]), place_of<T>(record.place[2])};
  tile_weights_at<T, Slopes>(window, place, w, slopes);
#pragma unroll
  for (int axis = 0; axis < 2; ++axis) {  // the last axis always exists
    if (axis < shape.first_axis) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        w[axis][j] = j == 0 ? T(1) : T(0);
        if (Slopes) slopes[axis][j] = T(0);
      }
    }
  }
}

/// Shifts the weights up by `offset`, which is below `edge`.
template <typename T, int Count>
__device__ __forceinline__ void shift_tile_weights(int offset, int edge, T (&w)[Count]) {
#pragma unroll
  for (int bit = 1; bit < Count; bit *= 2) {
    if (bit < edge) {
      const bool move = (offset & bit) != 0;
#pragma unroll
      for (int j = Count - 1; j >= 0; --j) w[j] = move ? (j >= bit ? w[j - bit] : T(0)) : w[j];
    }
  }
}

/// Rotates the weights to begin at `offset` modulo 8.
template <typename T>
__device__ __forceinline__ void rotate_tile_weights(int offset, T (&w)[8]) {
#pragma unroll
  for (int bit = 1; bit < 8; bit *= 2) {
    const bool move = (offset & bit) != 0;
    T moved[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) moved[j] = move ? w[(j - bit) & 7] : w[j];
#pragma unroll
    for (int j = 0; j < 8; ++j) w[j] = moved[j];
  }
}

template <typename T>
__device__ __forceinline__ void store_tile_weights(tile_axis_weights<T>& axis, int point, const T* w) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    T* row = axis.half[half] + 4 * point;
    if constexpr (sizeof(T) == 4) {
      *reinterpret_cast<float4*>(row) = make_float4(w[4 * half], w[4 * half + 1], w[4 * half + 2], w[4 * half + 3]);
    } else {
      reinterpret_cast<double2*>(row)[0] = make_double2(w[4 * half], w[4 * half + 1]);
      reinterpret_cast<double2*>(row)[1] = make_double2(w[4 * half + 2], w[4 * half + 3]);
    }
  }
}

/// The eight weights of a point.
template <typename T>
__device__ __forceinline__ void load_tile_weights(const tile_axis_weights<T>& axis, int point, T* w) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const T* row = axis.half[half] + 4 * point;
    if constexpr (sizeof(T) == 4) {
      const float4 four = *reinterpret_cast<const float4*>(row);
      w[4 * half] = four.x, w[4 * half + 1] = four.y, w[4 * half + 2] = four.z, w[4 * half + 3] = four.w;
    } else {
      const double2 a = reinterpret_cast<const double2*>(row)[0], b = reinterpret_cast<const double2*>(row)[1];
      w[4 * half] = a.x, w[4 * half + 1] = a.y, w[4 * half + 2] = b.x, w[4 * half + 3] = b.y;
    }
  }
}

}  // namespace quadrat::detail
