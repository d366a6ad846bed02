// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/lattice.hpp"
#include "quadrat/ewald/electrostatics.hpp"

namespace quadrat::bench {

/// Charges, in random memory order.
template <typename T>
struct charges_of_systems {
  std::vector<vec<T, 3>> points;
  std::vector<T> charges;
  std::vector<lattice<T, 3>> cells;
  std::vector<std::uint32_t> system_of_point;  ///< empty for one system
  std::vector<scaled_pair> pairs;
};

/// `molecules` molecules of water (SPC: -0.82 and 0.41 at 1 Angstrom and 109.47 degrees) at its density, 0.0334 per
/// cubic Angstrom. They are turned at random, on a cubic lattice with displacements of a few tenths. Pairs in a
/// molecule are excluded.
template <typename T>
[[nodiscard]] charges_of_systems<T> water_box(std::size_t molecules);

/// `edge`^3 charges of 1 and -1, alternating, on a cubic lattice with displacements of up to a fifth of its spacing
/// along each axis, at the number density of atoms in water, 0.1002 per cubic Angstrom.
template <typename T>
[[nodiscard]] charges_of_systems<T> jittered_lattice(std::size_t edge);

/// `systems` cubes, each with `points` charges of 1 and -1, alternating, at random places and density 1.
template <typename T>
[[nodiscard]] charges_of_systems<T> random_boxes(std::size_t systems, std::size_t points);

}  // namespace quadrat::bench
