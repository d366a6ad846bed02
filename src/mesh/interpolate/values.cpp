// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "core/backend.hpp"
#include "mesh/interpolate/lines.hpp"
#include "mesh/interpolate/points.hpp"
#include "mesh/interpolate/warps.hpp"
#include "mesh/wide.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Index: point. Reads units of Nodes mesh points with Components values each (1: channels are taken one by one).
template <typename T, int Width, int Nodes, int Components>
struct interpolate_point {
  static constexpr int lanes = Nodes * Components;
  using rows = footprint_rows<T, Width, Nodes>;

  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  const placed_point<T>* points;
  const T* mesh;
  T* values;
  bool accumulate;

  QUADRAT_HD void operator()(std::size_t i) const {
    const placed_point<T> point = points[i];
    const rows footprint(window, shape, point);
    const int step = lanes == 1 ? layout.components : lanes;
    for (int channel = 0; channel < layout.channels(); channel += Components) {
      const T* base = mesh + layout.node(0, channel);
      // A sum per lane, so that weights along the rows are applied once, at the end.
      T sum[rows::units * lanes];
      QUADRAT_UNROLL
      for (int l = 0; l < rows::units * lanes; ++l) sum[l] = T(0);
      footprint.for_each_row(shape, point, [&](int row, T weight) {
        // Only loads are conditional, so that those of several rows can be in flight together.
        QUADRAT_UNROLL
        for (int u = 0; u < rows::units; ++u) {
          T lane[lanes] = {};
          const int unit = footprint.unit[u];
          if ((row | unit) >= 0) load_lanes<lanes>(base + offset_of(row + unit, step), lane);
          QUADRAT_UNROLL
          for (int l = 0; l < lanes; ++l) sum[u * lanes + l] += weight * lane[l];
        }
      });
      store(footprint, i, channel, sum);
    }
  }

 private:
  QUADRAT_HD void store(const rows& footprint, std::size_t i, int channel, const T* sum) const {
    QUADRAT_UNROLL
    for (int c = 0; c < Components; ++c) {
      T total = T(0);
      QUADRAT_UNROLL
      for (int l = 0; l < rows::lanes; ++l) {
        // Mesh values outside the footprint must not contribute, even if they are not finite.
        const T weight = footprint.along[l];
        if (Nodes == 1 || weight != T(0)) total += weight * sum[l * Components + c];
      }
      T& value = values[layout.value(i, channel + c)];
      value = accumulate ? value + total : total;
    }
  }
};

}  // namespace

template <typename Context, typename T>
void interpolate_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                        const placed_point<T>* points, std::size_t count, const T* mesh, T* values, bool accumulate) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    const bool canonical = context.reproducibility() == determinism::canonical;
    if (reads_by_warps(setup.window.width, 3 - setup.shape.first_axis, count, canonical)) {
      return interpolate_warps<T>(context, setup, layout, points, count, mesh, nullptr, values, nullptr, accumulate);
    }
  }
  if (is_wide(setup.window.width)) {
    return interpolate_wide_points(context, setup, layout, points, count, mesh, values, accumulate);
  }
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (setup.shape.first_axis == 2) {
      return interpolate_lines(context, setup, layout, points, count, mesh, values, accumulate);
    }
  }
  with_units<Context>(setup, layout, mesh, [&](auto width, auto nodes, auto components) {
    using body = interpolate_point<T, decltype(width)::value, decltype(nodes)::value, decltype(components)::value>;
    for_each(context, "mesh.interpolate", count,
             body{setup.shape, setup.window, layout, points, mesh, values, accumulate});
  });
}

template void interpolate_points(const backend_context&, const spread_setup<float>&, const value_layout&,
                                 const placed_point<float>*, std::size_t, const float*, float*, bool);
template void interpolate_points(const backend_context&, const spread_setup<double>&, const value_layout&,
                                 const placed_point<double>*, std::size_t, const double*, double*, bool);

}  // namespace quadrat::detail
