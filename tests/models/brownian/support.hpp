// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "quadrat/models/brownian.hpp"
#include "reference/mobility.hpp"
#include "support/backend.hpp"

// Shared by the tests of Brownian dynamics.

namespace quadrat::test {

using brownian_precisions = testing::Types<float, double>;

/// A cube in which `count` spheres of radius 1.2 take this part of the volume; units that are not 1.
[[nodiscard]] inline brownian_options suspension(std::size_t count, double volume_fraction) {
  brownian_options options;
  options.radius = 1.2;
  options.viscosity = 0.7;
  options.temperature = 1.5;
  options.time_step = 0.02;
  const double volume = 4 * std::numbers::pi / 3 * std::pow(options.radius, 3) * static_cast<double>(count);
  options.box = vec<double, 3>::filled(std::cbrt(volume / volume_fraction));
  return options;
}

/// The same with forces of all kinds, in a box of three extents: chains of 4 that repel each other.
[[nodiscard]] inline brownian_options crowd(std::size_t count) {
  brownian_options options = suspension(count, 0.2);
  options.box[0] *= 1.25;
  options.box[1] *= 0.8;
  options.repulsion = 5;
  options.spring = 3;
  options.spring_length = 2.6;
  options.force = {0.3, 0, -0.2};
  options.bonds = chain_bonds(count, 4);
  return options;
}

[[nodiscard]] inline double free_mobility_of(const brownian_options& options) {
  return 1 / (6 * std::numbers::pi * options.viscosity * options.radius);
}

template <typename T>
[[nodiscard]] reference::mobility_system reference_of(const brownian_options& options,
                                                      const std::vector<vec<T, 3>>& positions) {
  reference::mobility_system result{
      {options.box[0], options.box[1], options.box[2]}, options.radius, options.viscosity, {}};
  for (const vec<T, 3>& place : positions) {
    result.points.push_back(
        {static_cast<double>(place[0]), static_cast<double>(place[1]), static_cast<double>(place[2])});
  }
  return result;
}

/// All forces of the options on spheres at these places, by plain loops.
template <typename T>
[[nodiscard]] std::vector<double> reference_forces(const brownian_options& options,
                                                   const std::vector<vec<T, 3>>& positions, double* energy = nullptr) {
  const std::size_t count = positions.size();
  std::vector<double> forces(3 * count);
  double sum = 0;
  const auto pull = [&](std::size_t i, std::size_t j, double constant, double length, bool repulsive) {
    vec<double, 3> d{};
    for (int axis = 0; axis < 3; ++axis) {
      d[axis] = static_cast<double>(positions[j][axis]) - static_cast<double>(positions[i][axis]);
      d[axis] -= std::round(d[axis] / options.box[axis]) * options.box[axis];
    }
    const double r = norm(d), extension = r - length;
    if (repulsive && extension > 0) return;
    sum += constant * extension * extension / 2;
    for (int axis = 0; axis < 3; ++axis) {
      const double force = constant * extension * (r > 0 ? d[axis] / r : 0);
      forces[3 * i + static_cast<std::size_t>(axis)] += force;
      forces[3 * j + static_cast<std::size_t>(axis)] -= force;
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) forces[3 * i + static_cast<std::size_t>(axis)] += options.force[axis];
    const double range = options.repulsion_range > 0 ? options.repulsion_range : 2 * options.radius;
    for (std::size_t j = 0; j < i && options.repulsion > 0; ++j) pull(i, j, options.repulsion, range, true);
  }
  for (const brownian_bond& bond : options.bonds) {
    pull(bond[0], bond[1], options.spring, options.spring_length, false);
  }
  if (energy != nullptr) *energy = sum;
  return forces;
}

/// One thread: for few spheres, several would mostly wait for each other.
[[nodiscard]] inline backend_context brownian_context(determinism level = determinism::run_to_run, int threads = 1) {
  return context_at(level, threads);
}

}  // namespace quadrat::test
