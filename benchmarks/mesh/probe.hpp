// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "quadrat/mesh/window.hpp"

namespace quadrat::bench {

/// A mesh function g(i, j, k) = a(i) b(j) c(k) with random factors. It checks spreading and interpolation on a periodic
/// cube [-1/2, 1/2)^3 in double precision. Interpolating g gives a product of three short sums at every point. By
/// adjointness, the sum of spread(v) g over the mesh equals the sum of v interpolate(g) over the points. Unlike a
/// comparison of totals, this also detects values that go to the wrong place.
class mesh_probe {
 public:
  /// `extent` mesh points along each axis, B-splines of this order.
  mesh_probe(int extent, int order);

  [[nodiscard]] int order() const { return window_.width; }
  /// g interpolated at points, N x 3; with `derived` an axis (0 to 2), its derivative along that axis.
  template <typename T>
  [[nodiscard]] std::vector<double> at_points(const std::vector<T>& coordinates, int derived = -1) const;
  /// Mesh values [x][y][z][components] to interpolate: g, and g / 2 for the second component.
  template <typename T>
  [[nodiscard]] std::vector<T> on_mesh(int components) const;
  /// Sum over the mesh of one component of `values` times g.
  template <typename T>
  [[nodiscard]] double over_mesh(const std::vector<T>& values, int components, int component) const;

 private:
  [[nodiscard]] double along(int axis, double place, bool derivative) const;

  int extent_;
  mesh_window<double> window_;
  std::array<std::vector<double>, 3> factor_;
};

/// A sum of values over points, and the scale of its error.
struct probe_sum {
  double sum = 0;
  double norm = 0;  ///< root of the sum of squares
};

/// Sum over the first `count` points of values[i * stride + component] * g[i].
template <typename T>
[[nodiscard]] probe_sum sum_over_points(const std::vector<T>& values, int stride, int component,
                                        const std::vector<double>& g, std::size_t count);

/// |found - expected| in units of the norm. Throws disagreement if rounding cannot explain it; a single lost or
/// misplaced point of 10^7 exceeds that bound.
[[nodiscard]] double require_agreement(double found, const probe_sum& expected, bool single_precision);

}  // namespace quadrat::bench
