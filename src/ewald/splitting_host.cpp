// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/splitting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "mesh/window_fit.hpp"
#include "quadrat/core/error.hpp"
#include "spectral/chebyshev.hpp"

namespace quadrat::detail {

namespace {

/// The integral of t^(s - 1) exp(-u t) from 0 to 1: the incomplete gamma function over u^s, a series of positive terms.
[[nodiscard]] long double incomplete_gamma(long double s, long double u) {
  if (u > 60) return std::tgamma(s) / std::pow(u, s);  // the remainder is below exp(-60)
  long double term = 1 / s, sum = term;
  for (long double n = 1; term > 1e-20L * sum; ++n) {
    term *= u / (s + n);
    sum += term;
  }
  return std::exp(-u) * sum;
}

/// The Fourier transform of the dispersion term's long-range part at b = k / (2 alpha), over that at 0 (Essmann et al.
/// 1995, eq. 5.6), and its derivative by b^2.
[[nodiscard]] double dispersion_transform(double b) {
  const double root_pi = std::sqrt(pi);
  return (1 - 2 * b * b) * std::exp(-b * b) + 2 * root_pi * b * b * b * std::erfc(b);
}
[[nodiscard]] double dispersion_transform_slope(double b) {
  return -3 * std::exp(-b * b) + 3 * std::sqrt(pi) * b * std::erfc(b);
}

/// psi, its integral from 0 to x divided by x, and their derivatives by x^2: series in Legendre polynomials of even
/// order, and in those of odd order divided by x, whose recurrences do not divide.
struct prolate_values {
  long double value = 0, slope = 0, mean = 0, mean_slope = 0;
};

[[nodiscard]] prolate_values prolate_at(const std::vector<long double>& legendre, long double x) {
  const long double square = x * x;
  long double even = 1, even_slope = 0, odd = 1, odd_slope = 0;  // orders n and n + 1, n = 0
  prolate_values sums{legendre[0], 0, legendre[0], 0};
  for (std::size_t i = 1; i < legendre.size(); ++i) {
    const auto n = static_cast<long double>(2 * i);
    const long double below = odd, below_slope = odd_slope;
    even_slope = ((2 * n - 1) * (odd + square * odd_slope) - (n - 1) * even_slope) / n;
    even = ((2 * n - 1) * square * odd - (n - 1) * even) / n;
    odd_slope = ((2 * n + 1) * even_slope - n * odd_slope) / (n + 1);
    odd = ((2 * n + 1) * even - n * odd) / (n + 1);
    sums.value += legendre[i] * even;
    sums.slope += legendre[i] * even_slope;
    sums.mean += legendre[i] * (odd - below) / (2 * n + 1);
    sums.mean_slope += legendre[i] * (odd_slope - below_slope) / (2 * n + 1);
  }
  return sums;
}

/// psi alone.
[[nodiscard]] long double prolate_value(const std::vector<long double>& legendre, long double x) {
  const long double square = x * x;
  long double even = 1, odd = 1, sum = legendre[0];
  for (std::size_t i = 1; i < legendre.size(); ++i) {
    const auto n = static_cast<long double>(2 * i);
    even = ((2 * n - 1) * square * odd - (n - 1) * even) / n;
    odd = ((2 * n + 1) * even - n * odd) / (n + 1);
    sum += legendre[i] * even;
  }
  return sum;
}

/// The first zero of psi beyond 1. Near there psi is about J0(c sqrt(x^2 - 1)), whose first zero is 2.4048.
[[nodiscard]] double first_zero(const std::vector<long double>& legendre, double band) {
  double low = 1, high = std::hypot(1, 3 / band);
  while (high - low > 1e-12) {
    const double middle = 0.5 * (low + high);
    (prolate_value(legendre, middle) > 0 ? low : high) = middle;
  }
  return low;
}

}  // namespace

ewald_splitting::ewald_splitting(pair_law law, split_shape shape, double cutoff, double parameter)
    : law_(law), shape_(shape), cutoff_(cutoff), parameter_(parameter) {
  require(cutoff > 0 && std::isfinite(cutoff), "the cutoff is ", cutoff, "; it must be positive and finite");
  require(parameter > 0 && std::isfinite(parameter), "the splitting is ", parameter,
          "; it must be positive and finite");
  if (shape == split_shape::gaussian) return;
  require(law == pair_law::coulomb, "the prolate splitting serves Coulomb's law only");
  require(parameter <= most_band, "the splitting is ", parameter, "; at most ", most_band, " is possible (prolate)");
  legendre_ = prolate_function(parameter).coefficients();
  // psi over its integral from 0 to 1, which is the coefficient of order 0: then long_range is the mean over cutoff.
  const long double integral = legendre_[0];
  for (long double& x : legendre_) x /= integral;
  peak_ = prolate_value(legendre_, 0);
  last_ = first_zero(legendre_, parameter);
}

ewald_splitting ewald_splitting::scaled(double cutoff) const {
  ewald_splitting result = *this;
  if (shape_ == split_shape::gaussian) result.parameter_ *= cutoff_ / cutoff;
  result.cutoff_ = cutoff;
  return result;
}

ewald_splitting::values ewald_splitting::at(long double r) const {
  const long double rc = cutoff_, a = parameter_, square = (a * r) * (a * r);
  if (shape_ == split_shape::prolate) {
    if (r >= rc) return {1 / r, -1 / (2 * r * r * r)};
    const prolate_values psi = prolate_at(legendre_, r / rc);
    return {psi.mean / rc, psi.mean_slope / (rc * rc * rc)};
  }
  if (law_ == pair_law::coulomb) {
    const long double unit = a / std::sqrt(std::numbers::pi_v<long double>);
    return {unit * incomplete_gamma(0.5L, square), -unit * a * a * incomplete_gamma(1.5L, square)};
  }
  const long double sixth = std::pow(a, 6.0L);
  return {sixth / 2 * incomplete_gamma(3, square), -sixth * a * a / 2 * incomplete_gamma(4, square)};
}

double ewald_splitting::long_range(double r) const { return static_cast<double>(at(r).value); }
double ewald_splitting::long_range_slope(double r) const { return static_cast<double>(at(r).slope); }

double ewald_splitting::short_range_force(double r) const {
  if (shape_ == split_shape::prolate) {
    return r >= cutoff_ ? 0.0 : 1 / (r * r) + 2 * r * long_range_slope(r);
  }
  const double a = parameter_, u = (a * r) * (a * r);
  if (law_ == pair_law::coulomb) return (std::erfc(a * r) / r + 2 * a / std::sqrt(pi) * std::exp(-u)) / r;
  return std::exp(-u) * (6 + u * (6 + u * (3 + u))) / std::pow(r, 7);
}

double ewald_splitting::transform(double k) const {
  const double a = parameter_;
  if (shape_ == split_shape::prolate) {
    if (k > largest_mode()) return 0;
    return static_cast<double>(4 * pi / (k * k) * prolate_value(legendre_, k * cutoff_ / a) / peak_);
  }
  if (law_ == pair_law::coulomb) return 4 * pi / (k * k) * std::exp(-k * k / (4 * a * a));
  return transform_at_zero() * dispersion_transform(k / (2 * a));
}

double ewald_splitting::transform_slope(double k) const {
  const double a = parameter_, square = k * k;
  if (shape_ == split_shape::prolate) {
    if (k > largest_mode()) return 0;
    const double edge = a / cutoff_;
    const prolate_values psi = prolate_at(legendre_, k / edge);
    return static_cast<double>(4 * pi / square * (psi.slope / (edge * edge) - psi.value / square) / peak_);
  }
  if (law_ == pair_law::coulomb) return -transform(k) * (1 / square + 1 / (4 * a * a));
  return transform_at_zero() * dispersion_transform_slope(k / (2 * a)) / (4 * a * a);
}

double ewald_splitting::transform_at_zero() const {
  const double a = parameter_;
  if (shape_ == split_shape::prolate) {
    // 4 pi / k^2 psi(k / edge) / psi(0), less 4 pi / k^2.
    const prolate_values psi = prolate_at(legendre_, 0);
    return static_cast<double>(4 * pi * psi.slope / psi.value) * (cutoff_ * cutoff_) / (a * a);
  }
  if (law_ == pair_law::coulomb) return -pi / (a * a);
  return pi * std::sqrt(pi) * a * a * a / 3;
}

double ewald_splitting::largest_mode() const {
  return shape_ == split_shape::prolate ? last_ * parameter_ / cutoff_ : std::numeric_limits<double>::infinity();
}

namespace {

struct split_series {
  std::vector<long double> value, slope;
};

/// long_range and its derivative by (r / cutoff)^2, in units of the pair's energy at the cutoff, as sums of Chebyshev's
/// polynomials of t = 2 (r / cutoff)^2 - 1.
[[nodiscard]] split_series series_of(const ewald_splitting& splitting, long double unit) {
  constexpr int count = 64;
  const long double rc = splitting.cutoff();
  split_series series{std::vector<long double>(count, 0.0L), std::vector<long double>(count, 0.0L)};
  long double cosine[4 * count];  // of i pi / (2 count)
  for (int i = 0; i < 4 * count; ++i) cosine[i] = std::cos(std::numbers::pi_v<long double> * i / (2 * count));
  for (int i = 0; i < count; ++i) {
    // The sample's t is the cosine of twice this angle.
    const auto sample = splitting.at(rc * std::cos(std::numbers::pi_v<long double> * (i + 0.5L) / (2 * count)));
    for (int d = 0; d < count; ++d) {
      const long double weight = (d == 0 ? unit : 2 * unit) / count * cosine[(2 * i + 1) * d % (4 * count)];
      series.value[static_cast<std::size_t>(d)] += weight * sample.value;
      series.slope[static_cast<std::size_t>(d)] += weight * sample.slope * rc * rc;
    }
  }
  return series;
}

}  // namespace

template <typename T>
split_polynomial<T> make_split_polynomial(const ewald_splitting& splitting, double tolerance) {
  const double rc = splitting.cutoff();
  const double unit = splitting.law() == pair_law::coulomb ? rc : std::pow(rc, 6);
  const split_series series = series_of(splitting, unit);
  const double rounding = 0.25 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto terms_for = [&](const std::vector<long double>& sums, double wanted, double peak) {
    return terms_within(sums, std::max(wanted, rounding * std::fabs(peak)));
  };
  // The force is at most twice the slope.
  const int terms = std::max(terms_for(series.value, tolerance, splitting.long_range(0) * unit),
                             terms_for(series.slope, 0.5 * tolerance, splitting.long_range_slope(0) * unit * rc * rc));
  require(terms <= split_polynomial<T>::most_terms, "the splitting is ", splitting.parameter(), " with a cutoff of ",
          rc, ": the short-range part is below rounding long before the cutoff; a smaller cutoff or splitting serves");
  split_polynomial<T> result{};
  result.cutoff = static_cast<T>(rc);
  result.squared_cutoff = static_cast<T>(rc * rc);
  result.scale = static_cast<T>(2 / (rc * rc));
  result.terms = terms;
  const auto values = in_powers(series.value, terms), slopes = in_powers(series.slope, terms);
  for (int d = 0; d < terms; ++d) {
    const auto i = static_cast<std::size_t>(d);
    result.value[d] = static_cast<T>(values[i] / unit);
    result.slope[d] = static_cast<T>(slopes[i] / (static_cast<long double>(unit) * rc * rc));
  }
  return result;
}

template split_polynomial<float> make_split_polynomial(const ewald_splitting&, double);
template split_polynomial<double> make_split_polynomial(const ewald_splitting&, double);

}  // namespace quadrat::detail
