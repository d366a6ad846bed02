// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>

#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat::detail {

/// The middle of a rank's block.
template <typename T, int D>
[[nodiscard]] vec<double, D> middle_of(const grid<T, D>& space, const cell_block<D>& block) {
  return make_vec<double, D>([&](int axis) {
    const double cells = static_cast<double>(block.first[axis] + block.end[axis]) / 2;
    return static_cast<double>(space.domain.lower[axis]) + cells * static_cast<double>(space.edge(axis));
  });
}

/// Index: own point. Replaces it by its periodic image nearest to the middle of the rank's block, so that no point lies
/// beyond a face of the box at which the block lies.
template <typename T, int D>
struct place_near_block {
  points_view<T, D> from;
  vec<double, D> middle;
  vec<double, D> length;
  vec<bool, D> periodic;  ///< the point stays along the others
  vec<T, D>* to;

  QUADRAT_HD void operator()(std::size_t i) const {
    vec<T, D> point = from[i];
    for (int axis = 0; axis < D; ++axis) {
      if (!periodic[axis]) continue;
      const auto x = static_cast<double>(point[axis]);
      const double turns = std::floor((x - middle[axis]) / length[axis] + 0.5);
      if (turns != 0) point[axis] = static_cast<T>(x - turns * length[axis]);
    }
    to[i] = point;
  }
};

}  // namespace quadrat::detail
