// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include <vector>

#include "harness/points.hpp"
#include "harness/session.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "reference/nufft.hpp"
#include "spectral/direct.hpp"

namespace quadrat::bench {
namespace {

constexpr int modes_along = 7;
constexpr std::size_t point_number = 200;

struct transformed {
  explicit transformed(bool real)
      : cube{2, modes_along, real}, values(random_points<double, 1>(2 * point_number, 1, 5)) {
    nufft_options options;
    if (real) options.values = nufft_values::real;
    nufft_plan<cpu_context, double, 2> plan(context, vec<int, 2>::filled(modes_along), 1e-9, options);
    plan.set_points(strided_points<2>(points.coordinates.data(), point_number));
    modes.resize(cube.size());
    back.resize(2 * point_number);
    if (real) {
      plan.type_1(values.data(), modes.data());
      plan.type_2(modes.data(), back.data());
    } else {
      plan.type_1(reinterpret_cast<const std::complex<double>*>(values.data()), modes.data());
      plan.type_2(modes.data(), reinterpret_cast<std::complex<double>*>(back.data()));
    }
  }

  [[nodiscard]] sampled_results type_1() const {
    sampled_results results{modes, {}};
    for (std::size_t i = 0; i < cube.size(); ++i) {
      results.expected.push_back(direct_type_1(points, values, cube.real ? 1 : 2, cube.at(i), 1));
    }
    return results;
  }
  [[nodiscard]] sampled_results type_2() const {
    std::vector<double> numbers;
    for (const auto& mode : modes) numbers.insert(numbers.end(), {mode.real(), mode.imag()});
    sampled_results results;
    for (std::size_t j = 0; j < point_number; ++j) {
      results.found.push_back(cube.real ? std::complex<double>(back[j]) : std::complex(back[2 * j], back[2 * j + 1]));
      results.expected.push_back(direct_type_2(cube, numbers, points.at(j), -1));
    }
    return results;
  }

  cpu_context context;
  mode_cube cube;
  places<double> points{2, random_points<double, 2>(point_number, std::numbers::pi, 4)};
  std::vector<double> values, back;
  std::vector<std::complex<double>> modes;
};

TEST(direct_sums, agree_with_the_plan) {
  for (const bool real : {false, true}) {
    const transformed it(real);
    EXPECT_LT(it.type_1().deviation(1e-9, modes_along), 1e-9) << real;
    EXPECT_LT(it.type_2().deviation(1e-9, modes_along), 1e-9) << real;
  }
}

TEST(direct_sums, notice_a_point_that_was_left_out_and_modes_that_are_shifted) {
  transformed it(false);
  it.values[34] = 0;
  EXPECT_THROW(static_cast<void>(it.type_1().deviation(1e-9, modes_along)), disagreement);
  std::rotate(it.modes.begin(), it.modes.begin() + 1, it.modes.end());
  EXPECT_THROW(static_cast<void>(it.type_2().deviation(1e-9, modes_along)), disagreement);
}

TEST(direct_sums, keep_the_digits_of_large_angles) {
  const places<double> points{1, {3.1, -2.7, 1.3}};
  const std::vector<double> values{1, -0.5, 0.25};
  constexpr int k = 123'456'789;
  reference::nufft_problem problem;
  problem.period = {1, 1, 2 * std::numbers::pi_v<long double>};
  for (const double x : points.coordinates) problem.points.push_back({0, 0, x});
  std::complex<double> expected;
  for (std::size_t j = 0; j < 3; ++j) expected += values[j] * problem.factor({0, 0, k}, j, 1);
  // A double holds these angles to 6e-8.
  EXPECT_LT(std::abs(direct_type_1(points, values, 1, {k, 0, 0}, 1) - expected), 2e-9);
}

TEST(mode_cube, of_real_values_counts_conjugates) {
  const mode_cube even{1, 6, true}, odd{1, 5, true}, complex{2, 3, false};
  EXPECT_EQ(even.size(), 4u);
  EXPECT_EQ(odd.size(), 3u);
  EXPECT_EQ((std::vector{even.weight(0), even.weight(2), even.weight(3)}), (std::vector<double>{1, 2, 1}));
  EXPECT_EQ((std::vector{odd.weight(0), odd.weight(2)}), (std::vector<double>{1, 2}));
  EXPECT_EQ(complex.at(5), (std::array<double, 3>{0, 1, 0}));
  EXPECT_EQ(complex.weight(5), 1);
}

}  // namespace
}  // namespace quadrat::bench
