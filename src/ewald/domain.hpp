// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/lattice/cuboid_grid.hpp"

/// The cells of systems, and the charges in the order of the grids that cut them.
namespace quadrat::detail {

template <typename T>
struct ewald_domain {
  lattice<T, 3> given;  ///< points are checked against this
  lattice<T, 3> shape;  ///< periodic along all vectors; of a slab, with room between its images along the third
  cuboid_grid<T, 3> grid;
  vec<vec<T, 3>, 3> waves;  ///< 2 pi times shape.inverse: the wave vector of mode 1 along each axis
  T inverse_volume;         ///< of `shape`
  bool slab;
  T height;  ///< of `shape` along its third vector
  T middle;  ///< a fraction along the third vector of `shape`, between the slab and its image

  /// The height of a wrapped point of a slab above its lower face.
  [[nodiscard]] QUADRAT_HD T height_of(const vec<T, 3>& point) const {
    const T fraction = shape.fraction(point, 2);
    return (fraction > middle ? fraction - T(1) : fraction) * height;
  }
};

/// The record of a neighbor in the short-range sum.
template <typename T>
struct alignas(sizeof(T) == 4 ? 16 : 8) placed_charge {
  vec<T, 3> position;  ///< wrapped
  T charge;
};

/// The charges by slot: in the order of cells, those of a system one after the other.
template <typename T>
struct placed_charges {
  const ewald_domain<T>* domains;
  std::uint32_t systems;
  std::uint32_t count;
  const std::uint32_t* offsets;     ///< by cell: its first slot
  const particle_id* ids;           ///< by slot
  const std::uint32_t* system_of;   ///< by slot; nullptr for one system
  const placed_charge<T>* charges;  ///< by slot

  [[nodiscard]] QUADRAT_HD std::uint32_t system_at(std::size_t slot) const {
    return system_of == nullptr ? 0 : system_of[slot];
  }
  [[nodiscard]] QUADRAT_HD const ewald_domain<T>& domain_at(std::size_t slot) const { return domains[system_at(slot)]; }

  /// The slots of a system.
  [[nodiscard]] QUADRAT_HD std::uint32_t begin_of(std::uint32_t system) const {
    if (system == 0 || system == systems) return system == 0 ? 0 : count;
    return offsets[domains[system].grid.cells.first_cell];
  }
};

}  // namespace quadrat::detail
