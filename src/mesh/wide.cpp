// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/wide.hpp"

#include <type_traits>

#include "core/backend.hpp"
#include "mesh/point.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// The mesh points of a footprint along the axes, as offsets in the mesh, and their weights.
template <typename T>
struct wide_footprint {
  static constexpr int most = mesh_window<T>::most_width;

  T weight[3][most];
  std::int32_t place[3][most];  ///< -1 outside an open axis

  QUADRAT_HD wide_footprint(const mesh_window<T>& window, const mesh_shape& shape, const placed_point<T>& point) {
    std::int32_t unit = 1;
    for (int axis = 2; axis >= 0; --axis) {
      for (int j = 0; j < shape.width[axis]; ++j) {
        const int home = shape.home(point.first[axis] + j, axis);
        place[axis][j] = home < 0 ? -1 : home * unit;
        weight[axis][j] = axis < shape.first_axis ? T(1) : window.weight(j, point.place[axis]);
      }
      unit *= shape.extent[axis];
    }
  }

  /// Calls f(first mesh point of the row, a, b) for all rows on the mesh.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_row(const mesh_shape& shape, F&& f) const {
    for (int a = 0; a < shape.width[0]; ++a) {
      if (place[0][a] < 0) continue;
      for (int b = 0; b < shape.width[1]; ++b) {
        if (place[1][b] >= 0) f(static_cast<std::size_t>(place[0][a]) + static_cast<std::size_t>(place[1][b]), a, b);
      }
    }
  }
};

/// Index: index into `chosen`, or a point if that is nullptr.
template <typename T, mesh_update Update>
struct spread_wide_point {
  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  const placed_point<T>* points;
  const std::uint32_t* chosen;
  const T* values;
  T* mesh;

  QUADRAT_HD void operator()(std::size_t n) const {
    const std::size_t i = chosen == nullptr ? n : chosen[n];
    const wide_footprint<T> footprint(window, shape, points[i]);
    for (int channel = 0; channel < layout.channels(); ++channel) {
      const T value = values[layout.value(i, channel)];
      footprint.for_each_row(shape, [&](std::size_t row, int a, int b) {
        const T part = value * (footprint.weight[0][a] * footprint.weight[1][b]);
        for (int c = 0; c < shape.width[2]; ++c) {
          const int k = footprint.place[2][c];
          if (k < 0) continue;
          T* target = mesh + layout.node(row + static_cast<std::size_t>(k), channel);
          if constexpr (Update == mesh_update::atomic) {
            atomic_add(target, part * footprint.weight[2][c]);
          } else {
            *target += part * footprint.weight[2][c];
          }
        }
      });
    }
  }
};

/// Index: point.
template <typename T>
struct interpolate_wide_point {
  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  const placed_point<T>* points;
  const T* mesh;
  T* values;
  bool accumulate;

  QUADRAT_HD void operator()(std::size_t i) const {
    const wide_footprint<T> footprint(window, shape, points[i]);
    for (int channel = 0; channel < layout.channels(); ++channel) {
      T total = T(0);
      footprint.for_each_row(shape, [&](std::size_t row, int a, int b) {
        T sum = T(0);
        for (int c = 0; c < shape.width[2]; ++c) {
          const int k = footprint.place[2][c];
          if (k >= 0) sum += footprint.weight[2][c] * mesh[layout.node(row + static_cast<std::size_t>(k), channel)];
        }
        total += footprint.weight[0][a] * footprint.weight[1][b] * sum;
      });
      T& value = values[layout.value(i, channel)];
      value = accumulate ? value + total : total;
    }
  }
};

/// Index: point.
template <typename T>
struct interpolate_wide_point_gradient {
  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  const placed_point<T>* points;
  const T* mesh;
  T scale[3];
  T* values;  ///< may be null
  T* gradients;
  bool accumulate;

