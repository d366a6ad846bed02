// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/models/distributed_brownian.hpp"

// Brownian dynamics over the ranks of a communicator, compared with one rank within rounding.

namespace quadrat::test {

/// Chains of spheres under all forces, in a box that is no cube.
[[nodiscard]] inline brownian_options spheres_for_ranks(std::size_t count, const vec<double, 3>& box) {
  brownian_options options;
  options.box = box;
  options.radius = 1.1;
  options.viscosity = 0.7;
  options.temperature = 1.3;
  options.time_step = 0.05;
  options.method = "split";
  options.accuracy = 1e-2;
  options.force = {60, 0, -0.2};  // farther than the skin in some steps
  options.repulsion = 5;
  options.spring = 3;
  options.spring_length = 2.4;
  options.bonds = chain_bonds(count, 4);
  options.seed = 5;
  return options;
}

[[nodiscard]] inline std::vector<vec<double, 3>> places_for_ranks(const brownian_options& options, std::size_t count) {
  return brownian_positions(options, brownian_start::chains, count, 4);
}

/// The largest difference of the ways that a sphere has gone in two states.
template <typename T>
[[nodiscard]] double farthest_moved_apart(const brownian_options& options, const brownian_state<T>& a,
                                          const brownian_state<T>& b) {
  expect(a.positions.size() == b.positions.size() && a.origins == b.origins, "there are ", a.positions.size(),
         " spheres; expected ", b.positions.size(), " from the same places");
  double most = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const double off = static_cast<double>(a.positions[i][axis]) - static_cast<double>(b.positions[i][axis]) +
                         options.box[axis] * (a.images[i][axis] - b.images[i][axis]);
      most = std::max(most, std::fabs(off));
    }
  }
  return most;
}

template <typename T>
void check_brownian_scene(communicator& ranks, const brownian_options& options, std::size_t count,
                          const std::string& name, std::initializer_list<std::size_t> advances = {1, 6, 8}) {
  const backend_context context = context_of_rank(determinism::run_to_run);
  const bool root = ranks.rank() == 0;
  const auto start = places_for_ranks(options, count);
  brownian<backend_context, T> alone(context, options, start);
  distributed_brownian<backend_context, T> model(context, ranks, options, root ? start : std::vector<vec<double, 3>>());
  std::uint64_t all = model.own();
  ranks.add_up(&all, 1);
  expect(all == count, name, ": all ranks own ", all, " spheres");
  const double tolerance = sizeof(T) == 4 ? 2e-3 : 1e-9;
  for (const std::size_t steps : advances) {
    model.advance(steps);
    alone.advance(steps);
    const auto found = model.measure(), expected = alone.measure();
    expect(
        found.step == expected.step && std::fabs(found.mean_square_displacement - expected.mean_square_displacement) <=
                                           tolerance * (1 + expected.mean_square_displacement),
        name, ": the mean square displacement of step ", found.step, " is ", found.mean_square_displacement,
        "; one rank has ", expected.mean_square_displacement);
    const auto state = model.state();
    if (!root) continue;
    const double off = farthest_moved_apart(options, state, alone.state());
    expect(off <= tolerance, name, ": a sphere of step ", found.step, " is off by ", off);
  }
}

/// Few steps: ranks that are processes exchange many messages in each.
inline void check_brownian_midpoints(communicator& ranks, std::size_t count) {
  brownian_options options = spheres_for_ranks(count, {8, 9, 10});
  options.scheme = brownian_scheme::midpoint;
  check_brownian_scene<double>(ranks, options, count, "midpoint steps", {2, 3});
}

/// Both schemes, with and without interactions through the fluid; long bonds; a thin box; fewer spheres than ranks.
inline void check_brownian_on_ranks(communicator& ranks, std::size_t count) {
  const double edge = std::cbrt(static_cast<double>(count)) * 3.2;
  brownian_options options = spheres_for_ranks(count, {edge, 1.1 * edge, 1.2 * edge});
  check_brownian_scene<double>(ranks, options, count, "chains");
  options.scheme = brownian_scheme::midpoint;
  check_brownian_scene<float>(ranks, options, count, "midpoint steps");
  options.method = "free";
  options.time_step = 1;  // ghosts are chosen in most steps, for their middles too
  options.force = {0.3, 0, -0.2};
  options.spring = 0.3;
  check_brownian_scene<double>(ranks, options, count, "long steps without a fluid");
  options = spheres_for_ranks(count, {30, 32, 34});
  options.method = "free";
  options.repulsion = 0;
  options.spring_length = 11;
  check_brownian_scene<double>(ranks, options, count, "long bonds");
  options = spheres_for_ranks(count / 2, {10 * edge, 6, 6.5});
  options.bonds.clear();
  options.force = {};
  check_brownian_scene<double>(ranks, options, count / 2, "a rod");
  options.repulsion = 0;
  options.scheme = brownian_scheme::midpoint;
  check_brownian_scene<double>(ranks, options, 3, "three spheres under no force");
}

}  // namespace quadrat::test
