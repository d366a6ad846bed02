// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/spectral/power_spectrum.hpp"

/// What a power spectrum knows before it has points.
namespace quadrat::detail {

/// Three axes; with two dimensions the first has one mesh point.
struct spectrum_mesh {
  int extent[3] = {1, 1, 1};
  double length[3] = {1, 1, 1};
  int first_axis = 0;

  [[nodiscard]] double volume() const { return length[0] * length[1] * length[2]; }
};

/// Throws argument_error for an open axis.
template <typename T, int D>
[[nodiscard]] spectrum_mesh make_spectrum_mesh(const box<T, D>& domain, const vec<int, D>& extents) {
  spectrum_mesh mesh;
  mesh.first_axis = 3 - D;
  for (int d = 0; d < D; ++d) {
    require(domain.periodic[d], "axis ", d, " of the box is open; a power spectrum needs a periodic box");
    mesh.extent[3 - D + d] = extents[d];
    mesh.length[3 - D + d] = static_cast<double>(domain.length[d]);
  }
  return mesh;
}

/// The options. Throws argument_error for the first that is invalid.
[[nodiscard]] power_spectrum_options checked_spectrum_options(const power_spectrum_options& options, int dimension);

/// power_spectrum_options::edges, if none are given.
[[nodiscard]] std::vector<double> usual_edges(const spectrum_mesh& mesh);

/// What depends on n >= 0 along each axis, and the squared edges: numbers, and where each table begins.
struct spectrum_tables {
  std::vector<double> numbers;
  std::size_t squares[3], turns[3], factors[3], edges;
};
[[nodiscard]] spectrum_tables make_spectrum_tables(const spectrum_mesh& mesh, const power_spectrum_options& options);

}  // namespace quadrat::detail
