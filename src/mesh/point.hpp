// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mesh/engine.hpp"
#include "mesh/footprint.hpp"
#include "mesh/footprint_rows.hpp"
#include "mesh/lanes.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

/// The way in which contributions of a point are added to mesh values.
enum class mesh_update {
  atomic,
  plain  ///< load, add, store: correct only if no other thread adds to the mesh
};

/// Spreads one point, its mesh points in units of Nodes with Components values each (2: complex; 1: channels are taken
/// one by one). Index: index into `chosen`, or a point if that is nullptr.
template <typename T, int Width, int Nodes, int Components, mesh_update Update>
struct spread_point {
  static constexpr int lanes = Nodes * Components;
  using rows = footprint_rows<T, Width, Nodes>;

  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  const placed_point<T>* points;
  const std::uint32_t* chosen;
  const T* values;
  T* mesh;

  QUADRAT_HD void operator()(std::size_t n) const {
    const std::size_t i = chosen == nullptr ? n : chosen[n];
    const placed_point<T> point = points[i];
    const rows footprint(window, shape, point);
    const int step = lanes == 1 ? layout.components : lanes;
    for (int channel = 0; channel < layout.channels(); channel += Components) {
      T value[Components];
      QUADRAT_UNROLL
      for (int c = 0; c < Components; ++c) value[c] = values[layout.value(i, channel + c)];
      T* base = mesh + layout.node(0, channel);
      footprint.for_each_row(shape, point, [&](int row, T weight) {
        if (row < 0) return;
        T product[Components];
        QUADRAT_UNROLL
        for (int c = 0; c < Components; ++c) product[c] = value[c] * weight;
        add_row(footprint, point, base, row, step, product);
      });
    }
  }

 private:
  QUADRAT_HD void add_row(const rows& footprint, const placed_point<T>& point, T* base, int row, int step,
                          const T* product) const {
#if defined(__CUDA_ARCH__)
    static_cast<void>(point);
    if constexpr (Update == mesh_update::plain) {
      overwrite_row(footprint, base, row, step, product);
    } else {
      add_units(footprint, base, row, step, product);
    }
#else
    // A row that does not cross the periodic boundary needs no table of offsets and can be vectorized.
    if (Nodes == 1 && step == 1 && point.first[2] >= 0 && point.first[2] + Width <= shape.extent[2]) {
      T* target = base + row + point.first[2];
      for (int c = 0; c < Width; ++c) add(target + c, product[0] * footprint.along[c]);
    } else {
      add_units(footprint, base, row, step, product);
    }
#endif
  }

  QUADRAT_HD void add_units(const rows& footprint, T* base, int row, int step, const T* product) const {
    QUADRAT_UNROLL
    for (int u = 0; u < rows::units; ++u) {
      if (footprint.unit[u] < 0) continue;
      T* target = base + offset_of(row + footprint.unit[u], step);
      T lane[lanes];
      QUADRAT_UNROLL
      for (int l = 0; l < lanes; ++l) lane[l] = term(footprint, product, u, l);
      if constexpr (Update == mesh_update::atomic) {
        atomic_add_lanes<lanes>(target, lane);
      } else {
        for (int l = 0; l < lanes; ++l) target[l] += lane[l];
      }
    }
  }

  /// For kernels that race: all loads of the row before its stores, so that it waits only once.
  QUADRAT_HD void overwrite_row(const rows& footprint, T* base, int row, int step, const T* product) const {
    T sum[rows::units * lanes];
    QUADRAT_UNROLL
    for (int u = 0; u < rows::units; ++u) {
      if (footprint.unit[u] >= 0) load_lanes<lanes>(base + offset_of(row + footprint.unit[u], step), sum + u * lanes);
    }
    QUADRAT_UNROLL
    for (int u = 0; u < rows::units; ++u) {
      QUADRAT_UNROLL
      for (int l = 0; l < lanes; ++l) sum[u * lanes + l] += term(footprint, product, u, l);
      if (footprint.unit[u] >= 0) store_lanes<lanes>(base + offset_of(row + footprint.unit[u], step), sum + u * lanes);
    }
  }

  /// Nothing is added outside the footprint, even if values are not finite.
  [[nodiscard]] QUADRAT_HD static T term(const rows& footprint, const T* product, int u, int l) {
    const T weight = footprint.along[u * Nodes + l / Components];
    return Nodes > 1 && weight == T(0) ? T(0) : product[l % Components] * weight;
  }

  static void add(T* target, T value) {
    if constexpr (Update == mesh_update::atomic) {
      atomic_add(target, value);
    } else {
      *target += value;
    }
  }
};

/// Adds the points of `chosen`, or the first `count` if that is nullptr, to `mesh`, one thread each.
template <mesh_update Update, typename Context, typename T>
void spread_each_point(const Context& context, const char* name, const spread_setup<T>& setup,
                       const value_layout& layout, const placed_point<T>* points, const std::uint32_t* chosen,
                       std::size_t count, const T* values, T* mesh) {
  with_width(setup.window.width, [&](auto width) {
    constexpr int w = decltype(width)::value;
    const auto run = [&](auto nodes, auto components) {
      for_each(context, name, count,
               spread_point<T, w, decltype(nodes)::value, decltype(components)::value, Update>{
                   setup.shape, setup.window, layout, points, chosen, values, mesh});
    };
    using one = std::integral_constant<int, 1>;
    using two = std::integral_constant<int, 2>;
    using four = std::integral_constant<int, 4>;
    // Only GPUs have vector reductions, and only of floats; on a CPU each lane would be one atomic operation.
    if constexpr (std::is_same_v<Context, cuda_context> && std::is_same_v<T, float>) {
      if (layout.components == 1 && has_units(setup.shape, mesh, 4, 1)) return run(four{}, one{});
      if (layout.components == 2 && has_units(setup.shape, mesh, 2, 2)) return run(two{}, two{});
    }
    run(one{}, one{});
  });
}

}  // namespace quadrat::detail
