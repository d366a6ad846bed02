// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/mesh/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "reference/spread.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

template <typename T>
class mesh_window_test : public testing::Test {
 protected:
  static constexpr T epsilon = std::numeric_limits<T>::epsilon();
};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(mesh_window_test, precisions);

/// Calls f(std::integral_constant<int, Width>) for 1 to 8.
template <typename F>
void for_each_width(F&& f) {
  [&]<int... Widths>(std::integer_sequence<int, Widths...>) {
    (f(std::integral_constant<int, Widths + 1>{}), ...);
  }(std::make_integer_sequence<int, mesh_window<float>::most_fixed_width>{});
}

/// Places between mesh points: the ends, numbers next to them, and some in between.
template <typename T>
std::vector<T> places() {
  std::vector<T> result{T(-0.5), std::nextafter(T(-0.5), T(0)), T(0), std::nextafter(T(0.5), T(0))};
  for (int i = 1; i < 64; ++i) result.push_back(T(i) / T(64) - T(0.5) + T(0.003));
  return result;
}

/// The distance x = u - k from mesh point first + j at a place.
template <typename T>
long double distance(T place, int width, int j) {
  return static_cast<long double>(place) + 0.5L * width - 0.5L - j;
}

template <typename T>
struct window_errors {
  T weight = 0;
  T derivative = 0;
  T total = 0;             ///< deviation of the sum of weights from 1
  T derivative_total = 0;  ///< deviation from 0
};

/// The deviation of a window from the functions that it represents.
template <int Width, typename T>
window_errors<T> errors_of(const mesh_window<T>& window, const reference::spread_window& wanted) {
  window_errors<T> errors;
  for (const T s : places<T>()) {
    T weight[Width], alone[Width], derivative[Width];
    window.template weights<Width>(s, alone);
    window.template weights_and_derivatives<Width>(s, weight, derivative);
    EXPECT_TRUE(std::equal(weight, weight + Width, alone)) << s;
    T total = T(0), derivative_total = T(0);
    for (int j = 0; j < Width; ++j) {
      const long double x = distance(s, Width, j);
      errors.weight = std::max(errors.weight, static_cast<T>(std::fabs(weight[j] - wanted.weight(x))));
      errors.derivative = std::max(errors.derivative, static_cast<T>(std::fabs(derivative[j] - wanted.slope(x))));
      total += weight[j];
      derivative_total += derivative[j];
    }
    errors.total = std::max(errors.total, std::fabs(total - T(1)));
    errors.derivative_total = std::max(errors.derivative_total, std::fabs(derivative_total));
  }
  return errors;
}

TYPED_TEST(mesh_window_test, bsplines_follow_the_recursion) {
  using T = TypeParam;
  for_each_width([&](auto width) {
    constexpr int order = decltype(width)::value;
    SCOPED_TRACE(order);
    const mesh_window<T> window = bspline_window<T>(order);
    EXPECT_EQ(window.width, order);
    EXPECT_EQ(window.terms, order);
    const window_errors<T> errors = errors_of<order>(window, reference::bspline_window(order));
    EXPECT_LE(errors.weight, 2 * this->epsilon);
    EXPECT_LE(errors.derivative, 4 * this->epsilon);
    EXPECT_LE(errors.total, 4 * this->epsilon);
    EXPECT_LE(errors.derivative_total, 4 * this->epsilon);
  });
}

/// The paper's values: M_3 on the mesh points, and M_4 halfway between them.
TYPED_TEST(mesh_window_test, bsplines_have_their_known_values) {
  using T = TypeParam;
  T three[3], four[4];
  bspline_window<T>(3).template weights<3>(T(0), three);
  EXPECT_EQ(std::vector<T>(three, three + 3), (std::vector<T>{T(0.125), T(0.75), T(0.125)}));
  bspline_window<T>(4).template weights<4>(T(0), four);
  for (int j = 0; j < 4; ++j) EXPECT_NEAR(four[j], (j % 3 == 0 ? T(1) : T(23)) / T(48), this->epsilon);
  bspline_window<T>(4).template weights<4>(T(-0.5), four);
  const T sixths[] = {1, 4, 1, 0};
  for (int j = 0; j < 4; ++j) EXPECT_NEAR(four[j], sixths[j] / T(6), this->epsilon);
}

/// A particle a quarter past a mesh point contributes three quarters to it.
TYPED_TEST(mesh_window_test, weights_begin_at_the_first_mesh_point) {
  TypeParam linear[2];
  bspline_window<TypeParam>(2).template weights<2>(TypeParam(-0.25), linear);
  EXPECT_EQ(linear[0], TypeParam(0.75));
  EXPECT_EQ(linear[1], TypeParam(0.25));
}

TYPED_TEST(mesh_window_test, derivatives_are_those_of_the_weights) {
  using T = TypeParam;
  for_each_width([&](auto width) {
    constexpr int order = decltype(width)::value;
    const mesh_window<T> window = bspline_window<T>(order);
    const T step = std::cbrt(this->epsilon);
    for (const T s : {T(-0.4), T(-0.1), T(0), T(0.3)}) {
      T below[order], above[order], here[order], derivative[order];
      window.template weights<order>(s - step, below);
      window.template weights<order>(s + step, above);
      window.template weights_and_derivatives<order>(s, here, derivative);
      for (int j = 0; j < order; ++j) {
        EXPECT_NEAR((above[j] - below[j]) / (2 * step), derivative[j], 10 * step * step) << order << " at " << s;
      }
    }
  });
}

