// SPDX-License-Identifier: BSD-3-Clause
// The reference itself: known lattices, derivatives, and sums in other ways.
#include "reference/ewald.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "ewald/random_case.hpp"

namespace {

using quadrat::reference::dot3;
using quadrat::reference::ewald_result;
using quadrat::reference::ewald_slab_sum;
using quadrat::reference::ewald_sum;
using quadrat::reference::ewald_system;
using quadrat::reference::vector3;
using quadrat::testing::ewald_arrangement;
using quadrat::testing::random_system;

[[nodiscard]] ewald_system crystal(const std::array<vector3, 3>& vectors, const vector3& anion) {
  return {false, vectors, {{0, 0, 0}, anion}, {1, -1}, {}};
}

TEST(ewald_reference, madelung_constants_are_the_published_ones) {
  const std::array<vector3, 3> centered{{{0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}};
  const std::array<vector3, 3> cube{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const double diagonal = std::sqrt(3.0);
  EXPECT_NEAR(-0.5 * ewald_sum(crystal(centered, {0.5, 0.5, 0.5})).energy, 1.747564594633182, 1e-13);
  EXPECT_NEAR(-diagonal / 2 * ewald_sum(crystal(cube, {0.5, 0.5, 0.5})).energy, 1.762674773070988, 1e-13);
  EXPECT_NEAR(-diagonal / 4 * ewald_sum(crystal(centered, {0.25, 0.25, 0.25})).energy, 1.638055053388789, 1e-13);
}

/// Points and cell moved by the strain e: x -> x + e x, with e[a][b] = amount for one a, b.
[[nodiscard]] ewald_system strained(ewald_system it, std::size_t a, std::size_t b, double amount) {
  for (vector3& v : it.vectors) v[a] += amount * v[b];
  for (vector3& p : it.points) p[a] += amount * p[b];
  return it;
}

/// Forces, potentials and, except for slabs, the virial are derivatives of the energy.
template <typename Sum>
void expect_derivatives(const ewald_system& it, bool with_virial, const Sum& sum) {
  const ewald_result result = sum(it);
  const double h = 1e-4;
  const auto slope = [&](const ewald_system& up, const ewald_system& down) {
    return (sum(up).energy - sum(down).energy) / (2 * h);
  };
  for (const std::size_t i : {std::size_t{0}, it.points.size() - 1}) {
    for (std::size_t a = 0; a < 3; ++a) {
      ewald_system up = it, down = it;
      up.points[i][a] += h;
      down.points[i][a] -= h;
      EXPECT_NEAR(result.forces[i][a], -slope(up, down), 1e-5);
    }
    ewald_system up = it, down = it;
    up.charges[i] += h;
    down.charges[i] -= h;
    EXPECT_NEAR(result.potentials[i], slope(up, down), 1e-8);
  }
  for (std::size_t k = 0; with_virial && k < 9; ++k) {
    EXPECT_NEAR(result.virial[k], -slope(strained(it, k / 3, k % 3, h), strained(it, k / 3, k % 3, -h)), 2e-5) << k;
  }
}

TEST(ewald_reference, forces_potentials_and_virial_are_derivatives_of_the_energy) {
  for (const bool dispersion : {false, true}) {
    for (const bool neutral : {false, true}) {
      ewald_system it = random_system({.points = 7, .skew = 1, .left_handed = neutral, .neutral = neutral}, 3);
      it.dispersion = dispersion;
      it.scaled_pairs = {{0, 4, 0.25}, {6, 5, 0}};
      if (dispersion) {  // random points come near each other, and 1/r^7 is steep
        for (std::size_t i = 0; i < it.points.size(); ++i) it.charges[i] *= 0.1;
      }
      expect_derivatives(it, true, ewald_sum);
    }
  }
  ewald_system slab = random_system({.points = 6, .skew = 0.7, .neutral = false}, 4);
  slab.scaled_pairs = {{0, 4, 0.25}};
  expect_derivatives(slab, false, ewald_slab_sum);
}

TEST(ewald_reference, dispersion_is_the_plain_sum_over_images) {
  ewald_system it = random_system({.points = 4, .neutral = false}, 5);
  it.dispersion = true;
  it.scaled_pairs = {{0, 1, 0.5}};
  // Up to a distance, and beyond it the integral over a uniform density.
  const double far = 40;
  double energy = 0, total = 0;
  ewald_result pairs{0, std::vector<double>(4), std::vector<vector3>(4), {}};
  quadrat::reference::ewald_add_scaled_pairs(it, 3, pairs);
  for (std::size_t i = 0; i < 4; ++i) {
    total += it.charges[i];
    for (std::size_t j = 0; j < 4; ++j) {
      const vector3 d = quadrat::reference::ewald_separation(it, i, j);
      quadrat::reference::ewald_for_each_image(it, d, far, 3, [&](const vector3& image) {
        const double square = dot3(image, image);
        if (square > 0) energy -= 0.5 * it.charges[i] * it.charges[j] / (square * square * square);
      });
    }
  }
  energy -= 0.5 * total * total / it.volume() * 4 * std::numbers::pi / (3 * far * far * far);
  EXPECT_NEAR(ewald_sum(it).energy, energy + pairs.energy, 1e-6);
}

TEST(ewald_reference, slab_is_the_sum_over_three_directions_with_vacuum_and_its_correction) {
  for (const bool neutral : {true, false}) {
    const ewald_system slab = random_system({.points = 8, .skew = 0.6, .neutral = neutral}, 6);
    ewald_system cell = slab;
    for (double& x : cell.vectors[2]) x *= 8;
    // Yeh and Berkowitz 1999; Ballenegger, Arnold and Cerda 2009 for the net charge.
    const auto normal = quadrat::reference::cross3(cell.vectors[0], cell.vectors[1]);
    const double area = std::sqrt(dot3(normal, normal)), height = cell.volume() / area;
    double charge = 0, dipole = 0, quadrupole = 0;
    for (std::size_t i = 0; i < slab.points.size(); ++i) {
      const double z = dot3(normal, slab.points[i]) / area;
      charge += slab.charges[i];
      dipole += slab.charges[i] * z;
      quadrupole += slab.charges[i] * z * z;
    }
    const double factor = 2 * std::numbers::pi / cell.volume();
    const double correction = factor * (dipole * dipole - charge * quadrupole - charge * charge * height * height / 12);
    const ewald_result exact = ewald_slab_sum(slab), corrected = ewald_sum(cell);
    EXPECT_NEAR(corrected.energy + correction, exact.energy, 1e-10);
    for (std::size_t i = 0; i < slab.points.size(); ++i) {
      const double z = dot3(normal, slab.points[i]) / area;
      const double field = 2 * factor * slab.charges[i] * (dipole - charge * z) / area;
      for (std::size_t a = 0; a < 3; ++a) {
        EXPECT_NEAR(corrected.forces[i][a] - field * normal[a], exact.forces[i][a], 1e-10);
      }
    }
  }
}

TEST(ewald_reference, other_vectors_of_the_same_lattice_change_nothing) {
  const ewald_system it = random_system({.points = 20, .arrangement = ewald_arrangement::clusters}, 7);
  ewald_system other = it;
  for (std::size_t a = 0; a < 3; ++a) {
    other.vectors[1][a] += it.vectors[0][a];
    other.vectors[2][a] -= 2 * it.vectors[1][a];
    other.points[3][a] += 5 * it.vectors[2][a];
  }
  const ewald_result one = ewald_sum(it), two = ewald_sum(other);
  EXPECT_NEAR(one.energy, two.energy, 1e-11);
  for (std::size_t i = 0; i < it.points.size(); ++i) {
    for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(one.forces[i][a], two.forces[i][a], 1e-9);
  }
}

}  // namespace
