// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/mesh/window.hpp"

#include <numbers>
#include <vector>

namespace quadrat {

namespace {

/// Coefficients [j][d] in powers of s of w_j(s) = M_p(s + 1/2 + p - 1 - j), by the recursion
/// M_p(x) = (x M_{p-1}(x) + (p - x) M_{p-1}(x - 1)) / (p - 1), piece by piece.
[[nodiscard]] std::vector<std::vector<long double>> bspline_pieces(int order) {
  // pieces[m] is M_n on [m, m + 1) as a polynomial of s = x - m - 1/2.
  std::vector<std::vector<long double>> pieces{{1.0L}};
  for (int n = 2; n <= order; ++n) {
    std::vector<std::vector<long double>> next(static_cast<std::size_t>(n),
                                               std::vector<long double>(static_cast<std::size_t>(n), 0.0L));
    const auto add = [&](int m, const std::vector<long double>& piece, long double constant, long double slope) {
      for (std::size_t d = 0; d < piece.size(); ++d) {
        next[static_cast<std::size_t>(m)][d] += piece[d] * constant / (n - 1);
        next[static_cast<std::size_t>(m)][d + 1] += piece[d] * slope / (n - 1);
      }
    };
    for (int m = 0; m < n; ++m) {
      if (m < n - 1) add(m, pieces[static_cast<std::size_t>(m)], m + 0.5L, 1.0L);
      if (m > 0) add(m, pieces[static_cast<std::size_t>(m - 1)], n - m - 0.5L, -1.0L);
    }
    pieces = std::move(next);
  }
  return pieces;
}

}  // namespace

template <typename T>
mesh_window<T> bspline_window(int order) {
  constexpr int most = mesh_window<T>::most_fixed_width;
  require(order >= 1 && order <= most, "the order is ", order, "; 1 to ", most, " are possible");
  const auto pieces = bspline_pieces(order);
  mesh_window<T> window{};
  window.width = order;
  window.terms = order;
  window.symmetric = true;
  for (int j = 0; j < order; ++j) {
    const auto& piece = pieces[static_cast<std::size_t>(order - 1 - j)];
    for (int d = 0; d < order; ++d) {
      // The middle piece of an odd order has only even powers, up to rounding.
      const bool vanishes = 2 * j == order - 1 && d % 2 == 1;
      window.coefficient[d][j] = vanishes ? T(0) : static_cast<T>(piece[static_cast<std::size_t>(d)]);
    }
  }
  return window;
}

template mesh_window<float> bspline_window(int order);
template mesh_window<double> bspline_window(int order);

namespace detail {

double fit_point(int index, int terms) { return 0.5 * std::cos(std::numbers::pi * (index + 0.5) / terms); }

void fit_polynomial(const double* samples, int terms, double* coefficients) {
  // Newton's divided differences, then the nested form expanded; in long double, because powers of s cancel.
  std::vector<long double> differences(samples, samples + terms);
  const auto point = [&](int i) { return static_cast<long double>(fit_point(i, terms)); };
  for (int level = 1; level < terms; ++level) {
    for (int i = terms - 1; i >= level; --i) {
      differences[static_cast<std::size_t>(i)] =
          (differences[static_cast<std::size_t>(i)] - differences[static_cast<std::size_t>(i - 1)]) /
          (point(i) - point(i - level));
    }
  }
  std::vector<long double> powers(static_cast<std::size_t>(terms), 0.0L);
  for (int i = terms - 1; i >= 0; --i) {
    // powers = powers * (s - point) + difference
    for (int d = terms - 1; d > 0; --d) {
      powers[static_cast<std::size_t>(d)] =
          powers[static_cast<std::size_t>(d - 1)] - point(i) * powers[static_cast<std::size_t>(d)];
    }
    powers[0] = differences[static_cast<std::size_t>(i)] - point(i) * powers[0];
  }
  for (int d = 0; d < terms; ++d) coefficients[d] = static_cast<double>(powers[static_cast<std::size_t>(d)]);
}

void require_window(int width, int terms) {
  require(width >= 1 && width <= mesh_window<double>::most_width, "the window's width is ", width, "; 1 to ",
          mesh_window<double>::most_width, " are possible");
  require(terms >= 1 && terms <= mesh_window<double>::most_terms, "a fit with ", terms, " terms was asked for; 1 to ",
          mesh_window<double>::most_terms, " are possible");
}

}  // namespace detail

}  // namespace quadrat
