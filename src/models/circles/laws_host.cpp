// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "models/circles/force.hpp"

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

template circles_sine_law<float, 2> make_sine_law(const circles_parameters&);
template circles_sine_law<float, 3> make_sine_law(const circles_parameters&);
template circles_sine_law<double, 2> make_sine_law(const circles_parameters&);
template circles_sine_law<double, 3> make_sine_law(const circles_parameters&);
template circles_original_law<float, 2> make_original_law(const circles_parameters&, const box<float, 2>&);
template circles_original_law<float, 3> make_original_law(const circles_parameters&, const box<float, 3>&);
template circles_original_law<double, 2> make_original_law(const circles_parameters&, const box<double, 2>&);
template circles_original_law<double, 3> make_original_law(const circles_parameters&, const box<double, 3>&);

}  // namespace quadrat::detail
