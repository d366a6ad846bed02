// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// Shifts in vectors of a box and in those of the box that is searched.
template <int D>
struct shift_map {
  vec<vec<int, D>, D> given;     ///< [k]: vector k of the searched box, in vectors of the caller's
  vec<vec<int, D>, D> searched;  ///< [k]: vector k of the caller's box, in vectors of the searched one

  /// Between equal boxes.
  [[nodiscard]] static shift_map none() {
    shift_map map{};
    for (int k = 0; k < D; ++k) map.given[k][k] = map.searched[k][k] = 1;
    return map;
  }
  [[nodiscard]] QUADRAT_HD vec<int, D> to_given(const vec<int, D>& shift) const { return sum(shift, given); }
  [[nodiscard]] QUADRAT_HD vec<int, D> to_searched(const vec<int, D>& shift) const { return sum(shift, searched); }

 private:
  [[nodiscard]] QUADRAT_HD static vec<int, D> sum(const vec<int, D>& shift, const vec<vec<int, D>, D>& vectors) {
    vec<int, D> result{};
    for (int k = 0; k < D; ++k) result += shift[k] * vectors[k];
    return result;
  }
};

/// The first component that is not 0; 0 if there is none. A branch here would keep the shift in local memory.
template <int D>
[[nodiscard]] QUADRAT_HD int first_component(const vec<int, D>& shift) {
  int first = 0;
  for (int axis = D - 1; axis >= 0; --axis) first = shift[axis] != 0 ? shift[axis] : first;
  return first;
}

}  // namespace quadrat::detail
