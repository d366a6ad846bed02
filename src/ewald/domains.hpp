// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "ewald/domain.hpp"
#include "quadrat/ewald/electrostatics.hpp"

/// The cells of Ewald sums, made on the host.
namespace quadrat::detail {

/// Throws argument_error for no cell, and for a cell that is not periodic along its first two vectors.
template <typename T>
void require_cells(std::span<const lattice<T, 3>> cells, pair_law law);

/// The cells that are summed: with the shortest vectors, unless the caller requests a mesh along the given ones. Slabs
/// get room between their images along the normal, so that the remaining interaction with images is below `accuracy`
/// (Yeh and Berkowitz 1999).
template <typename T>
[[nodiscard]] std::vector<lattice<T, 3>> periodic_cells(std::span<const lattice<T, 3>> cells, double accuracy,
                                                        bool mesh_given);

struct domain_request {
  double cutoff;
  double neighbors;  ///< expected per point, including clusters
  std::size_t points;
  bool cuda;
  /// The mesh points of all systems. Clearing fewer cells than this takes negligible time.
  std::size_t mesh_points = 0;
};
template <typename T>
[[nodiscard]] std::vector<ewald_domain<T>> make_domains(std::span<const lattice<T, 3>> given,
                                                        std::span<const lattice<T, 3>> periodic,
                                                        const domain_request& request);

}  // namespace quadrat::detail
