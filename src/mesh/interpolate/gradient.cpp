// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "core/backend.hpp"
#include "mesh/interpolate/points.hpp"
#include "mesh/interpolate/warps.hpp"
#include "mesh/wide.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Index: point. Reads every mesh value once for all axes. Units of Nodes mesh points with Components values each (1:
/// channels are taken one by one).
template <typename T, int Width, int Nodes, int Components>
struct interpolate_point_gradient {
  static constexpr int lanes = Nodes * Components;
  using rows = footprint_rows<T, Width, Nodes>;

  /// Derivatives of the weights, laid out like the weights of footprint_rows.
  struct slopes {
    T weight[2][Width];
    T along[rows::lanes];
  };
  /// Sums over a part of the footprint: of values, and of derivatives along the second and the last axis.
  struct sums {
    T plain[Components];
    T second[Components];
    T last[Components];
  };

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
    const placed_point<T> point = points[i];
    const rows footprint(window, shape, point);
    const slopes slope = slopes_of(point, footprint.shift);
    for (int channel = 0; channel < layout.channels(); channel += Components) {
      const T* base = mesh + layout.node(0, channel);
      T first[Width];
      T first_slope[Width];
      QUADRAT_UNROLL
      for (int a = 0; a < Width; ++a) first[a] = footprint.weight[0][a], first_slope[a] = slope.weight[0][a];
      T value[Components] = {};
      T gradient[3][Components] = {};
      QUADRAT_KEEP_LOOP
      for (int a = 0; a < shape.width[0]; ++a) {
        const int start = rows::plane(shape, point, a);
        if (start >= 0) {
          const sums plane = sum_plane(footprint, slope, base, start);
          QUADRAT_UNROLL
          for (int c = 0; c < Components; ++c) {
            value[c] += first[0] * plane.plain[c];
            gradient[0][c] += first_slope[0] * plane.plain[c];
            gradient[1][c] += first[0] * plane.second[c];
            gradient[2][c] += first[0] * plane.last[c];
          }
        }
        rows::rotate(first);
        rows::rotate(first_slope);
      }
      if (values != nullptr) store_value(i, channel, value);
      store(i, channel, gradient);
    }
  }

 private:
  [[nodiscard]] QUADRAT_HD slopes slopes_of(const placed_point<T>& point, int shift) const {
    slopes slope;
    T w[Width], last[Width];  // the compiler computes the footprint's weights only once
    window.template weights_and_derivatives<Width>(point.place[0], w, slope.weight[0]);
    window.template weights_and_derivatives<Width>(point.place[1], w, slope.weight[1]);
    window.template weights_and_derivatives<Width>(point.place[2], w, last);
    rows::spread_lanes(last, shift, slope.along);
    return slope;
  }

  [[nodiscard]] QUADRAT_HD sums sum_plane(const rows& footprint, const slopes& slope, const T* base, int start) const {
    const int step = lanes == 1 ? layout.components : lanes;
    sums plane{};
    QUADRAT_UNROLL
    for (int b = 0; b < Width; ++b) {
      if (footprint.row[b] < 0) continue;
      T row[Components] = {};
      T row_last[Components] = {};
      QUADRAT_UNROLL
      for (int u = 0; u < rows::units; ++u) {
        // Only loads are conditional, so that the loads of a row are in flight together. Registers do not allow
        // more.
        T lane[lanes] = {};
        const int unit = footprint.unit[u];
        if (unit >= 0) load_lanes<lanes>(base + offset_of(start + footprint.row[b] + unit, step), lane);
        QUADRAT_UNROLL
        for (int l = 0; l < lanes; ++l) {
          const int at = u * Nodes + l / Components;
          // Mesh values outside the footprint must not contribute, even if they are not finite.
          const T value = Nodes == 1 || footprint.inside(at) ? lane[l] : T(0);
          row[l % Components] += footprint.along[at] * value;
          row_last[l % Components] += slope.along[at] * value;
        }
      }
      QUADRAT_UNROLL
      for (int c = 0; c < Components; ++c) {
        plane.plain[c] += footprint.weight[1][b] * row[c];
        plane.second[c] += slope.weight[1][b] * row[c];
        plane.last[c] += footprint.weight[1][b] * row_last[c];
      }
    }
    return plane;
  }

  QUADRAT_HD void store_value(std::size_t i, int channel, const T (&value)[Components]) const {
    QUADRAT_UNROLL
    for (int c = 0; c < Components; ++c) {
      T& to = values[layout.value(i, channel + c)];
      to = accumulate ? to + value[c] : value[c];
    }
  }

  /// gradients[vector][i][axis][component]
  QUADRAT_HD void store(std::size_t i, int channel, const T (&gradient)[3][Components]) const {
    const auto vector = static_cast<std::size_t>(channel / layout.components);
    const auto dimension = static_cast<std::size_t>(3 - shape.first_axis);
    const auto components = static_cast<std::size_t>(layout.components);
    T* to = gradients + (vector * layout.points + i) * dimension * components + channel % layout.components;
    QUADRAT_UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      if (axis < shape.first_axis) continue;
      QUADRAT_UNROLL
      for (int c = 0; c < Components; ++c) {
        const T value = scale[axis] * gradient[axis][c];
        to[c] = accumulate ? to[c] + value : value;
      }
      to += components;
    }
  }
};

}  // namespace

template <typename Context, typename T>
void interpolate_gradients(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                           const placed_point<T>* points, std::size_t count, const T* mesh, const T* scale, T* values,
                           T* gradients, bool accumulate) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    const bool canonical = context.reproducibility() == determinism::canonical;
    if (reads_by_warps(setup.window.width, 3 - setup.shape.first_axis, count, canonical)) {
      return interpolate_warps(context, setup, layout, points, count, mesh, scale, values, gradients, accumulate);
    }
  }
  if (is_wide(setup.window.width)) {
    return interpolate_wide_gradients(context, setup, layout, points, count, mesh, scale, values, gradients,
                                      accumulate);
  }
  with_units<Context>(setup, layout, mesh, [&](auto width, auto nodes, auto components) {
    const interpolate_point_gradient<T, decltype(width)::value, decltype(nodes)::value, decltype(components)::value>
        body{setup.shape, setup.window, layout,    points, mesh, {scale[0], scale[1], scale[2]},
             values,      gradients,    accumulate};
    for_each(context, "mesh.interpolate_gradient", count, body);
  });
}

template void interpolate_gradients(const backend_context&, const spread_setup<float>&, const value_layout&,
                                    const placed_point<float>*, std::size_t, const float*, const float*, float*, float*,
                                    bool);
template void interpolate_gradients(const backend_context&, const spread_setup<double>&, const value_layout&,
                                    const placed_point<double>*, std::size_t, const double*, const double*, double*,
                                    double*, bool);

}  // namespace quadrat::detail
