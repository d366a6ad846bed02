// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ewald/ewald_case.hpp"
#include "reference/ewald.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// Systems that are not neutral: a uniform background in three periodic directions, none in slabs.

namespace quadrat::test {

namespace {

class net_charge_test : public backend_test {};

/// Positive charges in a skewed cell; in a slab between its faces.
ewald_case<double> positive_charges(std::uint64_t seed, std::size_t points, bool slab) {
  std::mt19937_64 generator(seed);
  const auto unit = [&] { return random_unit<double>(generator); };
  const double edge = std::cbrt(static_cast<double>(points));
  ewald_case<double> of;
  of.cells = {cell_of({edge, 0, 0}, {0.3 * edge, 1.1 * edge, 0}, {-0.2 * edge, 0.1 * edge, 0.9 * edge}, slab)};
  for (std::size_t i = 0; i < points; ++i) {
    vec<double, 3> point = of.cells[0].origin;
    for (int axis = 0; axis < 3; ++axis) point += unit() * of.cells[0].vectors[axis];
    of.points.push_back(point);
    of.charges.push_back(0.5 + unit());
  }
  return of;
}

void expect_right(const ewald_case<double>& of, const std::string& method, double accuracy) {
  const bool slab = !of.cells[0].periodic[2];
  reference::ewald_system it;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b)
      it.vectors[a][b] = of.cells[0].vectors[static_cast<int>(a)][static_cast<int>(b)];
  }
  for (const auto& point : of.points) it.points.push_back({point[0], point[1], point[2]});
  it.charges = of.charges;
  const reference::ewald_result wanted = slab ? reference::ewald_slab_sum(it) : reference::ewald_sum(it);
  electrostatics_options options;
  options.method = method;
  options.accuracy = accuracy;
  const ewald_results<double> found = compute_ewald(of, options);
  double squares = 0, potentials = 0;
  for (std::size_t i = 0; i < of.points.size(); ++i) {
    for (std::size_t a = 0; a < 3; ++a) {
      const double off = found.forces[i][static_cast<int>(a)] - wanted.forces[i][a];
      squares += off * off;
    }
    potentials = std::max(potentials, std::fabs(found.potentials[i] - wanted.potentials[i]));
  }
  const auto n = static_cast<double>(of.points.size());
  const std::string what = message(method, " ", n, " charges, ", accuracy, slab ? ", slab" : "");
  EXPECT_LE(std::sqrt(squares / n), accuracy * it.reference_force()) << what;
  EXPECT_LE(potentials, 30 * accuracy * it.reference_force()) << what;
  EXPECT_NEAR(found.energy[0], wanted.energy, 30 * accuracy * it.reference_force() * n) << what;
}

TEST_F(net_charge_test, forces_keep_to_the_accuracy_with_all_windows) {
  for (const char* method : {"spme", "esp", "direct"}) {
    for (const std::size_t points : {3, 20, 150}) {
      for (const double accuracy : {1e-4, 1e-7})
        expect_right(positive_charges(points, points, false), method, accuracy);
    }
  }
}

TEST_F(net_charge_test, slabs_have_no_background) {
  for (const char* method : {"spme", "esp", "direct"}) {
    for (const std::size_t points : {1, 2, 12}) {
      for (const double accuracy : {1e-4, 1e-6}) expect_right(positive_charges(points, points, true), method, accuracy);
    }
  }
}

TEST_F(net_charge_test, batches_have_the_background_of_each_system) {
  const ewald_case<double> one = positive_charges(5, 20, false), two = positive_charges(6, 31, false);
  ewald_case<double> both = one;
  both.cells.push_back(two.cells[0]);
  both.points.insert(both.points.end(), two.points.begin(), two.points.end());
  both.charges.insert(both.charges.end(), two.charges.begin(), two.charges.end());
  both.system_of_point.assign(one.points.size(), 0);
  both.system_of_point.resize(both.points.size(), 1);
  for (const char* method : {"spme", "esp"}) {
    electrostatics_options options;
    options.method = method;
    options.accuracy = 1e-6;
    const auto together = compute_ewald(both, options), first = compute_ewald(one, options),
               second = compute_ewald(two, options);
    EXPECT_NEAR(together.energy[0], first.energy[0], 1e-4) << method;
    EXPECT_NEAR(together.energy[1], second.energy[0], 1e-4) << method;
    for (int k = 0; k < 9; ++k)
      EXPECT_NEAR(together.virial[static_cast<std::size_t>(k)], first.virial[static_cast<std::size_t>(k)], 1e-3);
    for (std::size_t i = 0; i < one.points.size(); ++i) EXPECT_NEAR(together.potentials[i], first.potentials[i], 1e-4);
  }
}

}  // namespace

}  // namespace quadrat::test
