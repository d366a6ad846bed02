// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include "mesh/engine.hpp"
#include "mesh/footprint.hpp"
#include "mesh/footprint_rows.hpp"
#include "mesh/lanes.hpp"
#include "mesh/shape.hpp"

/// Interpolation with one thread per point, for engines that keep placed points.
namespace quadrat::detail {

/// Interpolates values[i] from `mesh` for the first `count` points. Asynchronous.
template <typename Context, typename T>
void interpolate_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                        const placed_point<T>* points, std::size_t count, const T* mesh, T* values, bool accumulate);

/// Interpolates gradients, per mesh unit times `scale[axis]`, and values unless `values` is null. Asynchronous.
template <typename Context, typename T>
void interpolate_gradients(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                           const placed_point<T>* points, std::size_t count, const T* mesh, const T* scale, T* values,
                           T* gradients, bool accumulate);

/// Calls run(width, nodes, components), integral constants, for the widest units that the mesh allows: 16 bytes on
/// GPUs, where the number of loads is the limit; single values on CPUs.
template <typename Context, typename T, typename Run>
void with_units(const spread_setup<T>& setup, const value_layout& layout, const T* mesh, Run&& run) {
  with_width(setup.window.width, [&](auto width) {
    using one = std::integral_constant<int, 1>;
    using two = std::integral_constant<int, 2>;
    if constexpr (std::is_same_v<Context, cuda_context>) {
      using reals = std::integral_constant<int, std::is_same_v<T, float> ? 4 : 2>;
      using complexes = std::integral_constant<int, std::is_same_v<T, float> ? 2 : 1>;
      if (layout.components == 1 && has_units(setup.shape, mesh, reals::value, 1)) return run(width, reals{}, one{});
      if (layout.components == 2 && has_units(setup.shape, mesh, complexes::value, 2)) {
        return run(width, complexes{}, two{});
      }
    }
    run(width, one{}, one{});
  });
}

}  // namespace quadrat::detail
