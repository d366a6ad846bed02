// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/accuracy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "spectral/checks.hpp"

// The bound on errors of non-uniform transforms, and the windows that keep it.

namespace quadrat::test {

namespace {

constexpr double pi = std::numbers::pi;

/// Of a sum over one point: the largest deviation from the window's transform, relative to that, with the point at many
/// places between mesh points and for frequencies up to `most`.
[[nodiscard]] double largest_deviation(const mesh_window<double>& window, double most) {
  constexpr int places = 60;
  const int count = static_cast<int>(250 * most * window.width);
  const std::vector<double> transforms = window.transforms(count + 1, count / most);
  double largest = 0;
  for (int i = 0; i <= places; ++i) {
    const double s = -0.5 + 1.0 * i / places;
    std::vector<double> weights;
    for (int j = 0; j < window.width; ++j) weights.push_back(window.weight(j, s));
    for (int f = 0; f <= count; ++f) {
      const double angle = 2 * pi * most * f / count;
      std::complex<double> sum = 0;
      for (int j = 0; j < window.width; ++j) {
        sum += weights[static_cast<std::size_t>(j)] * std::polar(1.0, angle * (s + 0.5 * window.width - 0.5 - j));
      }
      const double wanted = transforms[static_cast<std::size_t>(f)];
      largest = std::max(largest, std::abs(sum - wanted) / std::fabs(wanted));
    }
  }
  return largest;
}

TEST(transform_errors, no_place_and_frequency_is_off_by_more_than_the_bound) {
  constexpr double rounding = 2e-15;
  for (const window_shape shape : {window_shape::prolate, window_shape::kaiser_bessel,
                                   window_shape::exponential_of_semicircle, window_shape::bspline}) {
    for (const double oversampling : {1.25, 1.40625, 1.5, 2.0, 3.0}) {
      for (const int width : {2, 4, 6, 7, 8, 10, 12, 15}) {
        if (shape == window_shape::bspline && width > 8) continue;
        const auto window =
            detail::window_of_width<double>({shape, 1, oversampling, width < 8 ? 1e-4 : 1e-12, {}}, width);
        const double bound = detail::limits_of(window, 0.5 / oversampling, 1).alias;
        const double found = largest_deviation(window, 0.5 / oversampling);
        EXPECT_LE(found, bound + rounding) << static_cast<int>(shape) << ' ' << width << ' ' << oversampling;
        EXPECT_GE(found, 0.97 * bound - rounding) << static_cast<int>(shape) << ' ' << width << ' ' << oversampling;
      }
    }
  }
}

TEST(transform_errors, windows_are_those_that_the_meshes_need) {
  for (const int modes : {1, 2, 37, 64, 100, 256}) {
    for (const double tolerance : {1e-2, 1e-5, 1e-9}) {
      const detail::nufft_problem problem{3, {modes, modes + 2, modes}, {}, false, 1};
      const auto windows = detail::transform_windows<double>(
          {window_shape::prolate, 3, 0, tolerance, [&](double o) { return problem.mesh_ratio(o); }});
      ASSERT_FALSE(windows.empty());
      for (std::size_t i = 0; i < windows.size(); ++i) {
        const auto& one = windows[i];
        const double ratio = problem.mesh_ratio(one.oversampling);
        EXPECT_GE(ratio, one.oversampling);
        EXPECT_LE(one.error, tolerance);
        EXPECT_EQ(one.error, detail::transform_error(one.window, 0.5 / ratio, 3)) << modes << ' ' << tolerance;
        if (i == 0) continue;
        EXPECT_LT(one.oversampling, windows[i - 1].oversampling);
        EXPECT_GT(one.window.width, windows[i - 1].window.width);
      }
    }
  }
}

TEST(transform_errors, meshes_have_as_many_points_per_mode_as_is_said) {
  const detail::nufft_problem problem{2, {1, 100, 256}, {}, false, 1};
  const auto mesh = problem.mesh(1.4);
  EXPECT_EQ(mesh.axis[1], 144);
  EXPECT_EQ(mesh.axis[2], 360);
  EXPECT_DOUBLE_EQ(problem.mesh_ratio(1.4), 360.0 / 256);
}

}  // namespace

}  // namespace quadrat::test
