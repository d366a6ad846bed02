// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/models/granular.hpp"

/// A plain serial granular model: every grain against every other.
namespace quadrat::reference {

template <typename T>
struct grains {
  std::vector<vec<T, 3>> positions;
  std::vector<vec<T, 3>> velocities;
};

/// The force of the sphere at `other` (velocity u relative to the grain) on the grain at `position`.
template <typename T>
vec<T, 3> contact_force(const granular_parameters& p, const vec<T, 3>& r, const vec<T, 3>& u, T reach) {
  const T distance = std::sqrt(dot(r, r));
  if (distance == 0) return u * static_cast<T>(p.damping + p.shear);
  const vec<T, 3> n = r * (1 / distance);
  return n * (static_cast<T>(-p.spring) * (reach - distance)) + u * static_cast<T>(p.damping) +
         (u - n * dot(u, n)) * static_cast<T>(p.shear) + r * static_cast<T>(p.attraction);
}

template <typename T>
void move(const granular_options& options, grains<T>& g) {
  const granular_parameters& p = options.parameters;
  for (std::size_t i = 0; i < g.positions.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      T& x = g.positions[i][axis];
      T& v = g.velocities[i][axis];
      v = (v + static_cast<T>(p.gravity[a] * p.time_step)) * static_cast<T>(p.global_damping);
      x += v * static_cast<T>(p.time_step);
      const T low = static_cast<T>(options.lower[a] + p.radius);
      const T high = static_cast<T>(options.upper[a] - p.radius);
      if (x < low || x > high) v *= static_cast<T>(p.wall_restitution);
      x = std::fmin(std::fmax(x, low), high);
    }
  }
}

/// One step of the model.
template <typename T>
void step(const granular_options& options, grains<T>& g) {
  const granular_parameters& p = options.parameters;
  move(options, g);
  const T diameter = static_cast<T>(2 * p.radius);
  std::vector<vec<T, 3>> next = g.velocities;
  for (std::size_t i = 0; i < g.positions.size(); ++i) {
    for (std::size_t j = 0; j < g.positions.size(); ++j) {
      const vec<T, 3> r = g.positions[j] - g.positions[i];
      if (i == j || !(squared_norm(r) < diameter * diameter)) continue;
      next[i] += contact_force(p, r, g.velocities[j] - g.velocities[i], diameter);
    }
    if (!p.collider) continue;
    const T reach = static_cast<T>(p.collider->radius + p.radius);
    vec<T, 3> r{};
    for (int axis = 0; axis < 3; ++axis) {
      r[axis] = static_cast<T>(p.collider->center[static_cast<std::size_t>(axis)]) - g.positions[i][axis];
    }
    if (squared_norm(r) < reach * reach) next[i] += contact_force(p, r, g.velocities[i] * T(-1), reach);
  }
  g.velocities = next;
}

}  // namespace quadrat::reference
