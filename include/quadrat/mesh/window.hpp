// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"

/// Separable windows: how the value of a particle is divided among the mesh points around it, axis by axis.
namespace quadrat {

/// A window of `width` mesh points along an axis, as `width` polynomials of the particle's position between mesh
/// points. With u the position in mesh units and p the width, the particle's first mesh point is floor(u - p/2) + 1,
/// and with s = u - p/2 - floor(u - p/2) - 1/2, in [-1/2, 1/2), mesh point first + j receives w_j(s) = sum over d of
/// coefficient[d][j] s^d. Cardinal B-splines have exactly this form; any other window is fitted, to rounding.
template <typename T>
struct mesh_window {
  static constexpr int most_width = 16;
  static constexpr int most_terms = 20;
  /// Methods have a separate loop for each width up to this one, and one loop for all wider windows.
  static constexpr int most_fixed_width = 8;

  int width;
  int terms;       ///< coefficients of each polynomial
  bool symmetric;  ///< whether w_{p-1-j}(s) = w_j(-s) exactly: weights then cost half
  T coefficient[most_terms][most_width];

  /// The `Width` weights at s. Width must be `width`. Loops have constant bounds, so that GPU kernels read coefficients
  /// directly from their arguments.
  template <int Width>
  QUADRAT_HD void weights(T s, T* w) const {
    evaluate<Width, false>(s, w, nullptr);
  }

  /// The same, and their derivatives with respect to u, in less than twice the time.
  template <int Width>
  QUADRAT_HD void weights_and_derivatives(T s, T* w, T* derivatives) const {
    evaluate<Width, true>(s, w, derivatives);
  }

  /// Weight j at s, for any width.
  [[nodiscard]] QUADRAT_HD T weight(int j, T s) const {
    T w = T(0);
    for (int d = terms - 1; d >= 0; --d) w = w * s + coefficient[d][j];
    return w;
  }
  /// Its derivative with respect to u.
  [[nodiscard]] QUADRAT_HD T derivative(int j, T s) const {
    T w = T(0);
    for (int d = terms - 1; d >= 1; --d) w = w * s + static_cast<T>(d) * coefficient[d][j];
    return w;
  }

  /// The Fourier transform of an even window w at mode `mode` of a mesh of `points` points along an axis: the integral
  /// of w(x) cos(2 pi x mode / points) over all x, in mesh units. A mode of the spread mesh is the mode of the values
  /// times this, up to aliases. Division by it (deconvolution) undoes the spreading, axis by axis. It is computed from
  /// the polynomials, by Gauss-Legendre quadrature, so that it matches the weights to rounding.
  [[nodiscard]] double transform(double mode, double points) const;
  /// The same for the modes 0, 1, ..., count - 1.
  [[nodiscard]] std::vector<double> transforms(int count, double points) const;

 private:
  template <int Width, bool Derivatives>
  QUADRAT_HD void evaluate(T s, T* w, T* derivatives) const {
    if (terms == Width && symmetric) {  // B-splines
      halves<Width, Derivatives>(s, w, derivatives);
    } else if (terms == Width) {
      polynomials<Width, Width, Derivatives>(s, w, derivatives);
    } else {
      polynomials<Width, most_terms, Derivatives>(s, w, derivatives);
    }
  }

  /// Weights that mirror each other: the even and the odd powers of s.
  template <int Width, bool Derivatives>
  QUADRAT_HD void halves(T s, T* w, T* derivatives) const {
    const T square = s * s;
    QUADRAT_UNROLL
    for (int j = 0; j < (Width + 1) / 2; ++j) {
      const bool middle = 2 * j == Width - 1;
      T even_slope = T(0), odd_slope = T(0);  // by s^2
      const T even = alternate<Width, Derivatives>(j, (Width - 1) / 2 * 2, square, even_slope);
      const T rest = Width > 1 ? alternate<Width, Derivatives>(j, (Width - 2) / 2 * 2 + 1, square, odd_slope) : T(0);
      const T odd = s * rest;
      w[j] = even + odd;
      w[Width - 1 - j] = middle ? even : even - odd;
      if (!Derivatives) continue;
      const T across = 2 * s * even_slope, along = rest + 2 * square * odd_slope;
      derivatives[j] = across + along;
      derivatives[Width - 1 - j] = middle ? across : across - along;
    }
  }

  /// Every other term of polynomial j, from term `last` down, in powers of s^2; and its derivative by s^2.
  template <int Width, bool Derivatives>
  QUADRAT_HD T alternate(int j, int last, T square, T& slope) const {
    T sum = coefficient[last][j];
    QUADRAT_UNROLL
    for (int d = last - 2; d >= 0; d -= 2) {
      if (Derivatives) slope = slope * square + sum;
      sum = sum * square + coefficient[d][j];
    }
    return sum;
  }

