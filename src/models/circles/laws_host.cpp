// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include "models/circles/fixed_sum.hpp"
#include "models/circles/kernels.hpp"

namespace quadrat::detail {

namespace {

/// g(s) = sin(2 pi sqrt s) / sqrt s.
[[nodiscard]] long double sine_over_root(long double s) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  // Here the quotient would lose digits, and two terms of the series suffice.
  if (s < 1e-12L) return 2 * pi * (1 - 4 * pi * pi * s / 6);
  const long double root = std::sqrt(s);
  return std::sin(2 * pi * root) / root;
}

/// Chebyshev coefficients on [0, 1] by a discrete cosine transform over enough nodes that aliasing is below rounding.
[[nodiscard]] std::vector<long double> chebyshev_series(std::size_t terms) {
  constexpr std::size_t nodes = 64;
  std::vector<long double> series(terms, 0);
  for (std::size_t node = 0; node < nodes; ++node) {
    const long double angle = std::numbers::pi_v<long double> * (static_cast<long double>(node) + 0.5L) / nodes;
    const long double value = sine_over_root((std::cos(angle) + 1) / 2);
    for (std::size_t k = 0; k < terms; ++k) {
      series[k] += (k == 0 ? 1 : 2) * value * std::cos(static_cast<long double>(k) * angle) / nodes;
    }
  }
  return series;
}

/// The same in powers of t, by T_{k+1} = 2 t T_k - T_{k-1}.
[[nodiscard]] std::vector<long double> in_powers(const std::vector<long double>& series) {
  const std::size_t terms = series.size();
  std::vector<long double> sum(terms, 0);
  std::vector<long double> before(terms, 0);
  std::vector<long double> now(terms, 0);
  now[0] = 1;
  for (std::size_t k = 0; k < terms; ++k) {
    for (std::size_t power = 0; power <= k; ++power) sum[power] += series[k] * now[power];
    std::vector<long double> next(terms, 0);
    for (std::size_t power = 0; power + 1 < terms; ++power) next[power + 1] = (k == 0 ? 1 : 2) * now[power];
    for (std::size_t power = 0; k > 0 && power < terms; ++power) next[power] -= before[power];
    before = now;
    now = next;
  }
  return sum;
}

}  // namespace

template <typename T, int D>
circles_sine_law<T, D> make_sine_law(const circles_parameters& parameters) {
  using law_type = circles_sine_law<T, D>;
  const double reach = parameters.reach();
  law_type law{};
  law.reach = static_cast<T>(reach);
  law.squared_reach = law.reach * law.reach;
  law.scale = static_cast<T>(2 / (reach * reach));
  const std::vector<long double> powers = in_powers(chebyshev_series(law_type::degree + 1));
  for (std::size_t k = 0; k < powers.size(); ++k) {
    law.coefficient[k] = static_cast<T>(-static_cast<long double>(parameters.force) * powers[k] / reach);
  }
  return law;
}

template <typename T, int D>
circles_original_law<T, D> make_original_law(const circles_parameters& parameters, const box<T, D>& domain) {
  circles_original_law<T, D> law{};
  law.reach = static_cast<T>(parameters.reach());
  law.squared_reach = law.reach * law.reach;
  const T inner = static_cast<T>(parameters.radius);
  law.squared_inner = inner * inner;
  law.repulsion = static_cast<T>(parameters.repulsion);
  law.attraction = static_cast<T>(parameters.attraction);
  law.lowest = domain.lower;
  for (int axis = 0; axis < D; ++axis) law.highest[axis] = domain.upper(axis);
  return law;
}

template <typename T, int D>
circles_fixed_law<T, D> make_fixed_law(const circles_parameters& parameters, const box<T, D>& domain) {
  circles_fixed_law<T, D> law{};
  law.sine = parameters.form == circles_form::sine;
  double largest = std::fabs(parameters.force);
  if (law.sine) {
    law.sine_law = make_sine_law<T, D>(parameters);
  } else {
    law.original_law = make_original_law<T, D>(parameters, domain);
    largest = std::max(std::fabs(parameters.repulsion), std::fabs(parameters.attraction)) * parameters.radius;
  }
  law.reach = static_cast<T>(parameters.reach());
  int exponent = 0;
  if (std::isfinite(largest)) std::frexp(largest, &exponent);
  // Both powers are normal numbers. Terms beyond these bounds overflow or move nothing.
  constexpr int most = std::numeric_limits<T>::max_exponent - 10;
  const int power = std::clamp(30 - exponent, -most, most);
  law.scale = std::ldexp(T(1), power);
  law.unit = std::ldexp(T(1), -power);
  return law;
}

circles_length_unit unit_of_moves(const circles_parameters& parameters, int dimension) {
  // The mean pull of neighbors, or from one corner of the box to the other.
  const double largest = parameters.form == circles_form::sine ? std::fabs(parameters.force)
                                                               : parameters.width * std::sqrt(double(dimension));
  int exponent = 0;
  if (std::isfinite(largest)) std::frexp(largest, &exponent);
  return {std::ldexp(1.0, std::clamp(30 - exponent, -1000, 1000))};
}

circles_record averaged(const circles_totals& totals, std::size_t agents) {
  const double count = std::max(static_cast<double>(agents), 1.0);
  circles_record result;
  result.mean_neighbors = static_cast<double>(totals.neighbors) / count;
  const double variance =
      static_cast<double>(totals.squared_neighbors) / count - result.mean_neighbors * result.mean_neighbors;
  result.neighbor_deviation = std::sqrt(std::max(variance, 0.0));
  result.mean_displacement = totals.displacement / count;
  return result;
}

template circles_sine_law<float, 2> make_sine_law(const circles_parameters&);
template circles_sine_law<float, 3> make_sine_law(const circles_parameters&);
template circles_sine_law<double, 2> make_sine_law(const circles_parameters&);
template circles_sine_law<double, 3> make_sine_law(const circles_parameters&);
template circles_original_law<float, 2> make_original_law(const circles_parameters&, const box<float, 2>&);
template circles_original_law<float, 3> make_original_law(const circles_parameters&, const box<float, 3>&);
template circles_original_law<double, 2> make_original_law(const circles_parameters&, const box<double, 2>&);
template circles_original_law<double, 3> make_original_law(const circles_parameters&, const box<double, 3>&);
template circles_fixed_law<float, 2> make_fixed_law(const circles_parameters&, const box<float, 2>&);
template circles_fixed_law<float, 3> make_fixed_law(const circles_parameters&, const box<float, 3>&);
template circles_fixed_law<double, 2> make_fixed_law(const circles_parameters&, const box<double, 2>&);
template circles_fixed_law<double, 3> make_fixed_law(const circles_parameters&, const box<double, 3>&);

}  // namespace quadrat::detail
