// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "quadrat/mesh/window.hpp"

/// Computing named windows and Fourier transforms of windows. Host only.
namespace quadrat::detail {

/// quadrat::named_window with pieces accurate to `accuracy` of the peak, or to rounding if that is larger.
template <typename T>
[[nodiscard]] mesh_window<T> named_window(window_shape shape, int width, double oversampling, double accuracy);

/// The band of the named prolate window with the least error, as a fraction of the band up to the nearest alias.
[[nodiscard]] double prolate_part(int width);

/// The prolate window with this band limit of its half width.
template <typename T>
[[nodiscard]] mesh_window<T> prolate_window(int width, double band, double accuracy);

/// The prolate spheroidal wave function of order 0 on [-1, 1], whose value at 0 is 1: of all functions on that interval
/// the one with the greatest part of its energy at angular frequencies below `band`.
class prolate_function {
 public:
  explicit prolate_function(double band);
  [[nodiscard]] double operator()(double x) const { return static_cast<double>(sum(x)); }
  /// The derivative of the function.
  [[nodiscard]] double slope(double x) const;
  /// The coefficients of the Legendre polynomials of even order: 0, 2, 4, ...
  [[nodiscard]] const std::vector<long double>& coefficients() const { return coefficients_; }

 private:
  [[nodiscard]] long double sum(long double x) const;

  std::vector<long double> coefficients_;  ///< of the Legendre polynomials of even order
};

struct quadrature_node {
  double place;
  double weight;
};

/// Gauss-Legendre quadrature on (-1/2, 1/2); exact for polynomials of degree 2 count - 1.
[[nodiscard]] std::vector<quadrature_node> gauss_legendre(int count);

/// The transform of an even window at frequencies (in periods per mesh unit) up to `frequency` is the sum over these
/// nodes of weight * cos(2 pi frequency place).
template <typename T>
[[nodiscard]] std::vector<quadrature_node> transform_nodes(const mesh_window<T>& window, double frequency);

}  // namespace quadrat::detail