  template <int Width, int Terms, bool Derivatives>
  QUADRAT_HD void polynomials(T s, T* w, T* derivatives) const {
    QUADRAT_UNROLL
    for (int j = 0; j < Width; ++j) {
      w[j] = T(0);
      if (Derivatives) derivatives[j] = T(0);
    }
    QUADRAT_UNROLL
    for (int d = Terms - 1; d >= 0; --d) {
      if (Terms == Width || d < terms) {
        QUADRAT_UNROLL
        for (int j = 0; j < Width; ++j) {
          if (Derivatives) derivatives[j] = derivatives[j] * s + w[j];
          w[j] = w[j] * s + coefficient[d][j];
        }
      }
    }
  }
};

/// The cardinal B-spline M_p of order p: mesh point k receives M_p(u - k + p/2). Source: particle-mesh-spreading,
/// section 2 (Essmann et al. 1995). Throws argument_error unless the order is 1 to 8.
template <typename T>
[[nodiscard]] mesh_window<T> bspline_window(int order);

/// Windows with names. All are even.
enum class window_shape {
  bspline,                   ///< the cardinal B-spline whose order is the width, 1 to 8; the oversampling is not used
  prolate,                   ///< the prolate spheroidal wave function of order 0: the least energy outside its band
  kaiser_bessel,             ///< I0(b sqrt(1 - (2x/w)^2)) / I0(b)
  exponential_of_semicircle  ///< exp(b (sqrt(1 - (2x/w)^2) - 1))
};

/// A named window `width` mesh points wide for non-uniform Fourier transforms on a mesh with `oversampling` times as
/// many points per axis as modes. Its parameter b is f pi w (1 - 1 / (2 oversampling)), f times the product of half its
/// width and the frequency of the nearest alias, with f = min(0.98, 0.88 + 0.014 w), where errors are about least. Each
/// piece is fitted by the polynomial of fewest terms that is accurate to the rounding of T (the exponential of a
/// semicircle: to its jump at the edge). The peak is 1, of a B-spline M_p(p/2). Computed on the host. Throws
/// argument_error unless the width is 1 to 16 (prolate and the two others: 2 to 16) and the oversampling above 1 and at
/// most 8.
template <typename T>
[[nodiscard]] mesh_window<T> named_window(window_shape shape, int width, double oversampling = 2);

namespace detail {

/// Coefficients, in powers of s, of the polynomial through samples at the Chebyshev points that `fit_point` gives.
/// Samples and coefficients: `terms` of them.
void fit_polynomial(const double* samples, int terms, double* coefficients);
[[nodiscard]] double fit_point(int index, int terms);
void require_window(int width, int terms);

}  // namespace detail

/// A window given by the caller: `shape(x)` with x = u - k, the distance from mesh point k in mesh units, is evaluated
/// on (-width/2, width/2), where it must be smooth between mesh points; outside it counts as zero. Each of the `width`
/// pieces is fitted by a polynomial of `terms` coefficients through Chebyshev points, which converges geometrically
/// where the shape is smooth up to its edge; the exponential of a semicircle is not, and is fitted to about the size of
/// its jump there (exp(-13.8) of the peak: 6e-7 with 8 terms, 3e-7 with 16). `shape` is called on the host, only during
/// this call. Throws argument_error unless 1 <= width <= 16, 1 <= terms <= 20 and all values of `shape` are finite.
template <typename T, typename Shape>
[[nodiscard]] mesh_window<T> fitted_window(int width, int terms, const Shape& shape) {
  detail::require_window(width, terms);
  mesh_window<T> window{};
  window.width = width;
  window.terms = terms;
  for (int j = 0; j < width; ++j) {
    double samples[mesh_window<T>::most_terms];
    double coefficients[mesh_window<T>::most_terms];
    for (int i = 0; i < terms; ++i) {
      // u - first = s + p/2 - 1/2, so the distance from mesh point first + j is that minus j.
      const double x = detail::fit_point(i, terms) + 0.5 * width - 0.5 - j;
      samples[i] = static_cast<double>(shape(x));
      require(std::isfinite(samples[i]), "the window's shape is ", samples[i], " at distance ", x,
              "; it must be finite");
    }
    detail::fit_polynomial(samples, terms, coefficients);
    for (int d = 0; d < terms; ++d) window.coefficient[d][j] = static_cast<T>(coefficients[d]);
  }
  return window;
}

}  // namespace quadrat
