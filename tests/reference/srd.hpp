// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <vector>

#include "models/srd/random.hpp"
#include "quadrat/models/srd.hpp"

/// Plain serial stochastic rotation dynamics in double precision, with the model's random numbers.
namespace quadrat::reference {

/// Streams one particle for a time; accelerations are along the walls.
template <int D>
void srd_stream(const srd_options<D>& o, double time, vec<double, D>& x, vec<double, D>& v) {
  int wall = -1;
  double first = time;
  for (int axis = 0; axis < D; ++axis) {
    if (o.periodic[axis] || v[axis] == 0) continue;
    const double size = o.cells[axis] * o.cell_edge;
    const double hit = ((v[axis] > 0 ? size : 0) - x[axis]) / v[axis];
    if (hit >= first) continue;
    first = hit;
    wall = axis;
  }
  for (int axis = 0; axis < D; ++axis) {
    x[axis] += v[axis] * first + o.acceleration[axis] * first * first / 2;
    v[axis] += o.acceleration[axis] * first;
  }
  if (wall < 0) return;
  const std::size_t side = v[wall] > 0 ? 1 : 0;
  x[wall] = side == 1 ? o.cells[wall] * o.cell_edge : 0;
  v = o.wall_velocity[static_cast<std::size_t>(wall)][side] * 2.0 - v;
  srd_stream(o, time - first, x, v);
}

/// A vector rotated about a unit vector: by the matrix cos I + (1 - cos) n n + sin [n]x.
inline vec<double, 3> turned(const vec<double, 3>& w, const vec<double, 3>& n, double angle) {
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double matrix[3][3] = {
      {c + (1 - c) * n[0] * n[0], (1 - c) * n[0] * n[1] - s * n[2], (1 - c) * n[0] * n[2] + s * n[1]},
      {(1 - c) * n[1] * n[0] + s * n[2], c + (1 - c) * n[1] * n[1], (1 - c) * n[1] * n[2] - s * n[0]},
      {(1 - c) * n[2] * n[0] - s * n[1], (1 - c) * n[2] * n[1] + s * n[0], c + (1 - c) * n[2] * n[2]}};
  vec<double, 3> result{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) result[i] += matrix[i][j] * w[j];
  }
  return result;
}

inline vec<double, 3> random_turn(const vec<double, 3>& w, double angle, const detail::srd_draws& draws) {
  const philox_block words = draws.words(detail::srd_use::turn, 0);
  const double z = 2 * detail::srd_open_uniform<double>(words.word[0]) - 1;
  const double around = 2 * std::numbers::pi * detail::srd_uniform<double>(words.word[1]);
  const double radius = std::sqrt(1 - z * z);
  return turned(w, {radius * std::cos(around), radius * std::sin(around), z}, angle);
}

inline vec<double, 2> random_turn(const vec<double, 2>& w, double angle, const detail::srd_draws& draws) {
  const double signed_angle = draws.words(detail::srd_use::turn, 0).word[0] < 0x80000000u ? angle : -angle;
  const double c = std::cos(signed_angle);
  const double s = std::sin(signed_angle);
  return {c * w[0] - s * w[1], s * w[0] + c * w[1]};
}

/// The cell of the shifted grid, numbered as in the model, in its precision T; and the wall that cuts it.
template <int D>
struct srd_place {
  std::uint32_t cell = 0;
  const vec<double, D>* wall_velocity = nullptr;
};

template <typename T, int D>
srd_place<D> srd_place_of(const srd_options<D>& o, std::uint64_t step, const vec<T, D>& x) {
  const philox_block words = detail::srd_draws{o.seed, step, 0}.words(detail::srd_use::shift, 0);
  srd_place<D> place;
  std::uint32_t stride = 1;
  for (int axis = 0; axis < D; ++axis) {
    const T shift = static_cast<T>(o.cell_edge) * detail::srd_uniform<T>(words.word[axis]);
    int index = static_cast<int>((x[axis] + shift) * static_cast<T>(1 / o.cell_edge));
    const int last = o.periodic[axis] ? o.cells[axis] - 1 : o.cells[axis];
    if (index > last) index = o.periodic[axis] ? 0 : last;
    place.cell += stride * static_cast<std::uint32_t>(index);
    stride *= static_cast<std::uint32_t>(last + 1);
    if (o.periodic[axis] || place.wall_velocity != nullptr || (index > 0 && index < last)) continue;
    place.wall_velocity = &o.wall_velocity[static_cast<std::size_t>(axis)][index == 0 ? 0 : 1];
  }
  return place;
}

/// Collides the particles of one cell.
template <int D>
void srd_collide_cell(const srd_options<D>& o, const std::vector<double>& masses, const std::vector<std::size_t>& ids,
                      const vec<double, D>* wall_velocity, const detail::srd_draws& draws,
                      std::vector<vec<double, D>>& velocities) {
  double mass = 0;
  double energy = 0;
  double number = static_cast<double>(ids.size());
  vec<double, D> momentum{};
  for (const std::size_t i : ids) {
    mass += masses[i];
    momentum += velocities[i] * masses[i];
    energy += masses[i] * squared_norm(velocities[i]) / 2;
  }
  const double ghosts = wall_velocity == nullptr ? 0 : o.particles_per_cell - number;
  if (ghosts > 0) {
    const double m = ghosts * o.mass;
    const vec<double, D> p =
        *wall_velocity * m +
        detail::srd_normal<double, D>(draws.words(detail::srd_use::ghost_momentum, 0)) * std::sqrt(m * o.temperature);
    mass += m;
    momentum += p;
    energy += squared_norm(p) / (2 * m);
    if (ghosts > 1)
      energy += o.temperature * detail::srd_gamma(draws, detail::srd_use::ghost_energy, D * (ghosts - 1) / 2);
    number += std::max(ghosts, 1.0);
  }
  if (number <= 1) return;
  const vec<double, D> mean = momentum * (1 / mass);
  const double relative = energy - squared_norm(momentum) / (2 * mass);
  const double wanted = o.temperature * detail::srd_gamma(draws, detail::srd_use::scale, D * (number - 1) / 2);
  const double scale = o.thermostat ? std::sqrt(wanted / relative) : 1;
  const double angle = o.rotation_angle / 180 * std::numbers::pi;
  for (const std::size_t i : ids) velocities[i] = mean + random_turn(velocities[i] - mean, angle, draws) * scale;
}

/// Collides all particles, at positions in the precision of the model. `o`: completed options.
template <typename T, int D>
void srd_collide(const srd_options<D>& o, const std::vector<double>& masses, std::uint64_t step,
                 const std::vector<vec<T, D>>& positions, std::vector<vec<double, D>>& velocities) {
  std::map<std::uint32_t, std::vector<std::size_t>> cells;
  for (std::size_t i = 0; i < positions.size(); ++i) cells[srd_place_of(o, step, positions[i]).cell].push_back(i);
  for (const auto& [cell, ids] : cells) {
    const vec<double, D>* wall = srd_place_of(o, step, positions[ids[0]]).wall_velocity;
    srd_collide_cell<D>(o, masses, ids, wall, {o.seed, step, cell}, velocities);
  }
}

}  // namespace quadrat::reference
