// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/finite.hpp"
#include "core/point_checks.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat::detail {

/// The message about the invalid point (or query) i of an array. Synchronizes.
template <typename Context, typename T, int D>
[[nodiscard]] std::string point_complaint(const Context& context, const lattice<T, D>& shape,
                                          const points_view<T, D>& points, std::string_view what, std::size_t i) {
  const vec<T, D> point = point_to_host(context, points, i);
  const std::string text = message(what, i, " at ", vector_text(point));
  if (!is_finite(point)) return text + " has a coordinate that is not finite";
  for (int axis = 0; axis < D; ++axis) {
    const T fraction = shape.fraction(point, axis);
    if (shape.periodic[axis] && std::fabs(fraction) > T(lattice<T, D>::most_boxes)) {
      return message(text, " is ", fraction, " periods away along axis ", axis, "; at most ", lattice<T, D>::most_boxes,
                     " are possible");
    }
    if (shape.periodic[axis] || (fraction >= T(0) && fraction <= T(1))) continue;
    if (!shape.orthorhombic) {
      return message(text, " lies outside of its box: its fraction along the open vector ", axis, " is ", fraction,
                     "; it must be from 0 to 1");
    }
    return message(text, " lies outside the open box [", shape.origin[axis], ", ",
                   shape.origin[axis] + shape.vectors[axis][axis], "] along axis ", axis);
  }
  return text + " was not finite or outside of its box when it was searched";
}

}  // namespace quadrat::detail
