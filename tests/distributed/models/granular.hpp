// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/models/distributed_granular.hpp"
#include "support/random.hpp"

// The granular model over the ranks of a communicator, compared with one rank: the same bits at `canonical`.

namespace quadrat::test {

/// A box of 2 x 1 x 1 with moving grains in some part of it.
struct granular_scene_of_ranks {
  granular_options options{};
  std::vector<vec<double, 3>> positions{};
  std::vector<vec<double, 3>> velocities{};

  /// `part`: of each edge of the box that is filled, from the lower corner.
  granular_scene_of_ranks(std::size_t count, std::uint64_t seed, const vec<double, 3>& part, double speed = 0.01) {
    std::mt19937_64 random(seed);
    options.lower = {0, 0, 0};
    options.upper = {2, 1, 1};
    options.parameters.radius = 1.0 / 32;
    options.parameters.collider = granular_collider{{1.2, 0, 0.5}, 0.2};
    for (std::size_t i = 0; i < count; ++i) {
      auto& position = positions.emplace_back();
      auto& velocity = velocities.emplace_back();
      for (int axis = 0; axis < 3; ++axis) {
        const double free = options.upper[static_cast<std::size_t>(axis)] - 1.0 / 16;
        position[axis] = 1.0 / 32 + free * part[axis] * random_unit<double>(random);
        velocity[axis] = speed * (2 * random_unit<double>(random) - 1);
      }
    }
  }
};

template <typename T>
[[nodiscard]] bool equal_bits(const std::vector<vec<T, 3>>& a, const std::vector<vec<T, 3>>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
}

[[nodiscard]] inline bool equal_statistics(const granular_statistics& a, const granular_statistics& b) {
  return a.step == b.step && a.kinetic_energy == b.kinetic_energy && a.contact_energy == b.contact_energy &&
         a.gravitational_energy == b.gravitational_energy && a.mean_height == b.mean_height &&
         a.contacts_per_particle == b.contacts_per_particle && a.candidates_per_particle == b.candidates_per_particle &&
         a.largest_cell == b.largest_cell && a.max_speed == b.max_speed;
}

/// Takes steps on all ranks and on one; all must agree in every bit.
template <typename T>
void check_granular_scene(communicator& ranks, const granular_scene_of_ranks& scene, double skin,
                          const std::string& name, halo_overlap overlap = halo_overlap::never) {
  const backend_context context = context_of_rank(determinism::canonical);
  const bool root = ranks.rank() == 0;
  const std::vector<vec<double, 3>> none;
  granular<backend_context, T> alone(context, scene.options, scene.positions, scene.velocities);
  distributed_granular<backend_context, T> model(context, ranks, scene.options, root ? scene.positions : none,
                                                 root ? scene.velocities : none, skin, overlap);
  std::uint64_t all = model.own();
  ranks.add_up(&all, 1);
  expect(all == scene.positions.size(), name, ": all ranks own ", all, " grains");
  for (const std::size_t steps : {1u, 7u, 32u}) {
    model.advance(steps);
    alone.advance(steps);
    expect(equal_statistics(model.measure(), alone.measure()), name, ": the statistics of step ", model.step(),
           " differ from those of one rank");
    const auto state = model.state();
    const auto expected = alone.state();
    expect(!root || (equal_bits(state.positions, expected.positions) &&
                     equal_bits(state.velocities, expected.velocities) && state.step == expected.step),
           name, ": grains of step ", alone.step(), " differ from those of one rank");
  }
}

/// Layers of grains that touch, and move little.
[[nodiscard]] inline granular_scene_of_ranks slow_heap(std::size_t count, double speed = 1e-4) {
  granular_scene_of_ranks scene(count, 8, {1, 1, 1}, speed);
  constexpr double spacing = 0.98 / 16;
  for (std::size_t i = 0; i < count; ++i) {
    const vec<std::size_t, 3> place{i % 30, i / 480, i / 30 % 16};
    for (int axis = 0; axis < 3; ++axis) {
      scene.positions[i][axis] = 1.0 / 32 + spacing * static_cast<double>(place[axis]);
    }
  }
  return scene;
}

/// Many grains, few, none; all in one corner, so that blocks are cells; a layer. In some, grains are pushed while
/// ghosts travel.
inline void check_granular(communicator& ranks, std::size_t most) {
  constexpr halo_overlap overlapping = halo_overlap::always;
  check_granular_scene<float>(ranks, {most, 1, {1, 1, 1}}, 0.5, "a full box");
  check_granular_scene<double>(ranks, {most / 3, 2, {0.3, 0.4, 1}}, 0.5, "a dam", overlapping);
  check_granular_scene<double>(ranks, {most / 3, 3, {0.3, 0.4, 1}}, 0, "a dam without skin");
  check_granular_scene<float>(ranks, {60, 4, {0.04, 0.08, 0.08}, 0.001}, 0.3, "a corner", overlapping);
  check_granular_scene<float>(ranks, {100, 5, {1, 0, 1}, 0.1}, 0.5, "a fast layer", overlapping);
  check_granular_scene<double>(ranks, {1, 6, {1, 1, 1}}, 0.5, "one grain", overlapping);
  check_granular_scene<double>(ranks, {0, 7, {1, 1, 1}}, 0.5, "no grain", overlapping);
  // On CPUs by rows of near grains.
  check_granular_scene<float>(ranks, slow_heap(most), 0.5, "a slow heap", overlapping);
  check_granular_scene<double>(ranks, slow_heap(most / 2), 0.4, "a small slow heap");
  // Rows are made anew for the same ghosts.
  check_granular_scene<float>(ranks, slow_heap(most, 3e-3), 2, "a heap that stirs", overlapping);
}

}  // namespace quadrat::test
