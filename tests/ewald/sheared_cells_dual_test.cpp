// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "ewald/ewald_case.hpp"
#include "support/random.hpp"

// Sums in a cell are those in the same lattice with other vectors, at the same cost: cutoff and mesh are chosen for the
// shortest vectors.

namespace quadrat::test {

namespace {

class sheared_cells_test : public backend_test {};

struct shear_of_cell {
  double second;  ///< first vectors that are added to the second one
  double third;   ///< second vectors that are added to the third one
};

/// A cell whose vectors are the shortest, or the same lattice; a slab is sheared along its faces alone.
[[nodiscard]] lattice<double, 3> sheared_cell(const shear_of_cell& by, bool slab, bool left) {
  vec<double, 3> a{5, 0, 0}, b{0.5, 5.5, 0}, c{-0.25, 0.75, 6};
  if (left) std::swap(a, b);
  if (slab) c = {0, 0, 6};
  const vec<double, 3> second = b + by.second * a;
  return cell_of(a, second, slab ? c : c + by.third * second, slab);
}

[[nodiscard]] ewald_case<double> sheared_case(const shear_of_cell& by, bool slab = false, bool left = false,
                                              std::size_t count = 6) {
  const auto upright = sheared_cell({0, 0}, slab, left);
  std::mt19937_64 random(7);
  ewald_case<double> of;
  for (std::size_t i = 0; i < count; ++i) {
    auto point = upright.origin;
    for (int k = 0; k < 3; ++k) point += (0.05 + 0.9 * random_unit<double>(random)) * upright.vectors[k];
    of.points.push_back(point);
    of.charges.push_back(i % 2 == 0 ? 1.0 : -0.75);
  }
  of.cells = {sheared_cell(by, slab, left)};
  of.pairs = {{0, 1, 0.25}};
  return of;
}

void expect_the_same(const ewald_results<double>& got, const ewald_results<double>& wanted, double tolerance) {
  EXPECT_EQ(got.report.method, wanted.report.method);
  // The mesh follows the shortest vectors, in whichever order they are found.
  const auto sorted_mesh = [](const ewald_results<double>& one) {
    const auto& mesh = one.report.parameters.mesh;
    std::array<int, 3> extents{mesh[0], mesh[1], mesh[2]};
    std::ranges::sort(extents);
    return extents;
  };
  EXPECT_EQ(sorted_mesh(got), sorted_mesh(wanted));
  EXPECT_NEAR(got.report.parameters.cutoff, wanted.report.parameters.cutoff, 1e-6);
  EXPECT_NEAR(got.energy[0], wanted.energy[0], tolerance * (1 + std::fabs(wanted.energy[0])));
  for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(got.virial[k], wanted.virial[k], 10 * tolerance) << k;
  for (std::size_t i = 0; i < wanted.forces.size(); ++i) {
    EXPECT_LT(norm(got.forces[i] - wanted.forces[i]), tolerance) << "force " << i;
    EXPECT_NEAR(got.potentials[i], wanted.potentials[i], tolerance) << i;
    EXPECT_NEAR(got.energies[i], wanted.energies[i], tolerance) << i;
  }
}

constexpr shear_of_cell shears[] = {{1, 0}, {-10, 1}, {30, -3}, {300, 0}, {300, 30}};

}  // namespace

TEST_F(sheared_cells_test, have_energies_forces_and_virials_of_the_same_lattice_at_the_same_cost) {
  for (const char* method : {"spme", "esp", "direct"}) {
    for (const bool left : {false, true}) {
      electrostatics_options options;
      options.method = method;
      options.accuracy = 1e-5;
      const auto wanted = compute_ewald(sheared_case({0, 0}, false, left), options);
      for (const auto& by : shears) {
        SCOPED_TRACE(message(method, left ? ", left-handed" : "", ", sheared by ", by.second, " and ", by.third));
        expect_the_same(compute_ewald(sheared_case(by, false, left), options), wanted, 1e-8);
      }
    }
  }
}

TEST_F(sheared_cells_test, have_the_dispersion_of_the_same_lattice) {
  electrostatics_options options;
  options.law = pair_law::dispersion;
  options.accuracy = 1e-5;
  const auto wanted = compute_ewald(sheared_case({0, 0}), options);
  for (const auto& by : shears) {
    SCOPED_TRACE(message("sheared by ", by.second, " and ", by.third));
    expect_the_same(compute_ewald(sheared_case(by), options), wanted, 1e-8);
  }
}

TEST_F(sheared_cells_test, of_slabs_are_sheared_along_their_faces) {
  electrostatics_options options;
  options.accuracy = 1e-5;
  const auto wanted = compute_ewald(sheared_case({0, 0}, true), options);
  for (const auto& by : shears) {
    SCOPED_TRACE(message("sheared by ", by.second));
    expect_the_same(compute_ewald(sheared_case(by, true), options), wanted, 1e-8);
  }
}

TEST_F(sheared_cells_test, agree_in_float_and_in_a_batch) {
  electrostatics_options options;
  options.accuracy = 1e-4;
  ewald_case<float> all;
  for (const auto& by : {shear_of_cell{0, 0}, shear_of_cell{1, 0}, shear_of_cell{-30, 0}}) {
    const auto one = sheared_case(by);
    const auto system = static_cast<std::uint32_t>(all.cells.size());
    for (std::size_t i = 0; i < one.points.size(); ++i) {
      all.points.push_back(cast<float>(one.points[i]));
      all.charges.push_back(static_cast<float>(one.charges[i]));
      all.system_of_point.push_back(system);
    }
    const auto& cell = one.cells[0];
    all.cells.push_back(make_lattice<float, 3>(
        cast<float>(cell.origin), make_vec<vec<float, 3>, 3>([&](int k) { return cast<float>(cell.vectors[k]); }),
        cell.periodic));
  }
  const auto got = compute_ewald(all, options);
  for (std::size_t s = 1; s < 3; ++s) {
    EXPECT_NEAR(got.energy[s], got.energy[0], 1e-4 * (1 + std::fabs(got.energy[0])));
    for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(got.virial[9 * s + k], got.virial[k], 1e-3);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_LT(norm(got.forces[6 * s + i] - got.forces[i]), 1e-3F);
  }
}

TEST_F(sheared_cells_test, keep_a_mesh_that_was_asked_for_along_their_own_vectors) {
  electrostatics_options options;
  options.method = "spme";
  options.parameters = {.cutoff = 2.5, .splitting = 1.4, .mesh = {24, 48, 24}, .order = 8};
  const auto of = sheared_case({1, 0});
  const auto got = compute_ewald(of, options);
  EXPECT_EQ(got.report.parameters.mesh, options.parameters.mesh);
  electrostatics_options exact;
  exact.method = "direct";
  exact.accuracy = 1e-10;
  const auto wanted = compute_ewald(of, exact);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_LT(norm(got.forces[i] - wanted.forces[i]), 1e-3) << i;
}

TEST_F(sheared_cells_test, points_too_far_away_are_still_named) {
  auto of = sheared_case({30, 0});
  of.points[2] += 3e6 * of.cells[0].vectors[1];
  try {
    static_cast<void>(compute_ewald(of, {}));
    FAIL();
  } catch (const data_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("point 2"), std::string::npos) << problem.what();
  }
}

}  // namespace quadrat::test
