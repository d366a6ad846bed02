// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/finite.hpp"
#include "hydro/normals.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/philox.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

/// The work of steps and measurements per sphere.
namespace quadrat::detail {

/// The standard normal numbers of one sphere in one draw.
template <typename T>
[[nodiscard]] QUADRAT_HD inline vec<T, 3> brownian_normal(std::uint64_t seed, std::uint64_t draw, std::size_t sphere) {
  const philox_block block = noise_words{seed, draw}.of(0, sphere);
  const vec<T, 2> first = normal_pair<T>(block.word[0], block.word[1]);
  return {first[0], first[1], normal_pair<T>(block.word[2], block.word[3])[0]};
}

/// Without hydrodynamic interactions: velocities = mobility * forces (if not nullptr) + scale * normal (if not 0).
template <typename T>
struct free_velocities {
  const vec<T, 3>* forces;
  T mobility;
  T scale;
  std::uint64_t seed;
  std::uint64_t draw;
  vec<T, 3>* velocities;

  QUADRAT_HD void operator()(std::size_t i) const { set(i, i); }
  QUADRAT_HD void set(std::size_t i, std::size_t sphere) const {
    vec<T, 3> sum{};
    if (forces != nullptr) sum = forces[i] * mobility;
    if (scale != T(0)) sum += brownian_normal<T>(seed, draw, sphere) * scale;
    velocities[i] = sum;
  }
};

template <typename T>
struct set_brownian_forces {
  vec<T, 3> force;
  vec<T, 3>* forces;
  T* energies;  ///< nullptr: not wanted

  QUADRAT_HD void operator()(std::size_t i) const {
    forces[i] = force;
    if (energies != nullptr) energies[i] = T(0);
  }
};

/// Moves by up to three velocities times their factors; nullptr: no velocity.
template <typename T>
struct brownian_velocities {
  const vec<T, 3>* velocity[3];
  T factor[3];

  [[nodiscard]] QUADRAT_HD vec<T, 3> move(std::size_t i) const {
    vec<T, 3> sum{};
    for (int k = 0; k < 3; ++k) {
      if (velocity[k] != nullptr) sum += velocity[k][i] * factor[k];
    }
    return sum;
  }
};

/// Whether a move is finite and shorter than half of the box along every axis.
template <typename T>
[[nodiscard]] QUADRAT_HD inline bool is_possible(const box<T, 3>& domain, const vec<T, 3>& move) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!(std::fabs(move[axis]) < domain.length[axis] / T(2))) return false;
  }
  return true;
}

/// Moves the spheres and counts the box faces that they cross. An impossible move is skipped and raises a fault of the
/// step.
template <typename T>
struct move_brownian {
  box<T, 3> domain;
  brownian_velocities<T> velocities;
  std::uint64_t step;
  run_fault fault;
  vec<T, 3>* positions;
  vec<std::int32_t, 3>* images;

  QUADRAT_HD void operator()(std::size_t i) const { move(i, static_cast<particle_id>(i)); }
  QUADRAT_HD void move(std::size_t i, particle_id sphere) const {
    const vec<T, 3> move = velocities.move(i);
    if (!is_possible(domain, move)) return fault.raise(step, sphere);
    const vec<T, 3> moved = positions[i] + move;
    const vec<T, 3> inside = domain.wrap(moved);
    for (int axis = 0; axis < 3; ++axis) {
      if (inside[axis] == moved[axis]) continue;
      // A position that rounds to the upper face becomes 0, in the next box.
      const T crossed = (moved[axis] - inside[axis]) / domain.length[axis];
      images[i][axis] += static_cast<std::int32_t>(crossed < T(0) ? crossed - T(0.5) : crossed + T(0.5));
    }
    positions[i] = inside;
  }
};

/// Computes the positions at the middle of a step.
template <typename T>
struct predict_brownian {
  box<T, 3> domain;
  brownian_velocities<T> velocities;
  std::uint64_t step;
  run_fault fault;
  const vec<T, 3>* positions;
  vec<T, 3>* predicted;

  QUADRAT_HD void operator()(std::size_t i) const { predict(i, static_cast<particle_id>(i)); }
  QUADRAT_HD void predict(std::size_t i, particle_id sphere) const {
    const vec<T, 3> move = velocities.move(i);
    const bool possible = is_possible(domain, move);
    if (!possible) fault.raise(step, sphere);
    predicted[i] = possible ? domain.wrap(positions[i] + move) : positions[i];
  }
};

/// Sums over spheres.
struct brownian_totals {
  vec<double, 3> displacement;
  double square;
  double draw_square;
  double energy;

  friend QUADRAT_HD brownian_totals operator+(const brownian_totals& a, const brownian_totals& b) {
    return {a.displacement + b.displacement, a.square + b.square, a.draw_square + b.draw_square, a.energy + b.energy};
  }
};

/// The displacement of a sphere since step 0.
template <typename T>
struct brownian_displacements {
  vec<double, 3> length;
  const vec<T, 3>* positions;
  const vec<std::int32_t, 3>* images;
  const vec<T, 3>* origins;

  [[nodiscard]] QUADRAT_HD vec<double, 3> operator()(std::size_t i) const {
    vec<double, 3> result{};
    for (int axis = 0; axis < 3; ++axis) {
      result[axis] = static_cast<double>(positions[i][axis]) - static_cast<double>(origins[i][axis]) +
                     static_cast<double>(images[i][axis]) * length[axis];
    }
    return result;
  }
};

template <typename T>
struct brownian_part {
  brownian_displacements<T> displacements;
  const vec<T, 3>* draw;
  const T* energies;

  [[nodiscard]] QUADRAT_HD brownian_totals operator()(std::size_t i) const {
    const vec<double, 3> moved = displacements(i);
    return {moved, squared_norm(moved), squared_norm(cast<double>(draw[i])), static_cast<double>(energies[i])};
  }
};

}  // namespace quadrat::detail
