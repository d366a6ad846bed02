// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "quadrat/core/lattice.hpp"
#include "quadrat/search/lattice/cuboid_grid.hpp"
#include "search/cell_walk.hpp"
#include "search/cells.hpp"

namespace quadrat::detail {

/// The box of the spheres, and its grid for walks within the cutoff.
template <typename T>
struct sphere_domain {
  lattice<T, 3> shape;  ///< points are checked against this
  cuboid_grid<T, 3> grid;
};

/// `neighbors`: expected within the cutoff of a sphere. `few_rows`: rows of cells cost more than candidates. Host
/// only.
template <typename T>
[[nodiscard]] sphere_domain<T> make_sphere_domain(const lattice<T, 3>& shape, double cutoff, double neighbors,
                                                  std::size_t count, bool few_rows) {
  const std::span<const lattice<T, 3>> one(&shape, 1);
  return {shape, make_walked_grids(one, static_cast<T>(cutoff), neighbors, most_cells(count), few_rows).front()};
}

}  // namespace quadrat::detail
