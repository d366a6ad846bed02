// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/long_range/influence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "quadrat/core/error.hpp"
#include "spectral/chebyshev.hpp"

namespace quadrat::detail {

namespace {

/// k^2 transform(k) / (4 pi) as a series of t = 2 (k / largest)^2 - 1.
[[nodiscard]] std::vector<long double> series_of_modes(const ewald_splitting& splitting) {
  constexpr int count = 64;
  constexpr long double exact_pi = std::numbers::pi_v<long double>;
  std::vector<long double> series(count, 0.0L);
  for (int i = 0; i < count; ++i) {
    const long double angle = exact_pi * (i + 0.5L) / count;
    const auto k = static_cast<double>(splitting.largest_mode() * std::cos(angle / 2));
    const long double value = k * k / (4 * exact_pi) * splitting.transform(k);
    for (int d = 0; d < count; ++d) {
      series[static_cast<std::size_t>(d)] += (d == 0 ? 1.0L : 2.0L) / count * value * std::cos(d * angle);
    }
  }
  return series;
}

}  // namespace

template <typename T>
long_range_modes<T> make_long_range_modes(const ewald_splitting& splitting) {
  using kind = typename long_range_modes<T>::kind;
  long_range_modes<T> result{};
  result.at_zero = static_cast<T>(splitting.transform_at_zero());
  result.alpha = static_cast<T>(splitting.parameter());
  result.largest_square = std::numeric_limits<T>::infinity();
  result.of = splitting.law() == pair_law::coulomb ? kind::gaussian_coulomb : kind::gaussian_dispersion;
  if (splitting.shape() == split_shape::gaussian) return result;
  result.of = kind::polynomial_coulomb;
  const double edge = splitting.largest_mode();
  result.largest_square = static_cast<T>(edge * edge);
  const std::vector<long double> series = series_of_modes(splitting);
  // Samples are rounded to double, which limits the last terms.
  const double rounding = std::max(static_cast<double>(std::numeric_limits<T>::epsilon()) / 8, 8e-15);
  result.terms = terms_within(series, rounding);
  require(result.terms <= split_polynomial<T>::most_terms, "the splitting is ", splitting.parameter(),
          ", too large for the method esp");
  const auto values = in_powers(series, result.terms);
  for (int d = 0; d < result.terms; ++d) {
    const auto i = static_cast<std::size_t>(d);
    result.value[d] = static_cast<T>(values[i]);
    if (d > 0) result.slope[d - 1] = static_cast<T>(2 * d * values[i] / (edge * edge));
  }
  return result;
}

template long_range_modes<float> make_long_range_modes(const ewald_splitting&);
template long_range_modes<double> make_long_range_modes(const ewald_splitting&);

}  // namespace quadrat::detail
