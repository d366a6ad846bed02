// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/splitting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "mesh/window_fit.hpp"
#include "quadrat/core/error.hpp"

namespace {

using quadrat::argument_error;
using quadrat::pair_law;
using quadrat::detail::ewald_splitting;
using quadrat::detail::make_split_polynomial;
using quadrat::detail::split_shape;

constexpr double pi = std::numbers::pi;
constexpr double cutoff = 2.7;

[[nodiscard]] std::vector<ewald_splitting> coulomb_splittings() {
  std::vector<ewald_splitting> all;
  for (const double x : {0.5, 2.5, 3.5, 6.0})
    all.emplace_back(pair_law::coulomb, split_shape::gaussian, cutoff, x / cutoff);
  for (const double c : {3.0, 12.0, 25.0, 40.0}) all.emplace_back(pair_law::coulomb, split_shape::prolate, cutoff, c);
  return all;
}

[[nodiscard]] std::vector<ewald_splitting> all_splittings() {
  std::vector<ewald_splitting> all = coulomb_splittings();
  for (const double x : {0.5, 2.5, 4.0, 6.0}) {
    all.emplace_back(pair_law::dispersion, split_shape::gaussian, cutoff, x / cutoff);
  }
  return all;
}

[[nodiscard]] std::string name(const ewald_splitting& split) {
  return quadrat::message(split.law() == pair_law::coulomb ? "Coulomb" : "dispersion", ", ",
                          split.shape() == split_shape::gaussian ? "Gaussian" : "prolate", ", ", split.parameter());
}

/// The exponent n of 1/r^n.
[[nodiscard]] int exponent(const ewald_splitting& split) { return split.law() == pair_law::coulomb ? 1 : 6; }

/// By Gauss-Legendre quadrature on `pieces` pieces.
[[nodiscard]] double integral(double from, double to, int pieces, const std::function<double(double)>& f) {
  const auto nodes = quadrat::detail::gauss_legendre(12);
  const double width = (to - from) / pieces;
  double sum = 0;
  for (int i = 0; i < pieces; ++i) {
    for (const auto& node : nodes) sum += node.weight * width * f(from + width * (i + 0.5 + node.place));
  }
  return sum;
}

TEST(ewald_splitting, both_parts_together_are_the_law) {
  for (const ewald_splitting& split : all_splittings()) {
    const int n = exponent(split);
    for (double r = 0.3 * cutoff; r < 3 * cutoff; r += 0.037) {
      // short_range(r) as the integral of its force from r to where it is negligible.
      const double far =
          split.shape() == split_shape::prolate ? std::max(r, cutoff) : std::max(1.2 * r, 16 / split.parameter());
      const auto force = [&](double log_r) { return std::exp(log_r) * split.short_range_force(std::exp(log_r)); };
      const double short_range = integral(std::log(r), std::log(far), 60, force);
      const double law = std::pow(r, -n);
      EXPECT_NEAR(short_range + split.long_range(r), law, 1e-12 * law) << name(split) << " at " << r;
    }
  }
}

TEST(ewald_splitting, prolate_splitting_is_exactly_the_law_from_the_cutoff_on) {
  const ewald_splitting split(pair_law::coulomb, split_shape::prolate, cutoff, 20);
  EXPECT_NEAR(split.long_range(cutoff * (1 - 1e-12)), 1 / cutoff, 1e-12);
  EXPECT_EQ(split.long_range(4), 0.25);
  EXPECT_EQ(split.short_range_force(4), 0);
  EXPECT_EQ(split.long_range_slope(4), -0.5 / 64);
}

TEST(ewald_splitting, derivatives_are_those_of_the_values) {
  for (const ewald_splitting& split : all_splittings()) {
    const double peak = std::fabs(split.long_range_slope(0));
    for (double r = 0.05; r < 2 * cutoff; r += 0.0613) {
      const double h = 1e-4 * cutoff;
      if (std::fabs(r - cutoff) < 2 * h) continue;  // a prolate splitting's second derivative jumps there
      const double slope = (split.long_range(r + h) - split.long_range(r - h)) / (4 * h * r);
      EXPECT_NEAR(split.long_range_slope(r), slope, 3e-7 * peak) << name(split) << " at " << r;
    }
    const double edge = std::min(split.largest_mode(), 12 * split.parameter());
    for (double k = 0.1 * edge; k < 0.95 * edge; k += 0.07 * edge) {
      const double h = 1e-4 * k;
      const double slope = (split.transform(k + h) - split.transform(k - h)) / (4 * h * k);
      EXPECT_NEAR(split.transform_slope(k), slope, 1e-4 * std::fabs(slope)) << name(split) << " at " << k;
    }
  }
}

TEST(ewald_splitting, values_near_zero_are_smooth) {
  for (const ewald_splitting& split : all_splittings()) {
    for (const double r : {1e-200, 1e-12, 1e-5}) {
      EXPECT_NEAR(split.long_range(r), split.long_range(0), 1e-8 * split.long_range(0)) << name(split);
      EXPECT_NEAR(split.long_range_slope(r), split.long_range_slope(0), 1e-8 * std::fabs(split.long_range_slope(0)));
    }
  }
}

TEST(ewald_splitting, coulomb_transform_is_the_integral_of_its_definition) {
  // 4 pi / k^2 of 1/r, less that of the short-range part: the integral of 4 pi r^2 short_range sin(k r) / (k r).
  for (const ewald_splitting& split : coulomb_splittings()) {
    const bool prolate = split.shape() == split_shape::prolate;
    const double far = prolate ? cutoff : 7 / split.parameter();
    const auto short_range = [&](double r) { return 1 - r * split.long_range(r); };  // times r
    const double edge = prolate ? split.largest_mode() : 8 * split.parameter();
    for (const double part : {0.05, 0.2, 0.5, 0.9}) {
      const double k = part * edge;
      const double sum = integral(0, far, 60, [&](double r) { return short_range(r) * std::sin(k * r); });
      EXPECT_NEAR(split.transform(k), 4 * pi / (k * k) - 4 * pi / k * sum, 1e-11 / (k * k))
          << name(split) << " at " << k;
    }
    const double zero = integral(0, far, 60, [&](double r) { return r * short_range(r); });
    EXPECT_NEAR(split.transform_at_zero(), -4 * pi * zero, 1e-12 * 4 * pi * zero) << name(split);
  }
}

TEST(ewald_splitting, dispersion_transform_is_the_integral_of_its_definition) {
  for (const ewald_splitting& split : all_splittings()) {
    if (split.law() != pair_law::dispersion) continue;
    const double a = split.parameter(), far = 600 / a;  // the rest is below 4 pi / (3 far^3)
    const double zero = integral(0, far, 400, [&](double r) { return 4 * pi * r * r * split.long_range(r); });
    EXPECT_NEAR(split.transform_at_zero(), zero, 1e-7 * zero) << name(split);
    for (const double k : {0.2 * a, a, 4 * a}) {
      const double sum =
          integral(0, far, 2000, [&](double r) { return 4 * pi * r * split.long_range(r) * std::sin(k * r) / k; });
      EXPECT_NEAR(split.transform(k), sum, 1e-9 * zero) << name(split) << " at " << k;
    }
    EXPECT_NEAR(split.transform(1e-9 * a), split.transform_at_zero(), 1e-12 * zero);
  }
}

TEST(ewald_splitting, prolate_transform_ends_at_its_largest_mode) {
  const ewald_splitting split(pair_law::coulomb, split_shape::prolate, cutoff, 20);
  EXPECT_GT(split.largest_mode(), 20 / cutoff);
  EXPECT_LT(split.largest_mode(), 20.2 / cutoff);
  EXPECT_GT(split.transform(0.999 * split.largest_mode()), 0);
  EXPECT_EQ(split.transform(1.001 * split.largest_mode()), 0);
  EXPECT_EQ(split.transform_slope(1.001 * split.largest_mode()), 0);
  EXPECT_TRUE(std::isinf(ewald_splitting(pair_law::coulomb, split_shape::gaussian, cutoff, 1).largest_mode()));
}

/// Errors of values and forces, in units of the pair's energy and force at the cutoff.
template <typename T>
void expect_polynomial_within(const ewald_splitting& split, double tolerance) {
  const auto polynomial = make_split_polynomial<T>(split, tolerance);
  EXPECT_EQ(polynomial.terms % 4, 0);
  const int n = exponent(split);
  const double unit = std::pow(cutoff, n), rounding = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const double value_limit = tolerance + rounding * unit * split.long_range(0);
  const double force_limit = tolerance + 2 * rounding * unit * cutoff * cutoff * std::fabs(split.long_range_slope(0));
  for (int i = 0; i < 500; ++i) {  // at the cutoff itself the slope of a prolate splitting jumps
    const T square = static_cast<T>(cutoff * cutoff * i / 499.5);
    const double r = std::sqrt(static_cast<double>(square));
    const auto sums = polynomial.at(square);
    EXPECT_NEAR(static_cast<double>(sums.value), split.long_range(r), value_limit / unit) << name(split) << " at " << r;
    EXPECT_NEAR(2 * r * static_cast<double>(sums.slope), 2 * r * split.long_range_slope(r), force_limit / unit / cutoff)
        << name(split) << " at " << r;
  }
}

TEST(split_polynomial, keeps_to_its_tolerance_or_rounding) {
  for (const ewald_splitting& split : all_splittings()) {
    for (const double tolerance : {1e-2, 1e-4, 1e-6}) expect_polynomial_within<float>(split, tolerance);
    for (const double tolerance : {1e-3, 1e-7, 1e-10, 1e-16}) expect_polynomial_within<double>(split, tolerance);
  }
}

TEST(split_polynomial, has_more_terms_for_less_error) {
  const ewald_splitting split(pair_law::coulomb, split_shape::gaussian, cutoff, 3.5 / cutoff);
  int before = 0;
  for (const double tolerance : {1e-2, 1e-5, 1e-8, 1e-11}) {
    const int terms = make_split_polynomial<double>(split, tolerance).terms;
    EXPECT_GT(terms, before);
    before = terms;
  }
}

TEST(ewald_splitting, impossible_parameters_are_named) {
  const auto complaint = [](auto&& make) -> std::string {
    try {
      make();
    } catch (const argument_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint([] { ewald_splitting(pair_law::coulomb, split_shape::gaussian, -1, 1); }),
            "the cutoff is -1; it must be positive and finite");
  EXPECT_EQ(complaint([] { ewald_splitting(pair_law::coulomb, split_shape::gaussian, 1, NAN); }),
            "the splitting is nan; it must be positive and finite");
  EXPECT_EQ(complaint([] { ewald_splitting(pair_law::coulomb, split_shape::prolate, 1, 61); }),
            "the splitting is 61; at most 60 is possible (prolate)");
  EXPECT_EQ(complaint([] { ewald_splitting(pair_law::dispersion, split_shape::prolate, 1, 10); }),
            "the prolate splitting serves Coulomb's law only");
  EXPECT_NE(complaint([] {
              (void)make_split_polynomial<double>(ewald_splitting(pair_law::coulomb, split_shape::gaussian, 1, 40),
                                                  1e-15);
            }).find("a smaller cutoff or splitting serves"),
            std::string::npos);
}

}  // namespace
