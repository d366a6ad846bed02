// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "models/granular/support.hpp"
#include "quadrat/models/granular_friction.hpp"

// Shared by the tests of grains with friction.

namespace quadrat::test {

using friction_simulation = granular_friction<backend_context, double>;

[[nodiscard]] inline granular_friction_options without_gravity(granular_friction_options options = {}) {
  options.gravity = {0, 0, 0};
  return options;
}

/// Mass of a grain.
[[nodiscard]] inline double mass_of(const granular_friction_options& options, double radius) {
  return 4.0 / 3 * std::numbers::pi * options.material.density * radius * radius * radius;
}

[[nodiscard]] inline double total_energy(const granular_friction_statistics& s) {
  return s.kinetic_energy + s.rotational_energy + s.elastic_energy;
}

/// Grains that do not touch, in a box, with random radii and velocities.
struct loose_grains {
  std::array<double, 3> lower{0, 0, 0};
  std::array<double, 3> upper{};
  std::vector<double> radii;
  points positions;
  points velocities;
  points spins;

  /// `side`^3 grains of radius 2.5 to 5 mm, one in each cell of a lattice.
  loose_grains(std::size_t side, double speed, std::uint64_t seed, double cell = 0.0105) {
    std::mt19937_64 generator(seed);
    const auto unit = [&] { return random_unit<double>(generator); };
    upper = {cell * static_cast<double>(side), cell * static_cast<double>(side), cell * static_cast<double>(side)};
    for (std::size_t i = 0; i < side * side * side; ++i) {
      const std::size_t at[] = {i % side, i / side % side, i / side / side};
      const double radius = 0.0025 * (1 + unit());
      radii.push_back(radius);
      positions.push_back({});
      velocities.push_back({});
      spins.push_back({});
      for (int axis = 0; axis < 3; ++axis) {
        positions[i][axis] = cell * static_cast<double>(at[axis]) + radius + (cell - 2 * radius) * unit();
        velocities[i][axis] = speed * (2 * unit() - 1);
        spins[i][axis] = speed / 0.005 * (2 * unit() - 1);
      }
    }
  }
  [[nodiscard]] granular_friction_options in_box(granular_friction_options options = {}) const {
    options.lower = lower;
    options.upper = upper;
    options.walls = walls_of_box(lower, upper);
    return options;
  }
  template <typename T>
  [[nodiscard]] granular_friction<backend_context, T> simulate(const granular_friction_options& options,
                                                               const backend_context& context = make_context()) const {
    return {context, options, radii, positions, velocities, spins};
  }
};

template <typename T>
[[nodiscard]] bool same_bits(const granular_friction_state<T>& a, const granular_friction_state<T>& b) {
  const auto same_contact = [](const granular_contact_memory<T>& x, const granular_contact_memory<T>& y) {
    return x.first == y.first && x.second == y.second && x.displacement == y.displacement && x.scale == y.scale &&
           x.rolling == y.rolling;
  };
  return a.step == b.step && same_bits(a.positions, b.positions) && same_bits(a.remainders, b.remainders) &&
         same_bits(a.velocities, b.velocities) && same_bits(a.angular_velocities, b.angular_velocities) &&
         std::equal(a.contacts.begin(), a.contacts.end(), b.contacts.begin(), b.contacts.end(), same_contact);
}

}  // namespace quadrat::test
