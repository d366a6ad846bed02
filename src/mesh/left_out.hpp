// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/shape.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// For one point: clipped, missed, outside (see mesh_left_out), each 1 or 0.
template <typename T>
struct left_out_of_point {
  point_placement<T> placement;

  QUADRAT_HD vec<std::uint64_t, 3> operator()(std::size_t i) const {
    bool clipped = false, missed = false, outside = false;
    for (int a = 0; a < 3; ++a) {
      const mesh_axis<T>& axis = placement.axis[a];
      if (placement.component[a] == nullptr || axis.periodic) continue;
      const T x = placement.component[a][i * placement.stride];
      const int first = axis.moved_inside(axis.locate(x)).first;
      clipped = clipped || first < 0 || first + axis.width > axis.extent;
      missed = missed || first <= -axis.width || first >= axis.extent;
      outside = outside || !(x >= axis.lower && x <= axis.upper);
    }
    return {clipped ? 1u : 0u, missed ? 1u : 0u, outside ? 1u : 0u};
  }
};

}  // namespace quadrat::detail
