// SPDX-License-Identifier: BSD-3-Clause
// The reference of the mobility itself: known values, independence of the splitting, symmetry, positive eigenvalues.
#include "reference/mobility.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace {

using quadrat::reference::cholesky_factor;
using quadrat::reference::free_mobility;
using quadrat::reference::mobility_matrix;
using quadrat::reference::mobility_sum;
using quadrat::reference::mobility_system;
using quadrat::reference::self_mobility_in_cube;
using quadrat::reference::vector3;

[[nodiscard]] mobility_system random_spheres(std::size_t count, const vector3& box, double radius, unsigned seed) {
  std::mt19937_64 random(seed);
  mobility_system result{box, radius, 0.7, {}};
  for (std::size_t i = 0; i < count; ++i) {
    vector3 point{};
    for (std::size_t a = 0; a < 3; ++a) point[a] = box[a] * std::uniform_real_distribution<double>(0, 1)(random);
    result.points.push_back(point);
  }
  return result;
}

TEST(mobility_reference, one_sphere_in_a_cube_has_the_published_mobility) {
  for (const double edge : {4.0, 6.0, 10.0, 30.0}) {
    const double radius = 1.3;
    const mobility_system it{{edge * radius, edge * radius, edge * radius}, radius, 0.7, {}};
    const std::array<double, 9> self = mobility_sum(it).tensor({});
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) {
        const double expected = a == b ? self_mobility_in_cube(1, edge) : 0;
        EXPECT_NEAR(self[3 * a + b] / it.single(), expected, 1e-13) << edge;
      }
    }
  }
}

TEST(mobility_reference, the_splitting_makes_no_difference) {
  const mobility_system it = random_spheres(4, {5, 6, 8}, 1, 3);
  const std::vector<double> first = mobility_matrix(it);
  for (const double splitting : {0.35, 0.5, 1.1}) {
    const std::vector<double> other = mobility_matrix(it, splitting);
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_NEAR(other[i] / it.single(), first[i] / it.single(), 1e-13) << splitting;
    }
  }
}

TEST(mobility_reference, two_spheres_in_a_very_large_cube_are_as_in_free_space) {
  // What images change is the mobility of one sphere, plus terms of the order of r^2 / L^3.
  const double edge = 2000;
  const mobility_system it{{edge, edge, edge}, 1, 1, {}};
  const mobility_sum sum(it);
  const double images = self_mobility_in_cube(1, edge) - 1;
  for (const double r : {0.5, 1.9, 2.0, 2.1, 5.0}) {
    const std::array<double, 9> pair = sum.tensor({0, 0, r});
    EXPECT_NEAR(pair[0] / it.single(), free_mobility(r, 1).across + images, 1e-7) << r;
    EXPECT_NEAR(pair[8] / it.single(), free_mobility(r, 1).along + images, 1e-7) << r;
  }
}

TEST(mobility_reference, the_matrix_is_symmetric_and_positive_even_when_spheres_overlap) {
  const mobility_system it = random_spheres(40, {6, 5, 7}, 1, 4);
  const std::vector<double> matrix = mobility_matrix(it);
  const std::size_t width = 3 * it.points.size();
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(matrix[i * width + j], matrix[j * width + i]);
  }
  const std::vector<double> factor = cholesky_factor(matrix, width);
  double worst = 0;
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < width; ++k) sum += factor[i * width + k] * factor[j * width + k];
      worst = std::max(worst, std::fabs(sum - matrix[i * width + j]));
    }
  }
  EXPECT_LT(worst, 1e-14 * it.single() * static_cast<double>(width));
}

TEST(mobility_reference, a_force_on_all_spheres_alike_moves_a_periodic_lattice_as_one_sphere_in_its_cell) {
  mobility_system it{{8, 8, 8}, 1, 1, {}};
  for (int i = 0; i < 8; ++i) it.points.push_back({4.0 * (i & 1), 4.0 * (i >> 1 & 1), 4.0 * (i >> 2)});
  std::vector<double> forces(24);
  for (std::size_t i = 0; i < 8; ++i) forces[3 * i + 1] = 1;
  const std::vector<double> velocities = quadrat::reference::product(mobility_matrix(it), forces);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(velocities[3 * i + 1] / it.single(), self_mobility_in_cube(1, 4), 1e-12);
  }
}

}  // namespace
