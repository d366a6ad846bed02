// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "hydro/choice.hpp"
#include "hydro/cut_errors.hpp"
#include "hydro/lanczos.hpp"
#include "hydro/pair_tensor.hpp"
#include "quadrat/core/error.hpp"
#include "reference/mobility.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

/// The largest difference from the reference, in units of the mobility of a free sphere.
template <typename T>
double tensor_error(double radius, double splitting, double tolerance) {
  reference::mobility_system system;
  system.box = {20 * radius, 20 * radius, 20 * radius};
  system.radius = radius;
  const reference::mobility_sum expected(system, splitting);
  const double cutoff = 2 * radius + 5 / splitting;
  const auto tensor = detail::make_near_tensor<T>(radius, splitting, cutoff, tolerance);
  double error = std::fabs(static_cast<double>(tensor.self) - expected.near(0).across);
  for (double r = 0; r < cutoff; r += cutoff / 500) {
    const auto distance = static_cast<T>(r);
    const auto found = tensor.at(distance * distance);
    const auto pair = expected.near(static_cast<double>(distance));
    error = std::max({error, std::fabs(static_cast<double>(found.across) - pair.across),
                      std::fabs(static_cast<double>(found.across + found.bend * distance * distance) - pair.along)});
  }
  return error;
}

TEST(near_tensor, is_that_of_the_reference_at_all_distances) {
  for (const double splitting : {0.05, 0.3, 1.0, 2.0}) {
    EXPECT_LT(tensor_error<double>(1, splitting, 1e-14), 1e-14) << splitting;
    EXPECT_LT(tensor_error<double>(2.5, splitting / 2.5, 1e-6), 1e-6) << splitting;
    EXPECT_LT(tensor_error<float>(0.3, splitting / 0.3, 1e-7), 2e-6) << splitting;
  }
}

TEST(near_tensor, says_what_is_wrong_with_a_cutoff_that_is_too_large) {
  const auto refusal = [](double cutoff) {
    return error_of<argument_error>([&] { (void)detail::make_near_tensor<double>(1, 2, cutoff, 1e-14); });
  };
  expect_words(refusal(40), {"splitting", "cutoff", "40"});
  expect_words(refusal(1e6), {"splitting"});
}

TEST(lanczos, the_root_of_a_tridiagonal_matrix_is_exact_when_the_basis_is_complete) {
  const std::vector<double> diagonal{2, 3, 1.5, 4}, lengths{1, 0.5, 0.8, 0.3, 0};
  const auto found = detail::judge_lanczos(diagonal, lengths, 1e-12);
  ASSERT_TRUE(found.converged);
  EXPECT_EQ(found.iterations, 4);
  EXPECT_EQ(found.error, 0);
  // |T^(1/2) e_1|^2 = T_11, and e_1 . T^(1/2) e_1 is below the root of it.
  double square = 0;
  for (const double c : found.coefficients) square += c * c;
  EXPECT_NEAR(square, 2, 1e-14);
  EXPECT_LT(found.coefficients[0], std::sqrt(2.0));
  // T^(1/2) e_1 . T T^(1/2) e_1 = (T^2)_11.
  double form = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    form += diagonal[i] * found.coefficients[i] * found.coefficients[i];
    if (i + 1 < 4) form += 2 * lengths[i + 1] * found.coefficients[i] * found.coefficients[i + 1];
  }
  EXPECT_NEAR(form, 2 * 2 + 0.5 * 0.5, 1e-14);
}

TEST(lanczos, the_result_is_that_of_the_first_accurate_iteration) {
  std::vector<double> diagonal, lengths{3};
  for (int i = 0; i < 60; ++i) {
    diagonal.push_back(1.5 + std::pow(0.7, i));
    lengths.push_back(0.6);
  }
  const auto all = detail::judge_lanczos(diagonal, lengths, 1e-5);
  ASSERT_TRUE(all.converged);
  const auto count = static_cast<std::size_t>(all.iterations);
  const auto some = detail::judge_lanczos(std::span(diagonal).first(count), std::span(lengths).first(count + 1), 1e-5);
  EXPECT_EQ(some.iterations, all.iterations);
  EXPECT_EQ(some.coefficients, all.coefficients);
  EXPECT_FALSE(
      detail::judge_lanczos(std::span(diagonal).first(count - 1), std::span(lengths).first(count), 1e-5).converged);
  // And as accurate as it says.
  const auto exact = detail::judge_lanczos(diagonal, lengths, 1e-14);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < exact.coefficients.size(); ++i) {
    const double here = i < count ? all.coefficients[i] : 0;
    difference += (here - exact.coefficients[i]) * (here - exact.coefficients[i]);
    size += exact.coefficients[i] * exact.coefficients[i];
  }
  EXPECT_LT(std::sqrt(difference / size), 1e-5);
}

