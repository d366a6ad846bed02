// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "mesh/window_fit.hpp"
#include "quadrat/mesh/window.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

constexpr double pi = std::numbers::pi;
/// Of the arguments of exponentials here, in units of these arguments.
constexpr double rounding = 4e-16;

template <typename T>
class named_window_test : public testing::Test {
 protected:
  static constexpr double epsilon = std::numeric_limits<T>::epsilon();
};
using window_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(named_window_test, window_precisions);

constexpr window_shape smooth_shapes[] = {window_shape::prolate, window_shape::kaiser_bessel,
                                          window_shape::exponential_of_semicircle};

/// The window at a distance from a mesh point.
template <typename T>
double value_at(const mesh_window<T>& window, double x) {
  const double shifted = 0.5 * window.width - x;
  const int j = static_cast<int>(std::floor(shifted));
  return static_cast<double>(window.weight(j, static_cast<T>(j + 0.5 - shifted)));
}

double band_of(int width, double oversampling) {
  return std::min(0.98, 0.88 + 0.014 * width) * pi * width * (1 - 0.5 / oversampling);
}

/// The transform of M_p is the p-th power of that of M_1.
TYPED_TEST(named_window_test, bsplines_have_their_transform) {
  for (int order = 1; order <= 8; ++order) {
    const auto window = named_window<TypeParam>(window_shape::bspline, order);
    EXPECT_NEAR(window.transform(0, 64), window.transforms(1, 64)[0], 1e-15);
    for (const double mode : {0.0, 1.0, 17.0, 32.0, 40.0, 100.0}) {
      const double x = pi * mode / 64;
      const double wanted = mode == 0 ? 1 : std::pow(std::sin(x) / x, order);
      EXPECT_NEAR(window.transform(mode, 64), wanted, 2 * order * this->epsilon) << order << " mode " << mode;
    }
  }
}

/// The Kaiser-Bessel window and its transform in closed form.
TYPED_TEST(named_window_test, kaiser_bessel_windows_have_their_values_and_transform) {
  for (int width = 2; width <= 16; ++width) {
    for (const double oversampling : {1.25, 2.0}) {
      const auto window = named_window<TypeParam>(window_shape::kaiser_bessel, width, oversampling);
      const double band = band_of(width, oversampling), peak = std::cyl_bessel_i(0.0, band);
      for (double x = -0.5 * width + 0.01; x < 0.5 * width; x += 0.37) {
        const double wanted = std::cyl_bessel_i(0.0, band * std::sqrt(1 - 4 * x * x / width / width)) / peak;
        EXPECT_NEAR(value_at(window, x), wanted, 4 * this->epsilon + band * rounding) << width << " at " << x;
      }
      for (const double mode : {0.0, 3.0, 8.0, 16.0}) {
        const double root = std::sqrt(band * band - std::pow(pi * width * mode / 64, 2));
        const double wanted = width * std::sinh(root) / root / peak;
        EXPECT_NEAR(window.transform(mode, 64), wanted, 4 * width * this->epsilon) << width << " mode " << mode;
      }
    }
  }
}

/// Within its band the transform of a prolate function is that function again, stretched: what defines it.
TYPED_TEST(named_window_test, prolate_windows_are_their_own_transforms) {
  for (int width = 2; width <= 16; ++width) {
    for (const double oversampling : {1.25, 1.5, 2.0}) {
      const auto window = named_window<TypeParam>(window_shape::prolate, width, oversampling);
      const double edge =
          detail::prolate_part(width) * (1 - 0.5 / oversampling);  // of the band, in periods per mesh unit
      const double center = window.transform(0, 1);
      for (double part = 0; part < 1; part += 0.1) {
        EXPECT_NEAR(window.transform(part * edge, 1) / center, value_at(window, part * 0.5 * width), 8 * this->epsilon)
            << width << " at " << part;
      }
    }
  }
}

TYPED_TEST(named_window_test, exponentials_of_semicircles_have_their_values) {
  for (int width = 4; width <= 16; ++width) {
    const auto window = named_window<TypeParam>(window_shape::exponential_of_semicircle, width);
    const double beta = band_of(width, 2);
    for (double x = -0.5 * width + 0.01; x < 0.5 * width; x += 0.37) {
      const double wanted = std::exp(beta * (std::sqrt(1 - 4 * x * x / width / width) - 1));
      const double limit = 4 * this->epsilon + beta * rounding + 2 * std::exp(-beta);
      EXPECT_NEAR(value_at(window, x), wanted, limit) << width << " at " << x;
    }
  }
}

TYPED_TEST(named_window_test, are_even_to_the_last_bit) {
  for (const window_shape shape : smooth_shapes) {
    for (int width = 2; width <= 16; ++width) {
      const auto window = named_window<TypeParam>(shape, width);
      EXPECT_TRUE(window.symmetric);
      EXPECT_LE(window.terms, 20);
      for (const TypeParam s : {TypeParam(0), TypeParam(0.125), TypeParam(0.4375)}) {
        for (int j = 0; j < width; ++j) EXPECT_EQ(window.weight(j, s), window.weight(width - 1 - j, -s));
      }
    }
  }
}

TYPED_TEST(named_window_test, transforms_of_many_modes_are_those_of_each) {
  const auto window = named_window<TypeParam>(window_shape::prolate, 7);
  const int points = 1000;
  const std::vector<double> all = window.transforms(400, points);
  ASSERT_EQ(all.size(), 400u);
  for (int mode = 0; mode < 400; ++mode) {
    EXPECT_NEAR(all[static_cast<std::size_t>(mode)], window.transform(mode, points), 1e-14) << mode;
  }
}

/// Every mesh point more divides the part of a smooth window beyond its band by exp(pi sqrt(1 - 1 / oversampling)).
TYPED_TEST(named_window_test, wider_windows_have_weaker_aliases) {
  for (const window_shape shape : smooth_shapes) {
    for (int width = 2; width <= (sizeof(TypeParam) == 4 ? 6 : 13); ++width) {
      const auto window = named_window<TypeParam>(shape, width);
      const double alias = std::fabs(window.transform(0.75, 1) / window.transform(0.25, 1));
      EXPECT_LT(alias, 8 * std::exp(-(width - 1) * pi * std::sqrt(0.5))) << static_cast<int>(shape) << " " << width;
    }
  }
}

TEST(named_window_errors, name_what_is_impossible) {
  const auto error = [](window_shape shape, int width, double oversampling) {
    return error_of<argument_error>([&] { (void)named_window<double>(shape, width, oversampling); });
  };
  expect_words(error(window_shape::prolate, 17, 2), {"prolate", "17", "2 to 16"});
  expect_words(error(window_shape::prolate, 1, 2), {"width", "1", "2 to 16"});
  expect_words(error(window_shape::kaiser_bessel, 6, 1), {"oversampling is 1;"});
  expect_words(error(window_shape::kaiser_bessel, 6, std::nan("")), {"oversampling is nan"});
  expect_words(error(window_shape::bspline, 9, 2), {"order is 9"});
  EXPECT_EQ(error(window_shape::exponential_of_semicircle, 16, 8), "no error");
}

}  // namespace

}  // namespace quadrat::test
