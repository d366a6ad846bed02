// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/interpolate/warps.cuh"

#include <algorithm>
#include <cstdint>

#include "mesh/interpolate/warps.hpp"

namespace quadrat::detail {

namespace {

/// Placed points, and a mesh, values and gradients of one vector, or of one component of it.
template <typename T, int Channels>
struct placed_point_source {
  mesh_shape of_mesh;
  mesh_window<T> of_points;
  const placed_point<T>* points;
  const T* mesh;
  T* values;     ///< with gradients, may be null
  T* gradients;  ///< of point i along an axis of the mesh from gradients[(i * dimension + axis) * step]
  T scale[3];
  std::size_t step;  ///< from one mesh point or value to the next
  bool accumulate;

  [[nodiscard]] __device__ const mesh_shape& shape() const { return of_mesh; }
  [[nodiscard]] __device__ const mesh_window<T>& window() const { return of_points; }
  [[nodiscard]] __device__ placed_point<T> point(std::size_t i) const { return points[i]; }
  __device__ void load(std::size_t node, T (&value)[Channels]) const {
    if constexpr (Channels == 2) {
      using pair = std::conditional_t<sizeof(T) == 4, float2, double2>;
      const pair both = __ldg(reinterpret_cast<const pair*>(mesh) + node);
      value[0] = both.x, value[1] = both.y;
    } else {
      value[0] = __ldg(mesh + node * step);
    }
  }
  __device__ void put(std::size_t i, const T (&value)[Channels]) const {
#pragma unroll
    for (int c = 0; c < Channels; ++c) put_at(values + i * step + c, value[c]);
  }
  __device__ void put(std::size_t i, const T (&value)[Channels], const T (&gradient)[3][Channels]) const {
    if (values != nullptr) put(i, value);
    T* to = gradients + i * static_cast<std::size_t>(3 - of_mesh.first_axis) * step;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      if (axis < of_mesh.first_axis) continue;
#pragma unroll
      for (int c = 0; c < Channels; ++c) put_at(to + c, scale[axis] * gradient[axis][c]);
      to += step;
    }
  }

 private:
  __device__ void put_at(T* to, T value) const { *to = accumulate ? *to + value : value; }
};

}  // namespace

template <typename T>
void interpolate_warps(const cuda_context& context, const spread_setup<T>& setup, const value_layout& layout,
                       const placed_point<T>* points, std::size_t count, const T* mesh, const T* scale, T* values,
                       T* gradients, bool accumulate) {
  if (count == 0) return;
  const auto step = static_cast<std::size_t>(layout.components);
  const auto dimension = static_cast<std::size_t>(3 - setup.shape.first_axis);
  const auto run = [&](auto channels, int channel) {
    constexpr int of_one = decltype(channels)::value;
    const auto vector = static_cast<std::size_t>(channel / layout.components);
    placed_point_source<T, of_one> source{};
    source.of_mesh = setup.shape, source.of_points = setup.window;
    source.points = points, source.mesh = mesh + layout.node(0, channel);
    source.step = step, source.accumulate = accumulate;
    if (values != nullptr) source.values = values + layout.value(0, channel);
    if (gradients == nullptr) {
      return launch_interpolate_warps<T, of_one, false>(context, "mesh.interpolate_warps", source, count);
    }
    const auto component = static_cast<std::size_t>(channel % layout.components);
    source.gradients = gradients + vector * layout.points * dimension * step + component;
    std::copy_n(scale, 3, source.scale);
    launch_interpolate_warps<T, of_one, true>(context, "mesh.interpolate_gradient_warps", source, count);
  };
  const bool pairs = layout.components == 2 && reinterpret_cast<std::uintptr_t>(mesh) % (2 * sizeof(T)) == 0;
  for (int channel = 0; channel < layout.channels(); channel += pairs ? 2 : 1) {
    if (pairs) {
      run(std::integral_constant<int, 2>{}, channel);
    } else {
      run(std::integral_constant<int, 1>{}, channel);
    }
  }
}

template void interpolate_warps(const cuda_context&, const spread_setup<float>&, const value_layout&,
                                const placed_point<float>*, std::size_t, const float*, const float*, float*, float*,
                                bool);
template void interpolate_warps(const cuda_context&, const spread_setup<double>&, const value_layout&,
                                const placed_point<double>*, std::size_t, const double*, const double*, double*,
                                double*, bool);

}  // namespace quadrat::detail