  QUADRAT_HD void operator()(std::size_t i) const {
    constexpr int most = wide_footprint<T>::most;
    const placed_point<T> point = points[i];
    const wide_footprint<T> footprint(window, shape, point);
    T slope[3][most];
    for (int axis = 0; axis < 3; ++axis) {
      for (int j = 0; j < shape.width[axis]; ++j) slope[axis][j] = window.derivative(j, point.place[axis]);
    }
    for (int channel = 0; channel < layout.channels(); ++channel) {
      T total = T(0), gradient[3] = {};
      footprint.for_each_row(shape, [&](std::size_t row, int a, int b) {
        T sum = T(0), sum_last = T(0);
        for (int c = 0; c < shape.width[2]; ++c) {
          const int k = footprint.place[2][c];
          if (k < 0) continue;
          const T value = mesh[layout.node(row + static_cast<std::size_t>(k), channel)];
          sum += footprint.weight[2][c] * value;
          sum_last += slope[2][c] * value;
        }
        total += footprint.weight[0][a] * footprint.weight[1][b] * sum;
        gradient[0] += slope[0][a] * footprint.weight[1][b] * sum;
        gradient[1] += footprint.weight[0][a] * slope[1][b] * sum;
        gradient[2] += footprint.weight[0][a] * footprint.weight[1][b] * sum_last;
      });
      if (values != nullptr) {
        T& value = values[layout.value(i, channel)];
        value = accumulate ? value + total : total;
      }
      store(i, channel, gradient);
    }
  }

 private:
  /// gradients[vector][i][axis][component]
  QUADRAT_HD void store(std::size_t i, int channel, const T* gradient) const {
    const auto vector = static_cast<std::size_t>(channel / layout.components);
    const auto components = static_cast<std::size_t>(layout.components);
    const auto dimension = static_cast<std::size_t>(3 - shape.first_axis);
    T* to = gradients + (vector * layout.points + i) * dimension * components + channel % layout.components;
    for (int axis = shape.first_axis; axis < 3; ++axis, to += components) {
      *to = accumulate ? *to + scale[axis] * gradient[axis] : scale[axis] * gradient[axis];
    }
  }
};

}  // namespace

template <typename Context, typename T>
void spread_wide_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                        const placed_point<T>* points, const std::uint32_t* chosen, std::size_t count, const T* values,
                        T* mesh) {
  const auto run = [&](auto update) {
    const spread_wide_point<T, decltype(update)::value> body{setup.shape, setup.window, layout, points,
                                                             chosen,      values,       mesh};
    for_each(context, "mesh.particle_wide", count, body);
  };
  if constexpr (std::is_same_v<Context, cpu_context>) {
    if (context.threads() == 1) return run(std::integral_constant<mesh_update, mesh_update::plain>{});
  }
  run(std::integral_constant<mesh_update, mesh_update::atomic>{});
}

template <typename Context, typename T>
void interpolate_wide_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                             const placed_point<T>* points, std::size_t count, const T* mesh, T* values,
                             bool accumulate) {
  for_each(context, "mesh.interpolate_wide", count,
           interpolate_wide_point<T>{setup.shape, setup.window, layout, points, mesh, values, accumulate});
}

template <typename Context, typename T>
void interpolate_wide_gradients(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                                const placed_point<T>* points, std::size_t count, const T* mesh, const T* scale,
                                T* values, T* gradients, bool accumulate) {
  const interpolate_wide_point_gradient<T> body{
      setup.shape, setup.window, layout, points, mesh, {scale[0], scale[1], scale[2]}, values, gradients, accumulate};
  for_each(context, "mesh.interpolate_gradient_wide", count, body);
}

template void spread_wide_points(const backend_context&, const spread_setup<float>&, const value_layout&,
                                 const placed_point<float>*, const std::uint32_t*, std::size_t, const float*, float*);
template void interpolate_wide_points(const backend_context&, const spread_setup<float>&, const value_layout&,
                                      const placed_point<float>*, std::size_t, const float*, float*, bool);
template void interpolate_wide_gradients(const backend_context&, const spread_setup<float>&, const value_layout&,
                                         const placed_point<float>*, std::size_t, const float*, const float*, float*,
                                         float*, bool);
template void spread_wide_points(const backend_context&, const spread_setup<double>&, const value_layout&,
                                 const placed_point<double>*, const std::uint32_t*, std::size_t, const double*,
                                 double*);
template void interpolate_wide_points(const backend_context&, const spread_setup<double>&, const value_layout&,
                                      const placed_point<double>*, std::size_t, const double*, double*, bool);
template void interpolate_wide_gradients(const backend_context&, const spread_setup<double>&, const value_layout&,
                                         const placed_point<double>*, std::size_t, const double*, const double*,
                                         double*, double*, bool);

}  // namespace quadrat::detail
