// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/targets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "core/backend.hpp"
#include "quadrat/core/error.hpp"
#include "spectral/box_transform.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

/// The tolerances from 0.3 on that can be reached, a factor of 3 apart.
template <typename T>
std::vector<detail::target_accuracy<T>> all_accuracies(int dimension) {
  std::vector<detail::target_accuracy<T>> all;
  for (double tolerance = 0.3; tolerance > (sizeof(T) == 4 ? 1e-5 : 1e-12); tolerance /= 3) {
    all.push_back(detail::target_accuracy_of<T>(tolerance, dimension));
  }
  return all;
}

/// From those that need no mesh points beyond a window's to those that need thousands; far from the origin, too.
std::vector<detail::interval> all_intervals() {
  std::vector<detail::interval> all{{0, 0}, {1, 1}, {-1e6, -1e6}};
  for (double half = 1e-6; half < 10; half *= 2.5) {
    for (const double center : {0.0, 3.0, -1e6}) all.push_back({center - half, center + half});
  }
  return all;
}

template <typename T>
void expect_meshes_that_fit(int dimension) {
  for (const auto& accuracy : all_accuracies<T>(dimension)) {
    for (const auto& points : all_intervals()) {
      for (const auto& targets : all_intervals()) {
        const auto axis = detail::target_axis_of(accuracy, points, targets, 0);
        ASSERT_LE(axis.nodes, axis.box) << accuracy.error;
        ASSERT_LE(axis.box, axis.size) << "error " << accuracy.error << ", points up to " << points.high
                                       << ", targets up to " << targets.high;
        ASSERT_GE(axis.nodes * axis.spacing, points.high - points.low);
        const double lowest = targets.low - (axis.target_lower + axis.target_half);
        const double highest = targets.high - (axis.target_lower + axis.target_half);
        const double room = axis.target_half - 0.5 * (accuracy.inner.width + 1) * axis.target_spacing;
        ASSERT_LE(std::fabs(lowest), room);
        ASSERT_LE(std::fabs(highest), room);
      }
    }
  }
}

TEST(target_axis, holds_targets_with_their_footprints_within_one_period) {
  for (const int dimension : {1, 2, 3}) {
    expect_meshes_that_fit<float>(dimension);
    expect_meshes_that_fit<double>(dimension);
  }
}

TEST(box_transform, refuses_boxes_that_are_not_in_the_transform_and_meshes_of_other_sizes) {
  const backend_context context;
  const auto make = [&](std::size_t modes, std::size_t box) {
    detail::box_problem problem;
    problem.axis[2] = {12, std::vector<std::complex<double>>(modes, 1.0), std::vector<std::complex<double>>(box, 1.0)};
    return detail::make_box_transform<backend_context, double>(context, problem, "");
  };
  expect_words(error_of<argument_error>([&] { (void)make(6, 14); }), {"box of 14", "transform of 12"});
  expect_words(error_of<argument_error>([&] { (void)make(9, 8); }), {"box of 8", "9 modes"});
  std::vector<std::complex<double>> modes(6), box(10);
  const auto call = [&](std::size_t of_modes, std::size_t of_box) {
    make(6, 10)->to_box({modes.data(), {1, 1, of_modes}}, {box.data(), {1, 1, of_box}}, 1);
  };
  call(6, 10);
  expect_words(error_of<argument_error>([&] { call(5, 10); }), {"6 numbers along axis 2", "1 x 1 x 5"});
  expect_words(error_of<argument_error>([&] { call(6, 9); }), {"10 numbers along axis 2", "1 x 1 x 9"});
}

}  // namespace

}  // namespace quadrat::test
