// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "quadrat/search/pair_correlation.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

constexpr double pi = std::numbers::pi;

TEST(pair_correlation, estimators_are_their_formulas) {
  const std::vector<double> dd{10, 6, 1}, dr{12, 20, 1}, rd{14, 22, 1}, rr{40, 80, 0};
  const correlation_pairs pairs{dd, dr, rd, rr, 2, 3};
  const std::vector<double> natural = natural_correlation(pairs), landy = landy_szalay_correlation(pairs);
  ASSERT_EQ(natural.size(), 3u);
  ASSERT_EQ(landy.size(), 3u);
  EXPECT_DOUBLE_EQ(natural[0], 6 * 10 / 40.0 - 1);
  EXPECT_DOUBLE_EQ(natural[1], 6 * 6 / 80.0 - 1);
  EXPECT_DOUBLE_EQ(landy[0], (6 * 10 - 2 * 12 - 3 * 14 + 40) / 40.0);
  EXPECT_DOUBLE_EQ(landy[1], (6 * 6 - 2 * 20 - 3 * 22 + 80) / 80.0);
  EXPECT_TRUE(std::isnan(natural[2]) && std::isnan(landy[2]));
}

TEST(pair_correlation, uniform_pairs_fill_the_volumes_of_bins) {
  const std::vector<double> edges{0, 1, 2};
  const auto by_r = uniform_pairs({pair_coordinates::r, edges, {}}, 100, 50, 7);
  EXPECT_DOUBLE_EQ(by_r[0], 0.5 * 4 * pi / 3 + 7);
  EXPECT_DOUBLE_EQ(by_r[1], 0.5 * 4 * pi / 3 * 7);
  const auto across = uniform_pairs({pair_coordinates::rp_pi, edges, {0, 3, 4}}, 100, 50, 7);
  const std::vector<double> cylinders{0.5 * 2 * pi * 3 + 7, 0.5 * 2 * pi, 0.5 * 2 * pi * 9, 0.5 * 2 * pi * 3};
  ASSERT_EQ(across.size(), cylinders.size());
  for (std::size_t k = 0; k < across.size(); ++k) EXPECT_DOUBLE_EQ(across[k], cylinders[k]);
  const auto by_mu = uniform_pairs({pair_coordinates::s_mu, edges, {0.5, 1}}, 100, 50, 7);
  EXPECT_DOUBLE_EQ(by_mu[0], 0.5 * 4 * pi / 3 / 2);
}

TEST(pair_correlation, uniform_points_have_the_pairs_of_uniform_points) {
  std::mt19937_64 random(11);
  std::vector<vec<double, 3>> points(3000);
  for (auto& point : points) {
    point = make_vec<double, 3>([&](int) { return random_unit<double>(random); });
  }
  const cpu_context context;
  const auto box = make_box<double, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
  const std::vector<pair_counts_options> all{{pair_coordinates::r, {0, 0.1, 0.2}, {}},
                                             {pair_coordinates::rp_pi, {0, 0.1, 0.2}, {0, 0.1, 0.2}},
                                             {pair_coordinates::s_mu, {0, 0.1, 0.2}, {0, 0.5, 1}}};
  for (const pair_counts_options& options : all) {
    const auto found = pair_counts<cpu_context, double, 3>(context, box, options).count(points_of(points));
    const auto n = static_cast<double>(points.size());
    const auto expected = uniform_pairs(options, 1, n * (n - 1), n);
    ASSERT_EQ(expected.size(), found.counts.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(static_cast<double>(found.counts[k]), expected[k], 8 * std::sqrt(2 * expected[k])) << k;
    }
  }
}

TEST(pair_correlation, projection_sums_twice_the_correlation_over_pi) {
  const std::vector<double> correlation{1, 2, 3, 4};
  EXPECT_EQ(projected_correlation(correlation, std::vector<double>{0, 1, 3}), (std::vector<double>{10, 22}));
}

TEST(pair_correlation, the_jackknife_covariance_of_means_is_that_of_the_values) {
  // The mean of n values without one of them: the jackknife gives their covariance over n exactly.
  const std::vector<std::vector<double>> values{{1, 5}, {4, 2}, {-2, 3}, {7, -4}};
  const auto n = static_cast<double>(values.size());
  std::vector<double> sums(2), estimates;
  for (const auto& value : values) {
    for (std::size_t a = 0; a < 2; ++a) sums[a] += value[a];
  }
  for (const auto& value : values) {
    for (std::size_t a = 0; a < 2; ++a) estimates.push_back((sums[a] - value[a]) / (n - 1));
  }
  const auto covariance = jackknife_covariance(estimates, values.size());
  ASSERT_EQ(covariance.size(), 4u);
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t b = 0; b < 2; ++b) {
      double expected = 0;
      for (const auto& value : values) expected += (value[a] - sums[a] / n) * (value[b] - sums[b] / n);
      EXPECT_NEAR(covariance[2 * a + b], expected / (n * (n - 1)), 1e-12);
    }
  }
}

TEST(pair_correlation, what_does_not_fit_is_named) {
  const std::vector<double> two{1, 2}, three{1, 2, 3};
  expect_words(error_of<argument_error>([&] {
                 static_cast<void>(natural_correlation({two, {}, {}, three}));
               }),
               {"2 bins of data", "3 of randoms"});
  expect_words(error_of<argument_error>([&] {
                 static_cast<void>(landy_szalay_correlation({two, two, three, two}));
               }),
               {"3 bins of second_randoms"});
  expect_words(error_of<argument_error>([&] {
                 static_cast<void>(uniform_pairs({pair_coordinates::theta, {0, 1}, {}}, 1, 1, 0));
               }),
               {"theta"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(projected_correlation(three, three)); }),
               {"3 bins", "rows of 2"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(projected_correlation(three, {})); }),
               {"0 edges of pi"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(jackknife_covariance(three, 2)); }),
               {"3 estimates", "2 regions"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(jackknife_covariance(three, 1)); }), {"1 regions"});
}

}  // namespace

}  // namespace quadrat::test
