// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/interpolate/lines.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

constexpr int line_lanes = 8;  ///< of a footprint
constexpr int line_block = 128;

/// The arguments of the kernel: meshes and values of one vector, or of one of its components.
template <typename T>
struct line_problem {
  mesh_shape shape;
  mesh_window<T> window;
  const placed_point<T>* points;
  std::size_t count;
  const T* mesh;
  T* values;
  std::size_t step;  ///< from one mesh point or value to the next
  bool accumulate;
};

/// Among eight lanes, lane j gets the sum over the lanes of the values at place j.
template <typename T>
__device__ __forceinline__ T sum_line_lanes(T (&own)[line_lanes], int lane) {
#pragma unroll
  for (int half = line_lanes / 2; half > 0; half /= 2) {
    const bool upper = (lane & half) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const T sent = upper ? own[i] : own[i + half];
      own[i] = (upper ? own[i + half] : own[i]) + __shfl_xor_sync(~0u, sent, half);
    }
  }
  return own[0];
}

template <typename T, int Components>
__device__ __forceinline__ void load_line_node(const line_problem<T>& problem, int node, T (&value)[Components]) {
  if constexpr (Components == 2) {
    using pair = std::conditional_t<sizeof(T) == 4, float2, double2>;
    const pair both = __ldg(reinterpret_cast<const pair*>(problem.mesh) + node);
    value[0] = both.x, value[1] = both.y;
  } else {
    value[0] = __ldg(problem.mesh + static_cast<std::size_t>(node) * problem.step);
  }
}

/// A warp takes 32 points, four at a time with eight lanes each. Terms: at least those of the window.
template <typename T, int Components, int Terms>
__global__ void __launch_bounds__(line_block)
    interpolate_lines_kernel(const __grid_constant__ line_problem<T> problem) {
  const int lane = static_cast<int>(threadIdx.x % 32), j = lane % line_lanes;
  T coefficient[Terms];
#pragma unroll
  for (int d = 0; d < Terms; ++d) coefficient[d] = d < problem.window.terms ? problem.window.coefficient[d][j] : T(0);
  const std::size_t warps = static_cast<std::size_t>(gridDim.x) * (line_block / 32);
  std::size_t batch = static_cast<std::size_t>(blockIdx.x) * (line_block / 32) + threadIdx.x / 32;
  for (; batch * 32 < problem.count; batch += warps) {
    const std::size_t i = batch * 32 + static_cast<std::size_t>(lane);
    const placed_point<T>& own = problem.points[min(i, problem.count - 1)];
    const T place = own.place[2];
    const int first = own.first[2];
    T part[Components][line_lanes];
#pragma unroll
    for (int r = 0; r < line_lanes; ++r) {
      const int source = (lane & ~(line_lanes - 1)) + r;
      const T s = __shfl_sync(~0u, place, source);
      const int begin = __shfl_sync(~0u, first, source);
      const int node = j < problem.window.width ? problem.shape.home(begin + j, 2) : -1;
      T value[Components] = {};
      if (node >= 0) load_line_node<T, Components>(problem, node, value);
      T weight = coefficient[Terms - 1];
#pragma unroll
      for (int d = Terms - 2; d >= 0; --d) weight = weight * s + coefficient[d];
#pragma unroll
      for (int c = 0; c < Components; ++c) part[c][r] = weight * value[c];
    }
    T sum[Components];
#pragma unroll
    for (int c = 0; c < Components; ++c) sum[c] = sum_line_lanes(part[c], lane);
    if (i >= problem.count) continue;
    T* const to = problem.values + i * problem.step;
#pragma unroll
    for (int c = 0; c < Components; ++c) to[c] = problem.accumulate ? to[c] + sum[c] : sum[c];
  }
}

template <typename T, int Components>
void launch_interpolate_lines(const cuda_context& context, const line_problem<T>& problem) {
  const cuda_launch launch(context, "mesh.interpolate_lines");
  // A warp reads the window's coefficients once for this many points.
  constexpr unsigned points_of_warp = 128;
  const unsigned blocks = cuda_launch::blocks(problem.count, line_block / 32 * points_of_warp);
  constexpr int few = 10;
  if (problem.window.terms <= few) {
    interpolate_lines_kernel<T, Components, few><<<blocks, line_block, 0, context.stream()>>>(problem);
  } else {
    interpolate_lines_kernel<T, Components, mesh_window<T>::most_terms>
        <<<blocks, line_block, 0, context.stream()>>>(problem);
  }
  launch.check();
}

}  // namespace

template <typename T>
void interpolate_lines(const cuda_context& context, const spread_setup<T>& setup, const value_layout& layout,
                       const placed_point<T>* points, std::size_t count, const T* mesh, T* values, bool accumulate) {
  if (count == 0) return;
  line_problem<T> problem{
      setup.shape, setup.window, points, count, mesh, values, static_cast<std::size_t>(layout.components), accumulate};
  const bool pairs = layout.components == 2 && reinterpret_cast<std::uintptr_t>(mesh) % (2 * sizeof(T)) == 0;
  for (int channel = 0; channel < layout.channels(); channel += pairs ? 2 : 1) {
    problem.mesh = mesh + layout.node(0, channel);
    problem.values = values + layout.value(0, channel);
    (pairs ? launch_interpolate_lines<T, 2> : launch_interpolate_lines<T, 1>)(context, problem);
  }
}

template void interpolate_lines(const cuda_context&, const spread_setup<float>&, const value_layout&,
                                const placed_point<float>*, std::size_t, const float*, float*, bool);
template void interpolate_lines(const cuda_context&, const spread_setup<double>&, const value_layout&,
                                const placed_point<double>*, std::size_t, const double*, double*, bool);

}  // namespace quadrat::detail
