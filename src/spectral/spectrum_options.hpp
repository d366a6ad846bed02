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

/// Modes along the first two axes, as they are stored: those from extent / 2 + 1 on are negative.
struct mode_block {
  int first[2], end[2];

  [[nodiscard]] bool whole(int axis, const spectrum_mesh& mesh) const {
    return first[axis] == 0 && end[axis] == mesh.extent[axis];
  }
};

/// What depends on the mode along each axis, by n >= 0 or, where a block is not whole, by its modes; and the squared
/// edges: numbers, and where each table begins.
struct spectrum_tables {
  std::vector<double> numbers;
  std::size_t squares[3], turns[3], factors[3], edges;
};
[[nodiscard]] spectrum_tables make_spectrum_tables(const spectrum_mesh& mesh, const power_spectrum_options& options,
                                                   const mode_block& block);

/// What was spread of a set.
struct set_moments {
  double points = 0, sum = 0, squares = 0;
};

/// Throws data_error for weights without a finite sum, and for a sum of 0 by which power would be divided.
void check_moments(const set_moments& moments, const power_spectrum_options& options);

/// The result before its power. `sums`: the number of modes, and the sum of their wave numbers, [number][shell].
[[nodiscard]] power_spectrum_result spectrum_of_modes(const power_spectrum_options& options,
                                                      const std::vector<double>& sums);

/// Turns sums of the power into the power. `second`: of another set, or nullptr.
void normalize(power_spectrum_result& result, const power_spectrum_options& options, double volume,
               const set_moments& first, const set_moments* second);

}  // namespace quadrat::detail
