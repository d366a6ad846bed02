// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "ewald/ewald_case.hpp"
#include "quadrat/core/error.hpp"
#include "support/random.hpp"

// The errors of energies and virials that are reported are upper bounds of those that are made, and not far above them.
// With QUADRAT_EWALD_SYSTEMS set, a line for each is printed.

namespace quadrat::test {

namespace {

enum class arrangement { jittered_lattice, uniform, clusters, one_sign };
constexpr const char* arrangement_names[] = {"jittered lattice", "uniform", "clusters", "uniform, of one sign"};

[[nodiscard]] ewald_case<double> charges_in(arrangement how, int side, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto cell = cell_of({1.1 * side, 0, 0}, {0.2 * side, 1.0 * side, 0}, {-0.1 * side, 0.15 * side, 0.95 * side});
  ewald_case<double> of;
  of.cells = {cell};
  vec<double, 3> center{};
  for (int i = 0; i < side * side * side; ++i) {
    const vec<int, 3> place{i % side, i / side % side, i / side / side};
    if (i % 32 == 0) center = make_vec<double, 3>([&](int) { return random_unit<double>(random); });
    const auto f = make_vec<double, 3>([&](int k) {
      const double unit = random_unit<double>(random);
      if (how == arrangement::jittered_lattice) return (place[k] + 0.3 * unit) / side;
      return how == arrangement::clusters ? center[k] + 2.5 / side * unit : unit;
    });
    of.points.push_back(cell.origin + f[0] * cell.vectors[0] + f[1] * cell.vectors[1] + f[2] * cell.vectors[2]);
    const bool positive = how == arrangement::jittered_lattice ? (place[0] + place[1] + place[2]) % 2 == 0 : i % 2 == 0;
    of.charges.push_back(positive || how == arrangement::one_sign ? 1.0 : -1.0);
  }
  return of;
}

struct measured_errors {
  double rounding = 0;  ///< of sums of these energies
  double points = 0;    ///< root mean square error of the energies of points
  double energy = 0;    ///< of the system, over the number of points
  double trace = 0;     ///< of the virial, over the number of points
  double component = 0;
};

/// In units of the reference energy.
[[nodiscard]] measured_errors errors_of(const ewald_case<double>& of, const ewald_results<double>& got,
                                        const ewald_results<double>& exact, bool dispersion) {
  const auto count = static_cast<double>(of.points.size());
  double squares = 0, volume = 0;
  for (const double q : of.charges) squares += q * q;
  static_cast<void>(detail::reciprocal(of.cells[0].vectors, volume));
  const double unit = squares / count / std::pow(std::cbrt(std::fabs(volume) / count), dispersion ? 6 : 1);
  measured_errors errors;
  for (std::size_t i = 0; i < got.energies.size(); ++i) {
    errors.rounding = std::max(errors.rounding, 2e-13 + 1e-14 * std::fabs(exact.energies[i]) / unit);
    errors.points += std::pow(got.energies[i] - exact.energies[i], 2);
  }
  errors.points = std::sqrt(errors.points / count) / unit;
  errors.energy = std::fabs(got.energy[0] - exact.energy[0]) / count / unit;
  const auto difference = [&](std::size_t k) { return (got.virial[k] - exact.virial[k]) / count / unit; };
  errors.trace = std::fabs(difference(0) + difference(4) + difference(8));
  for (std::size_t k = 0; k < 9; ++k) errors.component = std::max(errors.component, std::fabs(difference(k)));
  return errors;
}

[[nodiscard]] ewald_results<double> sums_of(const ewald_case<double>& of, const char* method, double accuracy,
                                            bool dispersion) {
  electrostatics_options options;
  options.method = method;
  options.accuracy = accuracy;
  if (dispersion) options.law = pair_law::dispersion;
  return compute_ewald(of, options);
}

void expect_bounds(const ewald_case<double>& of, const std::string& name, bool dispersion) {
  const auto exact = sums_of(of, "direct", 1e-13, dispersion);
  for (const char* method : {"spme", "esp", "direct"}) {
    for (const double accuracy : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10}) {
      const bool esp = std::string(method) == "esp";
      if (esp && (dispersion || accuracy < 5e-8)) continue;
      const auto got = sums_of(of, method, accuracy, dispersion);
      const measured_errors errors = errors_of(of, got, exact, dispersion);
      const std::string what = message(name, dispersion ? ", dispersion, " : ", ", method, ", ", accuracy);
      const double rounding = errors.rounding, energy = got.report.energy_error, virial = got.report.virial_error;
      EXPECT_LE(errors.points, energy + rounding) << what;
      EXPECT_LE(errors.energy, energy + rounding) << what;
      EXPECT_LE(errors.trace, virial + rounding) << what;
      EXPECT_LE(errors.component, virial + rounding) << what;
      EXPECT_GE(10 * errors.points + rounding, energy) << what << ": a bound that says little";
      if (std::getenv("QUADRAT_EWALD_SYSTEMS") == nullptr) continue;
      std::printf("%-48s energy %8.1e: points %5.2f, system %5.2f; virial %8.1e: trace %5.2f, component %5.2f\n",
                  what.c_str(), energy, errors.points / energy, errors.energy / energy, virial, errors.trace / virial,
                  errors.component / virial);
    }
  }
}

}  // namespace

TEST(ewald_energy_errors, bound_those_that_are_made) {
  for (const int side : {4, 8}) {
    for (const auto how : {arrangement::jittered_lattice, arrangement::uniform, arrangement::clusters}) {
      const auto of = charges_in(how, side, 3);
      expect_bounds(of, message(arrangement_names[static_cast<int>(how)], ", ", of.points.size(), " charges"), false);
    }
  }
}

TEST(ewald_energy_errors, bound_those_of_a_net_charge) {
  expect_bounds(charges_in(arrangement::one_sign, 6, 4), "one sign", false);
}

TEST(ewald_energy_errors, bound_those_of_dispersion) {
  expect_bounds(charges_in(arrangement::uniform, 6, 5), "uniform", true);
  expect_bounds(charges_in(arrangement::jittered_lattice, 6, 5), "jittered lattice", true);
}

}  // namespace quadrat::test
