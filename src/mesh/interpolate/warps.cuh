// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include "mesh/shape.hpp"
#include "quadrat/mesh/window.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation with a warp per point: lanes take the mesh points of several rows of a footprint at once. With few
/// points or large footprints, one thread per footprint would take longer than everything else.
namespace quadrat::detail {

inline constexpr int reading_warps = 4;   ///< of a block
inline constexpr int rows_in_flight = 4;  ///< of a lane, loaded independently

/// The window's coefficients, and the footprints of a block's points; with gradients, derivatives of their weights.
template <typename T, bool Gradient>
struct reading_memory {
  static constexpr int most = mesh_window<T>::most_width;
  T coefficient[mesh_window<T>::most_terms][most];
  T weight[reading_warps][3][most];
  T slope[Gradient ? reading_warps : 1][3][most];
  int place[reading_warps][3][most];  ///< a mesh point's part of the index in the mesh; -1 outside an open axis
};

/// Sums of a lane over rows: of values; with gradients also of the products for the derivatives along the first and the
/// second axis.
template <typename T, int Channels, bool Gradient>
struct reading_sums {
  T plain[Channels];
  T first[Gradient ? Channels : 1];
  T second[Gradient ? Channels : 1];
};

/// Called by a warp. Each lane computes one weight along each axis.
template <typename T, bool Gradient>
__device__ __forceinline__ void stage_footprint(const mesh_shape& shape, int terms, const placed_point<T>& point,
                                                int warp, int lane, reading_memory<T, Gradient>& memory) {
  int unit = 1;
#pragma unroll
  for (int axis = 2; axis >= 0; --axis) {
    if (lane < shape.width[axis]) {
      const bool there = axis >= shape.first_axis;
      T w = there ? T(0) : T(1), slope = T(0);
      for (int d = there ? terms - 1 : -1; d >= 0; --d) {
        if constexpr (Gradient) slope = slope * point.place[axis] + w;
        w = w * point.place[axis] + memory.coefficient[d][lane];
      }
      const int home = shape.home(point.first[axis] + lane, axis);
      memory.weight[warp][axis][lane] = w;
      if constexpr (Gradient) memory.slope[warp][axis][lane] = slope;
      memory.place[warp][axis][lane] = home < 0 ? -1 : home * unit;
    }
    unit *= shape.extent[axis];
  }
}

/// Sums over the rows from `first` on, `step` apart, at mesh point z of each.
template <typename T, int Channels, bool Gradient, typename Source>
__device__ __forceinline__ void sum_rows(const Source& source, const reading_memory<T, Gradient>& memory, int warp,
                                         int first, int step, int z, reading_sums<T, Channels, Gradient>& sum) {
  const mesh_shape& shape = source.shape();
  const int second = shape.width[1], rows = shape.width[0] * second;
  const unsigned inverse = (1u << 16) / static_cast<unsigned>(second) + 1;  // exact for at most 256 rows
  for (int begin = first; begin < rows; begin += rows_in_flight * step) {
    int at[rows_in_flight][2];
    bool there[rows_in_flight];
    T value[rows_in_flight][Channels];
#pragma unroll
    for (int r = 0; r < rows_in_flight; ++r) {
      const int row = begin + r * step < rows ? begin + r * step : 0;
      const int a = static_cast<int>(static_cast<unsigned>(row) * inverse >> 16), b = row - a * second;
      const int x = memory.place[warp][0][a], y = memory.place[warp][1][b];
      at[r][0] = a, at[r][1] = b;
      there[r] = begin + r * step < rows && (x | y) >= 0;
      // No load depends on a branch, so that all are in flight together.
      source.load(static_cast<std::size_t>(there[r] ? x + y + z : 0), value[r]);
    }
#pragma unroll
    for (int r = 0; r < rows_in_flight; ++r) {
      const T first_weight = memory.weight[warp][0][at[r][0]], second_weight = memory.weight[warp][1][at[r][1]];
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        // Mesh values outside the footprint must not contribute, even if they are not finite.
        if (!there[r]) value[r][c] = T(0);
        sum.plain[c] += first_weight * second_weight * value[r][c];
        if constexpr (Gradient) {
          sum.first[c] += memory.slope[warp][0][at[r][0]] * second_weight * value[r][c];
          sum.second[c] += first_weight * memory.slope[warp][1][at[r][1]] * value[r][c];
        }
      }
    }
  }
}

/// Sums over the lanes of a warp; all lanes get the sum.
template <typename T>
[[nodiscard]] __device__ __forceinline__ T sum_of_warp(T own) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) own += __shfl_xor_sync(~0u, own, half);
  return own;
}

/// Source: shape(), window(), point(i), load(mesh point, values), and put(i, values) or put(i, values, gradients by
/// axis and channel), which one lane calls. Sums are in the same order in every run.
template <typename T, int Channels, bool Gradient, typename Source>
__global__ void __launch_bounds__(32 * reading_warps)
    interpolate_warps_kernel(const __grid_constant__ Source source, std::size_t count) {
  using memory_type = reading_memory<T, Gradient>;
  __shared__ memory_type memory;
  constexpr int most = memory_type::most;
  const mesh_window<T>& window = source.window();
  const int terms = window.terms;
  for (int k = static_cast<int>(threadIdx.x); k < terms * most; k += 32 * reading_warps) {
    memory.coefficient[k / most][k % most] = window.coefficient[k / most][k % most];
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * reading_warps + static_cast<std::size_t>(warp);
  if (i >= count) return;  // the whole warp; there are no more barriers
  const mesh_shape& shape = source.shape();
  stage_footprint(shape, terms, source.point(i), warp, lane, memory);
  __syncwarp();
  const int length = shape.width[2], at_once = 32 / length, row = lane / length, column = lane - row * length;
  reading_sums<T, Channels, Gradient> sum = {};
  const int z = memory.place[warp][2][column];
  if (row < at_once && z >= 0) sum_rows<T, Channels, Gradient>(source, memory, warp, row, at_once, z, sum);
  const T last = memory.weight[warp][2][column];
  T value[Channels], gradient[Gradient ? 3 : 1][Channels];
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    value[c] = sum_of_warp(sum.plain[c] * last);
    if constexpr (Gradient) {
      gradient[0][c] = sum_of_warp(sum.first[c] * last);
      gradient[1][c] = sum_of_warp(sum.second[c] * last);
      gradient[2][c] = sum_of_warp(sum.plain[c] * memory.slope[warp][2][column]);
    }
  }
  if (lane != 0) return;
  if constexpr (Gradient) {
    source.put(i, value, gradient);
  } else {
    source.put(i, value);
  }
}

template <typename T, int Channels, bool Gradient, typename Source>
void launch_interpolate_warps(const cuda_context& context, const char* name, const Source& source, std::size_t count) {
  const cuda_launch launch(context, name);
  interpolate_warps_kernel<T, Channels, Gradient>
      <<<cuda_launch::blocks(count, reading_warps), 32 * reading_warps, 0, context.stream()>>>(source, count);
  launch.check();
}

}  // namespace quadrat::detail
