// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <ctime>
#include <string>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "support/errors.hpp"

// Charges in one place are refused in a time that is not quadratic in their number.

namespace quadrat::test {

namespace {

constexpr std::size_t crowd = 60'000;

/// Processor time of the short-range part of the energy, and the error.
struct attempt {
  double seconds;
  std::string error;
};

/// `alone`: so many charges before the others are by themselves.
[[nodiscard]] attempt energy_of_crowd(std::size_t alone) {
  std::vector<vec<double, 3>> points(crowd, vec<double, 3>{5, 5, 5});
  for (std::size_t k = 0; k < alone; ++k) {
    const std::size_t row = k / 40, layer = k / 1600;
    points[k] =
        vec<double, 3>{static_cast<double>(k % 40), static_cast<double>(row % 40), static_cast<double>(layer)} / 4;
  }
  std::vector<double> charges(crowd);
  for (std::size_t k = 0; k < crowd; ++k) charges[k] = k % 2 == 0 ? 1 : -1;
  const auto cell = make_lattice(make_box<double, 3>({0, 0, 0}, {10, 10, 10}, {true, true, true}));
  const cpu_context context;
  electrostatics_options options;
  options.accuracy = 1e-2;
  options.parts = ewald_parts::short_range;
  electrostatics<cpu_context, double> sums(context, options);
  double energy = 0;
  electrostatics_input<double> input;
  input.points = points_of(points);
  input.charges = charges.data();
  input.cells = {&cell, 1};
  electrostatics_output<double> output;
  output.energy = &energy;
  const std::clock_t start = std::clock();
  const std::string error = error_of<data_error>([&] { sums.compute(input, output); });
  return {static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, error};
}

}  // namespace

TEST(crowded_charges, are_refused_soon_and_the_first_is_named) {
  // Summing all pairs takes more than 10 s.
  for (const std::size_t alone : {0, 7}) {
    const attempt found = energy_of_crowd(alone);
    EXPECT_NE(found.error.find("point " + std::to_string(alone) + " is in the same place"), std::string::npos)
        << found.error;
    EXPECT_LT(found.seconds, 3) << "of processor time";
  }
}

}  // namespace quadrat::test
