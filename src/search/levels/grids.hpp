// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "search/levels/cells.hpp"
#include "search/request.hpp"

namespace quadrat::detail {

/// Cells along the vectors of the boxes, as long as the reach of equal points, and finer along the rows, which are
/// trimmed to the sphere.
template <typename T, int D>
struct walked_grids {
  using grid = search_system<T, D>;

  [[nodiscard]] static std::vector<grid> make(std::span<const lattice<T, D>> boxes, const layer_request<T>& request) {
    auto edges = vec<T, D>::filled(request.edge);
    edges[0] /= T(trimmed_cells_along_first_axis);
    return make_search_systems<T, D>(boxes, {edges, request.reach, request.most_cells, request.points_anywhere});
  }
  [[nodiscard]] static grid& cells(grid& of) { return of; }
};

}  // namespace quadrat::detail
