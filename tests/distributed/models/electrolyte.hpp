// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/models/distributed_electrolyte.hpp"

// The electrolyte over the ranks of a communicator, compared with one rank within rounding.

namespace quadrat::test {

/// Ions that differ in charge, mass and size, in a box that is no cube.
[[nodiscard]] inline electrolyte_options ions_for_ranks(std::size_t third, const vec<double, 3>& box) {
  electrolyte_options options;
  options.box = box;
  options.species = {{third, 2, 3, 1.2}, {2 * third, -1, 0.7, 0.8}};
  options.coulomb_constant = 1.5;
  options.accuracy = 1e-3;
  options.method = "spme";
  options.seed = 5;
  return options;
}

/// The largest distance of the same ion in two states, over the shortest way around the box.
template <typename T>
[[nodiscard]] double farthest_apart(const electrolyte_options& options, const electrolyte_state<T>& a,
                                    const electrolyte_state<T>& b) {
  expect(a.positions.size() == b.positions.size() && a.velocities.size() == b.velocities.size(), "there are ",
         a.positions.size(), " ions; expected ", b.positions.size());
  double most = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const double off =
          std::fabs(static_cast<double>(a.positions[i][axis]) - static_cast<double>(b.positions[i][axis]));
      most = std::max(most, std::min(off, std::fabs(options.box[axis] - off)));
    }
  }
  return most;
}

template <typename T>
void check_electrolyte_scene(communicator& ranks, const electrolyte_options& options, const std::string& name) {
  const backend_context context = context_of_rank(determinism::run_to_run);
  const bool root = ranks.rank() == 0;
  const electrolyte_particles start = electrolyte_start(options);
  electrolyte<backend_context, T> alone(context, options, start);
  distributed_electrolyte<backend_context, T> model(context, ranks, options, root ? start : electrolyte_particles());
  std::uint64_t all = model.own();
  ranks.add_up(&all, 1);
  expect(all == start.positions.size(), name, ": all ranks own ", all, " ions");
  expect(alone.report().parameters.mesh == model.sums().parameters.mesh &&
             alone.report().parameters.cutoff == model.sums().parameters.cutoff,
         name, ": ranks do not sum as one does");
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-10;
  for (const std::size_t steps : {1u, 9u, 15u}) {
    model.advance(steps);
    alone.advance(steps);
    const auto found = model.measure(), expected = alone.measure();
    const double scale = std::fabs(expected.kinetic_energy) + std::fabs(expected.coulomb_energy);
    expect(found.step == expected.step && std::fabs(found.total_energy - expected.total_energy) <= tolerance * scale,
           name, ": the energy of step ", found.step, " is ", found.total_energy, "; one rank has ",
           expected.total_energy);
    const auto state = model.state();
    if (!root) continue;
    const double off = farthest_apart(options, state, alone.state());
    expect(off <= tolerance, name, ": an ion of step ", found.step, " is off by ", off);
  }
}

/// With and without the thermostat; a thin box; fewer ions than ranks.
inline void check_electrolyte_on_ranks(communicator& ranks, std::size_t third) {
  const double edge = std::cbrt(static_cast<double>(third)) * 2.3;
  check_electrolyte_scene<double>(ranks, ions_for_ranks(third, {edge, 1.1 * edge, 1.2 * edge}), "a solution");
  electrolyte_options rod = ions_for_ranks(third / 2, {12 * edge, 3, 3.5});
  rod.dynamics = electrolyte_dynamics::verlet;
  check_electrolyte_scene<float>(ranks, rod, "a rod");
  check_electrolyte_scene<double>(ranks, ions_for_ranks(1, {6, 7, 8}), "three ions");
}

}  // namespace quadrat::test
