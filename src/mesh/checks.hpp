// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mesh/plan_details.hpp"
#include "mesh/request.hpp"
#include "mesh/shape.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/mesh/spread_plan.hpp"

namespace quadrat::detail {

/// Throws argument_error for extents below 1 (2 with mesh points on both ends) or above 2^22, and for more than 2^31 -
/// 1 mesh points.
template <typename T, int D>
[[nodiscard]] mesh_shape make_shape(const box<T, D>& domain, const vec<int, D>& mesh, const mesh_window<T>& window,
                                    open_ends ends = open_ends::lower);

/// The shape of the meshes of several systems. Throws argument_error if they are too large together.
[[nodiscard]] mesh_shape stacked(const mesh_shape& one, const mesh_stack& stack);

template <typename T, int D>
[[nodiscard]] mesh_axis<T> make_mesh_axis(const box<T, D>& domain, int axis, int extent, int width,
                                          const spread_options& options = {}, const part_of_axis& part = {});

/// Mesh units per unit of length, by axis of `shape`; 0 for axes beyond the dimension.
template <typename T, int D>
[[nodiscard]] vec<T, 3> gradient_scale(const box<T, D>& domain, const mesh_shape& shape, open_ends ends);

/// Throws argument_error for the first option that is invalid for every method.
void check_spread_options(const spread_options& options, const plan_details& details);

/// Throws argument_error for an unknown method (empty and "auto" are valid), and for one that does not support the
/// backend, the context's level of determinism or the width of the window.
void require_spread_method(std::string_view name, const cpu_context& context, int width);
void require_spread_method(std::string_view name, const cuda_context& context, int width);

/// Throws for a method that does not set points asynchronously. The message names those that do.
[[noreturn]] void refuse_points_async(std::string_view method, const spread_request& request);

/// The message about an invalid point, with the accepted values.
template <typename T, int D>
[[nodiscard]] std::string point_complaint(const box<T, D>& domain, const mesh_shape& shape,
                                          const spread_options& options, const plan_details& details, std::size_t i,
                                          const vec<T, D>& point, fault_kind kind);
/// The same for points whose coordinates are no longer available.
[[nodiscard]] std::string late_point_complaint(std::size_t i, fault_kind kind, const mesh_stack& stack);

}  // namespace quadrat::detail
