// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "ewald/ewald_case.hpp"
#include "ewald/long_waves.hpp"
#include "quadrat/core/error.hpp"

// Errors of charges that are not at random: predicted as they are made, and within the accuracy.

namespace quadrat::test {

namespace {

[[nodiscard]] ewald_case<double> cube_of(double edge) {
  ewald_case<double> of;
  of.cells = {cell_of({edge, 0, 0}, {0, edge, 0}, {0, 0, edge})};
  return of;
}

/// Wide blobs of one sign each: seen from far away they are a few large charges. Mean distance of neighbors: `spacing`.
[[nodiscard]] ewald_case<double> charged_blobs(std::size_t count, double spacing) {
  constexpr std::size_t blobs = 12;
  constexpr double width = 0.2;  // over the edge of the cell
  const double edge = spacing * std::cbrt(static_cast<double>(count));
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, width);
  std::uniform_real_distribution<double> unit(0, 1);
  ewald_case<double> of = cube_of(edge);
  const auto anywhere = [&] { return make_vec<double, 3>([&](int) { return unit(random); }); };
  std::vector<vec<double, 3>> centers;
  for (std::size_t k = 0; k < blobs; ++k) centers.push_back(anywhere());
  for (std::size_t i = 0; i < count; ++i) {
    of.points.push_back(of.cells[0].origin + make_vec<double, 3>([&](int axis) {
                          const double x = centers[i % blobs][axis] + normal(random);
                          return edge * (x - std::floor(x));
                        }));
    of.charges.push_back(i % 2 == 0 ? 1 : -1);
  }
  return of;
}

[[nodiscard]] std::vector<vec<double, 3>> exact_forces_of(const ewald_case<double>& of) {
  electrostatics_options options;
  options.method = "direct";
  options.accuracy = 1e-12;
  return compute_ewald(of, options).forces;
}

/// The root mean square error of forces of unit charges, in units of the reference force.
[[nodiscard]] double error_of_forces(const ewald_results<double>& got, const std::vector<vec<double, 3>>& exact,
                                     double spacing) {
  double sum = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) sum += squared_norm(got.forces[i] - exact[i]);
  return std::sqrt(sum / static_cast<double>(exact.size())) * spacing * spacing;
}

TEST(ewald_structure, accuracy_holds_for_charges_that_vary_over_long_distances) {
  int reached = 0;
  for (const double spacing : {0.3, 1.0, 10.0}) {
    const ewald_case<double> of = charged_blobs(1000, spacing);
    const auto exact = exact_forces_of(of);
    for (const double cutoff : {0.0, 2.0, 3.0}) {
      for (const int order : {0, 7}) {
        for (const double accuracy : {1e-3, 1e-5, 1e-6, 5e-7, 2e-7}) {
          electrostatics_options options;
          options.method = "esp";
          options.accuracy = accuracy;
          options.parameters.cutoff = spacing * cutoff;
          options.parameters.order = order;
          ewald_results<double> got;
          try {
            got = compute_ewald(of, options);
          } catch (const argument_error&) {
            continue;  // out of reach with these parameters
          }
          ++reached;
          const std::string what = message("spacing ", spacing, ", cutoff ", cutoff, ", order ", order, ", ", accuracy);
          EXPECT_LE(error_of_forces(got, exact, spacing), accuracy) << what;
          EXPECT_GE(error_of_forces(got, exact, spacing), 0.2 * got.report.error)
              << what << ": a bound that says little";
        }
      }
    }
  }
  EXPECT_GE(reached, 30);
}

/// The modes |n|^2 = 6 of the cell are just above those that are kept.
TEST(ewald_structure, modes_just_above_the_last_one_count_as_predicted) {
  constexpr double edge = 4, band = 18;
  const double cutoff = band / (2 * std::numbers::pi / edge * std::sqrt(6.0)) * (1 + 1e-5);
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(0, edge);
    ewald_case<double> of = cube_of(edge);
    for (int i = 0; i < 64; ++i) {
      of.points.push_back(of.cells[0].origin + make_vec<double, 3>([&](int) { return unit(random); }));
      of.charges.push_back(i % 2 == 0 ? 1 : -1);
    }
    electrostatics_options options;
    options.method = "esp";
    options.parameters = {.cutoff = cutoff, .splitting = band, .mesh = {16, 16, 16}, .order = 8};
    options.accuracy = 5e-7;
    const auto got = compute_ewald(of, options);
    EXPECT_LE(error_of_forces(got, exact_forces_of(of), 1), got.report.error) << seed;
  }
}

TEST(ewald_structure, excess_of_long_waves_is_1_at_random_and_grows_with_their_order) {
  const vec<vec<double, 3>, 3> cube{{{5, 0, 0}, {0, 5, 0}, {0, 0, 5}}};
  constexpr int side = 12;
  const vec<int, 3> boxes{side, side, side};
  std::vector<double> wave, ones(side * side * side, 1.0);
  for (std::size_t b = 0; b < ones.size(); ++b) wave.push_back(b < ones.size() / 2 ? 1 : -1);
  double mean = 0;
  constexpr int trials = 40;
  std::mt19937_64 random(1);
  for (int k = 0; k < trials; ++k) {
    std::vector<double> charges;
    for (std::size_t b = 0; b < ones.size(); ++b) charges.push_back(random() >> 63 == 0 ? 1.0 : -1.0);
    mean += detail::long_wave_excess(cube, boxes, charges, ones) / trials;
  }
  EXPECT_NEAR(mean, 1, 0.15);
  // Two halves of opposite charges: nearly all is in the first wave, whose square is 2 (2 / pi)^2 / 2 of the charges'.
  EXPECT_GT(detail::long_wave_excess(cube, boxes, wave, ones), 0.02 * static_cast<double>(ones.size()));
  EXPECT_EQ(detail::long_wave_excess(cube, {2, 2, 2}, std::vector<double>(8, 1.0), std::vector<double>(8, 1.0)), 1);
  EXPECT_EQ(detail::long_wave_excess(cube, boxes, std::vector<double>(ones.size(), 0.0),
                                     std::vector<double>(ones.size(), 0.0)),
            1);
}

}  // namespace

}  // namespace quadrat::test
