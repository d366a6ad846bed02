// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <numbers>
#include <vector>

#include "quadrat/core/macros.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/ewald/ewald_pair.hpp"

/// The splitting of the energy of a pair: law(r) = short_range(r) + long_range(r), where law(r) is 1/r or 1/r^6, for
/// unit charges and k = 1. long_range is smooth, even in r, and finite at 0; short_range is negligible (Gaussian) or 0
/// (prolate) from the cutoff on.
namespace quadrat::detail {

inline constexpr double pi = std::numbers::pi;

enum class split_shape {
  gaussian,  ///< long_range = erf(alpha r) / r; dispersion: the split of Essmann et al. 1995, section V
  /// long_range = (integral of psi from 0 to r / cutoff) / (integral from 0 to 1) / r, with the prolate spheroidal wave
  /// function psi of order 0 and band limit c: exactly 1 / r from the cutoff on (arXiv 2505.09727).
  prolate
};

/// A splitting on the host, in double precision.
class ewald_splitting {
 public:
  static constexpr double most_band = 60;  ///< the largest prolate parameter; 40 is beyond rounding in double

  /// `parameter`: alpha, or c. Prolate serves Coulomb's law only.
  ewald_splitting(pair_law law, split_shape shape, double cutoff, double parameter);

  /// The same shape at another length: Gaussian with the same alpha * cutoff, prolate with the same c.
  [[nodiscard]] ewald_splitting scaled(double cutoff) const;

  [[nodiscard]] pair_law law() const { return law_; }
  [[nodiscard]] split_shape shape() const { return shape_; }
  [[nodiscard]] double cutoff() const { return cutoff_; }
  [[nodiscard]] double parameter() const { return parameter_; }

  struct values {
    long double value;
    long double slope;  ///< derivative by r^2
  };
  /// long_range and its slope, at any r >= 0.
  [[nodiscard]] values at(long double r) const;
  /// long_range at any r >= 0, to about 1e-15 of its value at 0.
  [[nodiscard]] double long_range(double r) const;
  /// Its derivative by r^2.
  [[nodiscard]] double long_range_slope(double r) const;
  /// Minus the derivative of short_range by r, for r > 0, without cancellation: small where short_range is small.
  [[nodiscard]] double short_range_force(double r) const;

  /// The Fourier transform of long_range, the integral of long_range(|x|) exp(-i k x): Gaussian, Coulomb's law: 4 pi /
  /// k^2 exp(-k^2 / 4 alpha^2). k > 0.
  [[nodiscard]] double transform(double k) const;
  /// Its derivative by k^2.
  [[nodiscard]] double transform_slope(double k) const;
  /// The substitute for transform(0). For 1/r: minus the integral of short_range over space, the finite part that a
  /// neutralizing background leaves. For 1/r^6: the transform's value at 0.
  [[nodiscard]] double transform_at_zero() const;
  /// Modes above this are left out: infinity (Gaussian), or the first zero of psi(k cutoff / c), just above c / cutoff:
  /// psi falls steeply there, and modes at the end would count as much as many beyond it.
  [[nodiscard]] double largest_mode() const;

 private:
  pair_law law_;
  split_shape shape_;
  double cutoff_;
  double parameter_;
  std::vector<long double> legendre_{};  // of psi, even orders
  long double peak_ = 1;                 // psi(0)
  double last_ = 1;                      // the first zero of psi beyond 1
};

/// Uses the fewest terms (a multiple of 4) with an error of the force of at most `tolerance` / cutoff^2 (1/r^6: /
/// cutoff^7) and of the value of at most `tolerance` / cutoff (/ cutoff^6), or the rounding of T.
template <typename T>
[[nodiscard]] split_polynomial<T> make_split_polynomial(const ewald_splitting& splitting, double tolerance);

}  // namespace quadrat::detail
