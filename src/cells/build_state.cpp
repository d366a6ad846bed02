// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/detail/build_state.hpp"

#include <string>

#include "cells/insertion.hpp"
#include "core/backend.hpp"
#include "core/finite.hpp"
#include "core/number_text.hpp"
#include "core/point_checks.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// The message about an invalid point. The caller may have corrected it since the build.
template <typename T, int D>
std::string complaint(std::uint64_t i, const vec<T, D>& point, const box<T, D>& domain) {
  const std::string name = message("point ", i, " at ", vector_text(point));
  if (!is_finite(point)) return name + " has a coordinate that is not finite";
  for (int axis = 0; axis < D; ++axis) {
    if (domain.periodic[axis] || (point[axis] >= domain.lower[axis] && point[axis] <= domain.upper(axis))) continue;
    return message(name, " lies outside the open box [", number_text(domain.lower[axis]), ", ",
                   number_text(domain.upper(axis)), "] along axis ", axis);
  }
  return message("point ", i, ", which is now at ", vector_text(point),
                 ", was not finite or outside the open box when cells were built");
}

}  // namespace

template <typename Context, typename T, int D>
void point_build_state<Context, T, D>::check(const grid<T, D>& space, std::uint64_t capacity) {
  const fault_report found = build_state<Context>::check();
  if (found.kind == fault_kind::none) return;
  if (found.kind == fault_kind::overflow) {
    const auto id = static_cast<cell_id>(found.index - overflow_fault_base);
    const vec<int, D> cell = row_major_numbering<D>{space.stored}.cell(id);
    throw overflow_error(message("cell ", vector_text(cell), " holds more than its capacity of ", capacity,
                                 " particles; a capacity of ", found.needed, " would have sufficed"),
                         found.needed);
  }
  if (found.index < points_.count) {
    throw data_error(complaint(found.index, point_to_host(this->context(), points_, found.index), space.domain),
                     found.index);
  }
  throw data_error(message("point ", found.index, " of an earlier build was not finite or outside the open box"));
}

template class point_build_state<backend_context, float, 2>;
template class point_build_state<backend_context, float, 3>;
template class point_build_state<backend_context, double, 2>;
template class point_build_state<backend_context, double, 3>;

}  // namespace quadrat::detail