/// A B-spline given as a function is reproduced: the fit of a polynomial is exact, even with more terms than needed.
TYPED_TEST(mesh_window_test, a_fit_finds_bsplines_again) {
  using T = TypeParam;
  for_each_width([&](auto width) {
    constexpr int order = decltype(width)::value;
    const reference::spread_window wanted = reference::bspline_window(order);
    for (const int terms : {order, order + 3, 16}) {
      const auto window = fitted_window<T>(order, terms, wanted.weight);
      EXPECT_EQ(window.width, order);
      EXPECT_EQ(window.terms, terms);
      const window_errors<T> errors = errors_of<order>(window, wanted);
      EXPECT_LE(errors.weight, 8 * this->epsilon) << order << " with " << terms;
      EXPECT_LE(errors.derivative, 200 * this->epsilon) << order << " with " << terms;
    }
  });
}

/// exp(beta (sqrt(1 - (2x/width)^2) - 1)) with its derivative: the exponential of a semicircle.
reference::spread_window semicircle_exponential(int width, long double beta) {
  const auto root = [=](long double x) { return std::sqrt(std::fmax(0.0L, 1 - 4 * x * x / (width * width))); };
  const auto weight = [=](long double x) { return std::exp(beta * (root(x) - 1)); };
  return {width, weight, [=](long double x) { return -weight(x) * beta * 4 * x / (width * width) / root(x); }};
}

/// Weights are at most 1. At the ends of the window it is exp(-beta) and falls like a square root, which no polynomial
/// follows: the error there is of that size.
TYPED_TEST(mesh_window_test, the_exponential_of_a_semicircle_is_fitted) {
  using T = TypeParam;
  const auto error = [](auto width, int terms, double beta_per_width) {
    constexpr int points = decltype(width)::value;
    const auto wanted = semicircle_exponential(points, beta_per_width * points);
    return static_cast<double>(errors_of<points>(fitted_window<T>(points, terms, wanted.weight), wanted).weight);
  };
  const double rounding = 4 * static_cast<double>(this->epsilon);
  for_each_width([&](auto width) {
    constexpr int points = decltype(width)::value;
    if (points < 4) return;
    const double end = std::exp(-2.3 * points);
    EXPECT_LE(error(width, 10, 2.3), rounding + 0.6 * end) << points;
    EXPECT_LE(error(width, 16, 2.3), rounding + 0.4 * end) << points;
    EXPECT_LT(error(width, 8, 2.3), error(width, 4, 2.3)) << points;
  });
}

TYPED_TEST(mesh_window_test, a_fit_has_the_shape_of_any_smooth_function) {
  using T = TypeParam;
  const reference::spread_window gauss{6, [](long double x) { return std::exp(-x * x / 3); },
                                       [](long double x) { return -2 * x / 3 * std::exp(-x * x / 3); }};
  const window_errors<T> errors = errors_of<6>(fitted_window<T>(6, 16, gauss.weight), gauss);
  EXPECT_LE(errors.weight, 4 * this->epsilon);
  EXPECT_LE(errors.derivative, 100 * this->epsilon);
  EXPECT_LT(errors_of<6>(fitted_window<T>(6, 6, gauss.weight), gauss).weight, T(1e-3));
}

/// And never at the boundaries between pieces.
TEST(mesh_window_shape, is_asked_for_inside_the_window_only) {
  for (int width = 1; width <= 16; ++width) {
    for (int terms = 1; terms <= 20; ++terms) {
      const int wanted = width * terms;
      int calls = 0;
      const auto window = fitted_window<double>(width, terms, [&](double x) {
        ++calls;
        EXPECT_LT(std::fabs(x), 0.5 * width);
        EXPECT_NE(x + 0.5 * width, std::floor(x + 0.5 * width));
        return 1.0;
      });
      EXPECT_EQ(calls, wanted);
      EXPECT_EQ(window.width, width);
    }
  }
}

TEST(mesh_window_errors, name_what_is_impossible) {
  for (const int order : {0, -1, 9, 1000}) {
    const std::string text = error_of<argument_error>([&] { (void)bspline_window<float>(order); });
    EXPECT_NE(text.find("order is " + std::to_string(order)), std::string::npos) << text;
    EXPECT_EQ(error_of<argument_error>([&] { (void)bspline_window<double>(order); }), text);
  }
  const auto one = [](double) { return 1.0; };
  for (const int width : {0, -3, 17}) {
    const std::string text = error_of<argument_error>([&] { (void)fitted_window<float>(width, 8, one); });
    EXPECT_NE(text.find("width is " + std::to_string(width)), std::string::npos) << text;
  }
  for (const int terms : {0, -3, 21}) {
    const std::string text = error_of<argument_error>([&] { (void)fitted_window<float>(4, terms, one); });
    EXPECT_NE(text.find(std::to_string(terms) + " terms"), std::string::npos) << text;
  }
}

TEST(mesh_window_errors, name_a_shape_that_is_not_finite) {
  const auto complaint = [](double value) {
    return error_of<argument_error>(
        [&] { (void)fitted_window<double>(4, 8, [&](double x) { return x < -1 ? value : 1.0; }); });
  };
  EXPECT_NE(complaint(std::nan("")).find("nan"), std::string::npos) << complaint(std::nan(""));
  EXPECT_NE(complaint(std::numeric_limits<double>::infinity()).find("inf"), std::string::npos);
  EXPECT_NE(complaint(std::nan("")).find("at distance -1."), std::string::npos) << complaint(std::nan(""));
  EXPECT_EQ(complaint(2), "no error");
}

}  // namespace

}  // namespace quadrat::test
