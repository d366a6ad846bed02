// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ewald/ewald_case.hpp"
#include "support/backend.hpp"

// Crystals whose energy is known.

namespace quadrat::test {

namespace {

class crystal_test : public backend_test {};

/// A crystal: ions at fractions of a cubic cell of edge `edge`, repeated.
ewald_case<double> crystal(const std::vector<std::pair<vec<double, 3>, double>>& ions, double edge, int repeats) {
  ewald_case<double> of;
  for (int cell = 0; cell < repeats * repeats * repeats; ++cell) {
    const vec<double, 3> place{1.0 * (cell % repeats), 1.0 * (cell / repeats % repeats),
                               1.0 * (cell / repeats / repeats)};
    for (const auto& [fraction, charge] : ions) {
      of.points.push_back(edge * (place + fraction) + vec<double, 3>{0.4, 0.1, -0.3});
      of.charges.push_back(charge);
    }
  }
  const double length = edge * repeats;
  of.cells = {cell_of({length, 0, 0}, {0, length, 0}, {0, 0, length})};
  return of;
}

std::vector<std::pair<vec<double, 3>, double>> face_centered(const vec<double, 3>& other) {
  std::vector<std::pair<vec<double, 3>, double>> ions;
  for (const vec<double, 3>& at : {vec<double, 3>{0, 0, 0}, vec<double, 3>{0, 0.5, 0.5}, vec<double, 3>{0.5, 0, 0.5},
                                   vec<double, 3>{0.5, 0.5, 0}}) {
    ions.push_back({at, 1});
    ions.push_back({at + other, -1});
  }
  return ions;
}

struct known_crystal {
  const char* name;
  ewald_case<double> ions;
  double nearest;
  double madelung;
};

std::vector<known_crystal> known_crystals() {
  return {{"NaCl", crystal(face_centered({0.5, 0, 0}), 2, 2), 1, 1.747564594633182},
          {"CsCl", crystal({{{0, 0, 0}, 1}, {{0.5, 0.5, 0.5}, -1}}, 2, 3), std::sqrt(3.0), 1.762674773070988},
          {"ZnS", crystal(face_centered({0.25, 0.25, 0.25}), 2, 2), std::sqrt(3.0) / 2, 1.638055053388789}};
}

TEST_F(crystal_test, madelung_constants_are_exact_to_rounding) {
  for (const known_crystal& it : known_crystals()) {
    for (const char* method : {"direct", "spme", "esp"}) {
      electrostatics_options options;
      options.method = method;
      options.accuracy = std::string(method) == "direct" ? 1e-13 : 1e-9;
      const auto found = compute_ewald(it.ions, options);
      const double pairs = static_cast<double>(it.ions.points.size()) / 2;
      EXPECT_NEAR(-found.energy[0] / pairs * it.nearest / it.madelung, 1,
                  std::string(method) == "direct" ? 1e-12 : 1e-7)
          << it.name << " " << method;
      for (const auto& force : found.forces) EXPECT_LT(norm(force), 1e-7) << it.name << " " << method;
      // The energy of a crystal falls with 1 / length.
      EXPECT_NEAR((found.virial[0] + found.virial[4] + found.virial[8]) / found.energy[0], 1, 1e-6) << method;
    }
  }
}

}  // namespace

}  // namespace quadrat::test
