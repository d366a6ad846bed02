// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/number_text.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

/// Checks arrays of points on the host, and makes messages about a point.
namespace quadrat::detail {

/// Throws argument_error for more than `most` elements. `what` names them in the message: "points".
inline void require_count(std::size_t count, std::string_view what, std::uint64_t most = max_count) {
  require(count <= most, "there are ", count, " ", what, "; at most ", most, " are possible");
}

/// Throws argument_error as require_count does, and for a null pointer to elements.
inline void require_array(const void* first, std::size_t count, std::string_view what, std::uint64_t most = max_count) {
  require_count(count, what, most);
  require_pointer(first, count, what);
}

/// Throws argument_error as require_array does, and for a stride of 0 between several points.
template <typename T, int D>
void require_points(const points_view<T, D>& points, std::string_view what, std::uint64_t most = max_count) {
  for (int axis = 0; axis < D; ++axis) require_array(points.component[axis], points.count, what, most);
  require(points.count <= 1 || points.stride >= 1, "the stride of the ", what, " is 0; it must be positive");
}

/// "(1, 2, 3)"
template <typename T, int D>
[[nodiscard]] std::string vector_text(const vec<T, D>& v) {
  std::string text = "(";
  for (int axis = 0; axis < D; ++axis) text += (axis == 0 ? "" : ", ") + number_text(v[axis]);
  return text + ")";
}

/// Point i of an array in the memory of the context. Waits.
template <typename Context, typename T, int D>
[[nodiscard]] vec<T, D> point_to_host(const Context& context, const points_view<T, D>& points, std::size_t i) {
  return make_vec<T, D>([&](int axis) { return to_host(context, points.component[axis] + i * points.stride, 1)[0]; });
}

}  // namespace quadrat::detail
