// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include "mesh/footprint.hpp"
#include "mesh/footprint_rows.hpp"
#include "mesh/mesh_shape.hpp"
#include "mesh/spread_engine.hpp"

/// Interpolation with a thread a point, for engines that keep placed points.
namespace quadrat::detail {

/// values[i] from `mesh` for the first `count` points. Asynchronous.
template <typename Context, typename T>
void interpolate_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                        const placed_point<T>* points, std::size_t count, const T* mesh, T* values, bool accumulate);

/// Their gradients, by mesh units times `scale[axis]`. Asynchronous.
template <typename Context, typename T>
void interpolate_gradients(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                           const placed_point<T>* points, std::size_t count, const T* mesh, const T* scale,
                           T* gradients, bool accumulate);

/// Reads `Lanes` values that lie at a multiple of their size: in one access on GPUs, if they are 16 bytes.
template <int Lanes, typename T>
QUADRAT_HD void load_lanes(const T* from, T* lane) {
#if defined(__CUDA_ARCH__)
  if constexpr (Lanes == 4 && std::is_same_v<T, float>) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    lane[0] = four.x, lane[1] = four.y, lane[2] = four.z, lane[3] = four.w;
  } else if constexpr (Lanes == 2 && std::is_same_v<T, double>) {
    const double2 two = *reinterpret_cast<const double2*>(from);
    lane[0] = two.x, lane[1] = two.y;
  } else {
    QUADRAT_UNROLL
    for (int l = 0; l < Lanes; ++l) lane[l] = from[l];
  }
#else
  for (int l = 0; l < Lanes; ++l) lane[l] = from[l];
#endif
}

/// Where unit `unit` of a channel begins: units may be more than 2^31 values from its start, never 2^31 units.
[[nodiscard]] QUADRAT_HD inline std::size_t offset_of(int unit, int step) {
  return static_cast<std::size_t>(static_cast<std::uint32_t>(unit)) * static_cast<std::size_t>(step);
}

/// Calls run(width, nodes, components), integral constants, for the widest units that the mesh allows: of 16 bytes on
/// GPUs, whose loads are limited by their number; values one by one on CPUs.
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
