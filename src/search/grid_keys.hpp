// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/search/lattice/cuboid_grid.hpp"
#include "search/search.hpp"

/// The cells of points in rectangular grids, for builds.
namespace quadrat::detail {

/// The number of the cell that stores a point, in the grid of its system. An invalid point is a fault and goes to the
/// first cell.
template <typename T, int D>
struct grid_key {
  search_key<T, D> key;
  const cuboid_grid<T, D>* grids;

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD vec<T, D> read(std::size_t i) const { return key.search.points[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t i, const vec<T, D>& point) const {
    if (!key.check(i, point, key.search.system_of_point, i)) return 0;
    const std::uint32_t system = key.search.system_at(key.search.system_of_point, i);
    vec<int, D> boxes{};
    return cell_in_grid(grids[system], key.search.systems[system].shape.wrap(point, boxes));
  }
};

/// The same for one system, passed by value: see search_key_of_one.
template <typename T, int D>
struct grid_key_of_one {
  search_key<T, D> key;
  search_system<T, D> system;
  cuboid_grid<T, D> grid;

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD vec<T, D> read(std::size_t i) const { return key.search.points[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t i, const vec<T, D>& point) const {
    if (!key.check_in(system.shape, point, i)) return 0;
    vec<int, D> boxes{};
    return cell_in_grid(grid, system.shape.wrap(point, boxes));
  }
};

}  // namespace quadrat::detail
