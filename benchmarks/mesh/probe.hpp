// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "quadrat/mesh/window.hpp"

namespace quadrat::bench {

/// A mesh function g(i, j, k) = a(i) b(j) c(k) with random factors, by which spreading and interpolating on a periodic
/// cube [-1/2, 1/2)^3 are checked in double precision: interpolating g gives a product of three short sums at every
/// point, and by adjointness the sum of spread(v) g over the mesh is the sum of v interpolate(g) over the points. This
/// is like comparing totals, but it also detects values that go to the wrong place.
class mesh_probe {
 public:
  /// `extent` mesh points along each axis, B-splines of this order.
  mesh_probe(int extent, int order);

  [[nodiscard]] int order() const { return window_.width; }
  /// g interpolated at points given as N x 3; if `derived` is an axis (0 to 2), the derivative with respect to position
  /// along it.
  template <typename T>
  [[nodiscard]] std::vector<double> at_points(const std::vector<T>& coordinates, int derived = -1) const;
  /// Values [x][y][z][components] for interpolation: g, and for the second component g / 2.
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

/// |found - expected| in units of the norm. Throws disagreement when rounding cannot explain it: a single lost or
/// misplaced point out of 10^7 exceeds that.
[[nodiscard]] double require_agreement(double found, const probe_sum& expected, bool single_precision);

}  // namespace quadrat::bench
