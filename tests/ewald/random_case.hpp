// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <random>

#include "reference/ewald.hpp"

// Seeded random systems of charges.

namespace quadrat::testing {

enum class ewald_arrangement { uniform, clusters, corner };

struct ewald_case {
  std::size_t points = 100;
  double skew = 0.5;    ///< the tangent of the largest angle between a vector and its axis: 1 is 45 degrees
  double flatness = 1;  ///< by which the third vector is shorter
  bool left_handed = false;
  bool neutral = true;
  ewald_arrangement arrangement = ewald_arrangement::uniform;
};

[[nodiscard]] inline reference::ewald_system random_system(const ewald_case& it, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1), either(-1, 1);
  std::normal_distribution<double> normal;
  reference::ewald_system system;
  const double edge = std::cbrt(static_cast<double>(it.points));
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t a = 0; a < 3; ++a) system.vectors[k][a] = edge * (a == k ? 0.8 + 0.4 * unit(random) : 0.0);
    for (std::size_t a = 0; a < k; ++a) system.vectors[k][a] = it.skew * either(random) * system.vectors[k][k];
  }
  for (double& x : system.vectors[2]) x /= it.flatness;
  if (it.left_handed) std::swap(system.vectors[0], system.vectors[1]);
  reference::vector3 center{};
  for (std::size_t i = 0; i < it.points; ++i) {
    if (i % 50 == 0) {
      for (double& x : center) x = unit(random);
    }
    reference::vector3 point{};
    for (std::size_t k = 0; k < 3; ++k) {
      double s = unit(random);
      if (it.arrangement == ewald_arrangement::clusters) s = center[k] + 0.03 * normal(random);
      if (it.arrangement == ewald_arrangement::corner) s *= 0.2;
      for (std::size_t a = 0; a < 3; ++a) point[a] += (s - std::floor(s)) * system.vectors[k][a];
    }
    system.points.push_back(point);
    const double size = 0.5 + unit(random);
    system.charges.push_back(it.neutral && i % 2 == 1 ? -system.charges.back() : size);
  }
  return system;
}

}  // namespace quadrat::testing