TEST(lanczos, nothing_to_do_is_done_in_one_iteration) {
  const auto zero = detail::judge_lanczos(std::vector<double>{0}, std::vector<double>{1, 0}, 1e-3);
  EXPECT_TRUE(zero.converged);
  EXPECT_EQ(zero.coefficients, std::vector<double>{0});
  const auto one = detail::judge_lanczos(std::vector<double>{4}, std::vector<double>{1, 0}, 1e-3);
  EXPECT_EQ(one.coefficients, std::vector<double>{2});
}

TEST(cut_errors, fall_with_the_cutoff_and_the_largest_mode) {
  for (const double splitting : {0.01, 0.3, 2.0}) {
    const detail::cut_errors errors(splitting, 0.02);
    for (const double error : {1e-2, 1e-5, 1e-10}) {
      const double cutoff = errors.cutoff_for(error), mode = errors.most_mode_for(error);
      EXPECT_LE(errors.near_error(cutoff), error * 1.001) << splitting;
      if (cutoff > 2) {
        EXPECT_GE(errors.near_error(0.8 * cutoff), error) << splitting;
      }
      EXPECT_LE(errors.wave_error(mode), error * 1.001) << splitting;
      EXPECT_GT(errors.cutoff_for(error / 10), cutoff);
      EXPECT_GT(errors.most_mode_for(error / 10), mode);
    }
  }
}

TEST(mobility_choice, keeps_to_the_accuracy_in_boxes_of_all_kinds) {
  for (const vec<double, 3>& box : {vec<double, 3>{100, 100, 100}, vec<double, 3>{1000, 10, 3},
                                    vec<double, 3>{1e4, 1e4, 1e4}, vec<double, 3>{1, 1, 1}}) {
    for (const double spheres : {1.0, 1000.0, 1e6}) {
      for (const double accuracy : {1e-2, 1e-6, 1e-12}) {
        detail::mobility_request request;
        request.accuracy = accuracy;
        request.box = box;
        request.spheres = spheres;
        const auto choice = detail::choose_mobility(request);
        EXPECT_LE(choice.error(), accuracy);
        for (int axis = 0; axis < 3; ++axis) EXPECT_EQ(choice.parameters.modes[axis] % 2, 1);
        EXPECT_GE(choice.parameters.cutoff, 2);
      }
    }
  }
}

TEST(mobility_choice, given_parameters_are_kept_and_the_others_follow) {
  detail::mobility_request request;
  request.accuracy = 1e-4;
  request.box = {50, 60, 70};
  request.spheres = 3000;
  request.radius = 2;
  request.given.cutoff = 14;
  auto choice = detail::choose_mobility(request);
  EXPECT_EQ(choice.parameters.cutoff, 14);
  EXPECT_LE(choice.error(), 1e-4);
  request.given = {0.2, 0, {}};
  choice = detail::choose_mobility(request);
  EXPECT_EQ(choice.parameters.splitting, 0.2);
  EXPECT_LE(choice.error(), 1e-4);
  request.given = {0, 0, {21, 25, 29}};
  choice = detail::choose_mobility(request);
  EXPECT_EQ(choice.parameters.modes, (vec<int, 3>{21, 25, 29}));
  EXPECT_LE(choice.error(), 1e-4);
  request.given = {0.5, 5, {5, 5, 5}};  // cannot be that accurate, and says so
  choice = detail::choose_mobility(request);
  EXPECT_GT(choice.error(), 1e-4);
}

}  // namespace

}  // namespace quadrat::test
