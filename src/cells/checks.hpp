// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Returns a valid grid unchanged. Throws argument_error for a grid that `make_box` and `make_grid` would not make, for
/// more than `most_cells` cells, and for a folded one.
template <typename T, int D>
[[nodiscard]] grid<T, D> checked_grid(const grid<T, D>& space, std::uint64_t most_cells = max_count) {
  for (int axis = 0; axis < D; ++axis) {
    require(space.domain.length[axis] > T(0) && std::isfinite(space.domain.length[axis]), "the box of the grid is ",
            space.domain.length[axis], " long along axis ", axis, "; it must be positive and finite");
  }
  require(!space.folded, "the grid is folded; give the cell list the whole grid, and options.fold_reach");
  return make_grid(space.domain, space.cells, most_cells);
}

template <typename T>
void require_radius(std::string_view method, T radius) {
  require(radius > T(0) && std::isfinite(radius), method, " needs the radius of the particles, which is ", radius,
          "; it must be positive and finite");
}

inline void require_bucket_count(std::size_t bucket_count) {
  require(bucket_count >= 1 && bucket_count <= max_count, "the number of buckets is ", bucket_count,
          "; it must be from 1 to ", max_count);
}

}  // namespace quadrat::detail
