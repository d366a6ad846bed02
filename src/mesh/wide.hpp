// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/engine.hpp"

/// Windows wider than mesh_window::most_fixed_width with one thread per point: loops over widths known only at run
/// time, compiled once, for engines that keep placed points.
namespace quadrat::detail {

[[nodiscard]] constexpr bool is_wide(int width) { return width > mesh_window<double>::most_fixed_width; }

/// Adds the points of `chosen`, or the first `count` if that is nullptr, to `mesh`, with atomic operations (on a CPU
/// with one thread without them). Asynchronous.
template <typename Context, typename T>
void spread_wide_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                        const placed_point<T>* points, const std::uint32_t* chosen, std::size_t count, const T* values,
                        T* mesh);

/// Like interpolate_points and interpolate_gradients.
template <typename Context, typename T>
void interpolate_wide_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                             const placed_point<T>* points, std::size_t count, const T* mesh, T* values,
                             bool accumulate);
template <typename Context, typename T>
void interpolate_wide_gradients(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                                const placed_point<T>* points, std::size_t count, const T* mesh, const T* scale,
                                T* values, T* gradients, bool accumulate);

}  // namespace quadrat::detail
