// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "distributed/models/granular.hpp"
#include "distributed/small_system.hpp"
#include "quadrat/models/distributed_granular_friction.hpp"
#include "support/random.hpp"

// Grains with friction over the ranks of a communicator, compared with one rank: the same bits.

namespace quadrat::test {

/// A box of 18 x 9 x 9 sites with moving grains of several sizes on some of them; neighbors may overlap a little.
struct friction_scene_of_ranks {
  granular_friction_options options{};
  std::vector<double> radii{};
  std::vector<vec<double, 3>> positions{};
  std::vector<vec<double, 3>> velocities{};
  std::vector<vec<double, 3>> spins{};
  std::vector<std::uint32_t> materials{};

  static constexpr double spacing = 0.0065;

  friction_scene_of_ranks() = default;
  /// Spreads the grains evenly over the first sites along each axis.
  friction_scene_of_ranks(std::size_t count, std::uint64_t seed, const vec<int, 3>& sites, double speed = 0.5) {
    std::mt19937_64 random(seed);
    options.lower = {0, 0, 0};
    options.upper = {18 * spacing, 9 * spacing, 9 * spacing};
    options.walls = walls_of_box(options.lower, options.upper);
    options.material.rolling_friction = 0.05;
    options.skin = 0.001;
    const auto all = static_cast<std::size_t>(sites[0] * sites[1] * sites[2]);
    expect(count <= all, count, " grains do not fit on ", all, " sites");
    for (std::size_t i = 0; i < count; ++i) {
      auto rest = static_cast<int>(i * all / count);
      radii.push_back(0.0025 + 0.001 * random_unit<double>(random));
      positions.push_back({});
      velocities.push_back({});
      spins.push_back({});
      for (int axis = 0; axis < 3; ++axis) {
        positions[i][axis] = spacing * (rest % sites[axis] + 0.5 + 0.02 * random_unit<double>(random));
        velocities[i][axis] = speed * (2 * random_unit<double>(random) - 1);
        spins[i][axis] = 50 * (2 * random_unit<double>(random) - 1);
        rest /= sites[axis];
      }
    }
  }
};

template <typename T>
[[nodiscard]] bool equal_states(const granular_friction_state<T>& a, const granular_friction_state<T>& b) {
  const auto same = [](const granular_contact_memory<T>& x, const granular_contact_memory<T>& y) {
    return x.first == y.first && x.second == y.second && x.displacement == y.displacement && x.scale == y.scale &&
           x.rolling == y.rolling;
  };
  return a.step == b.step && equal_bits(a.positions, b.positions) && equal_bits(a.remainders, b.remainders) &&
         equal_bits(a.velocities, b.velocities) && equal_bits(a.angular_velocities, b.angular_velocities) &&
         equal_bits(a.listed_positions, b.listed_positions) &&
         std::equal(a.contacts.begin(), a.contacts.end(), b.contacts.begin(), b.contacts.end(), same);
}

[[nodiscard]] inline bool equal_statistics(const granular_friction_statistics& a,
                                           const granular_friction_statistics& b) {
  return a.step == b.step && a.time == b.time && a.kinetic_energy == b.kinetic_energy &&
         a.rotational_energy == b.rotational_energy && a.elastic_energy == b.elastic_energy &&
         a.gravitational_energy == b.gravitational_energy && a.mean_height == b.mean_height &&
         a.contacts_per_particle == b.contacts_per_particle && a.largest_overlap == b.largest_overlap &&
         a.max_speed == b.max_speed && a.passed == b.passed && a.rebuilds == b.rebuilds;
}

template <typename T>
[[nodiscard]] distributed_granular_friction<backend_context, T> friction_on(communicator& ranks,
                                                                            const friction_scene_of_ranks& scene) {
  const friction_scene_of_ranks none;
  const friction_scene_of_ranks& mine = ranks.rank() == 0 ? scene : none;
  return {context_of_rank(), ranks,           scene.options, mine.radii,
          mine.positions,    mine.velocities, mine.spins,    mine.materials};
}
template <typename T>
[[nodiscard]] granular_friction<backend_context, T> friction_alone(const friction_scene_of_ranks& scene) {
  return {context_of_rank(), scene.options, scene.radii,    scene.positions,
          scene.velocities,  scene.spins,   scene.materials};
}

/// Takes steps on all ranks and on one; all must agree in every bit. Returns the contacts with a history.
template <typename T>
std::size_t check_friction_scene(communicator& ranks, const friction_scene_of_ranks& scene, const std::string& name) {
  auto alone = friction_alone<T>(scene);
  auto model = friction_on<T>(ranks, scene);
  std::size_t contacts = 0;
  std::uint64_t all = model.own();
  ranks.add_up(&all, 1);
  expect(all == scene.positions.size(), name, ": all ranks own ", all, " grains");
  for (const std::size_t steps : {0u, 1u, 30u, 90u}) {
    model.advance(steps);
    alone.advance(steps);
    expect(equal_statistics(model.measure(), alone.measure()), name, ": the statistics of step ", model.step(),
           " differ from those of one rank");
    const auto state = model.state();
    const auto expected = alone.state();
    expect(ranks.rank() != 0 || equal_states(state, expected), name, ": grains of step ", alone.step(),
           " differ from those of one rank");
    contacts = expected.contacts.size();
  }
  return contacts;
}

/// Three materials with all that contacts remember.
[[nodiscard]] inline friction_scene_of_ranks of_three_materials(friction_scene_of_ranks scene) {
  scene.options.rolling = rolling_resistance::sds;
  scene.options.material.rolling_damping = 0.2;
  scene.options.material.twisting_friction = 0.02;
  scene.options.further_materials = {scene.options.material, scene.options.material};
  scene.options.further_materials[0].density = 7800;
  scene.options.further_materials[1].young_modulus = 1e7;
  scene.options.material_pairs = {{.first = 2, .second = 0, .cohesion = 1e4}};
  scene.options.walls[3].material = 1;
  for (std::size_t i = 0; i < scene.positions.size(); ++i) {
    scene.materials.push_back(static_cast<std::uint32_t>(i * i % 3));
  }
  return scene;
}

/// Grains that touch at the start, so that contacts have histories at once; a corner.
inline void check_friction(communicator& ranks, std::size_t most) {
  const int layers = static_cast<int>(most / 45) + 1;
  const std::size_t contacts = check_friction_scene<double>(ranks, {most, 1, {layers, 5, 9}, 0.2}, "a heap");
  expect(contacts > most / 4, "the heap has ", contacts, " contacts: too few to prove anything");
  check_friction_scene<float>(ranks, {40, 3, {4, 4, 4}, 0.05}, "a corner");
  check_friction_scene<double>(ranks, of_three_materials({most / 2, 9, {layers, 5, 9}, 0.2}), "three materials");
}

/// Few grains, none, through a hole, in the same place, of one size.
inline void check_more_friction(communicator& ranks, std::size_t most) {
  check_friction_scene<float>(ranks, {most / 2, 2, {18, 2, 9}}, "a layer");
  check_friction_scene<double>(ranks, {1, 4, {18, 9, 9}}, "one grain");
  check_friction_scene<double>(ranks, {0, 5, {18, 9, 9}}, "no grain");
  constexpr double middle = 5 * friction_scene_of_ranks::spacing;
  friction_scene_of_ranks hopper(most / 3, 6, {18, 9, 9}, 0.1);
  hopper.options.walls.push_back({{0, middle, 0}, {0, 1, 0}, round_opening{{0.06, middle, 0.03}, 0.02}});
  check_friction_scene<float>(ranks, hopper, "a hopper");
  friction_scene_of_ranks pairs(20, 7, {18, 9, 9}, 0.1);
  pairs.options.material.young_modulus = 1e5;
  pairs.options.time_step = 1e-6;
  for (std::size_t i = 0; i < 10; ++i) pairs.positions[2 * i] = pairs.positions[2 * i + 1];
  check_friction_scene<double>(ranks, pairs, "concentric pairs");
  friction_scene_of_ranks equal(60, 8, {4, 4, 4}, 0.1);
  equal.radii.assign(1, 0.0033);
  equal.options.stiffness = contact_stiffness::linear;
  check_friction_scene<double>(ranks, equal, "equal grains");
}

}  // namespace quadrat::test
