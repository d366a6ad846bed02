// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/models/distributed_circles.hpp"

// Circles over the ranks of a communicator, compared with one rank: the same bits at `canonical`.

namespace quadrat::test {

template <int D>
struct circles_scene_of_ranks {
  circles_options options{};
  std::vector<vec<double, D>> positions{};

  /// `part`: of each edge of the box that is filled, from the lower corner.
  circles_scene_of_ranks(circles_form form, double width, std::size_t count, double part = 1, double strength = 1) {
    options.parameters = circles_defaults(form);
    options.parameters.width = width;
    options.parameters.radius = form == circles_form::sine ? 2 : 1;
    options.parameters.force *= strength;
    options.parameters.repulsion *= 10 * strength;
    options.parameters.attraction *= 20 * strength;
    positions = circles_initial_positions<D>(options.parameters, count, 5);
    const box<double, D> domain = circles_box<D>(options.parameters);
    for (auto& position : positions) position = domain.lower + (position - domain.lower) * part;
  }
};

template <typename T, int D>
[[nodiscard]] bool equal_agents(const std::vector<vec<T, D>>& a, const std::vector<vec<T, D>>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
}

[[nodiscard]] inline bool equal_statistics(const circles_statistics& a, const circles_statistics& b) {
  return a.step == b.step && a.mean_neighbors == b.mean_neighbors && a.neighbor_deviation == b.neighbor_deviation &&
         a.most_neighbors == b.most_neighbors && a.candidates_per_agent == b.candidates_per_agent &&
         a.mean_displacement == b.mean_displacement && a.max_displacement == b.max_displacement;
}

/// Takes steps on all ranks and on one; all must agree in every bit.
template <typename T, int D>
void check_circles_scene(communicator& ranks, const circles_scene_of_ranks<D>& scene, const std::string& name) {
  const backend_context context = context_of_rank(determinism::canonical);
  const bool root = ranks.rank() == 0;
  const std::vector<vec<double, D>> none;
  circles<backend_context, T, D> alone(context, scene.options, scene.positions);
  distributed_circles<backend_context, T, D> model(context, ranks, scene.options, root ? scene.positions : none);
  std::uint64_t all = model.own();
  ranks.add_up(&all, 1);
  expect(all == scene.positions.size(), name, ": all ranks own ", all, " agents");
  for (const std::size_t steps : {1u, 6u, 30u}) {
    model.advance(steps);
    alone.advance(steps);
    expect(equal_statistics(model.measure(), alone.measure()), name, ": the statistics of step ", model.step(),
           " differ from those of one rank");
    const auto state = model.state();
    const auto expected = alone.state();
    expect(!root || (equal_agents(state.positions, expected.positions) && state.step == expected.step), name,
           ": agents of step ", alone.step(), " differ from those of one rank");
  }
  auto* const whole = model.whole();
  expect((whole != nullptr) == root, name, ": only rank 0 has the whole model");
  expect(!root || whole->neighbors() == alone.neighbors(), name, ": the numbers of neighbors differ");
}

/// Both forms in two and three dimensions; agents that leave the box; all in a corner, so that most ranks are empty;
/// all in one place; forces that carry agents over several ranks in a step.
inline void check_circles(communicator& ranks, std::size_t most) {
  using form = circles_form;
  check_circles_scene<float, 3>(ranks, {form::sine, 9, most}, "spheres");
  check_circles_scene<double, 2>(ranks, {form::original, 24, most}, "circles in a box");
  check_circles_scene<float, 2>(ranks, {form::sine, 20, most / 2, 1, 20}, "agents that leave the box");
  check_circles_scene<double, 3>(ranks, {form::sine, 16, most / 4, 0.1}, "a corner");
  check_circles_scene<float, 2>(ranks, {form::original, 30, 50, 0}, "one place");
  check_circles_scene<double, 2>(ranks, {form::original, 30, most / 2, 1, 40}, "long ways");
  check_circles_scene<float, 3>(ranks, {form::original, 40, 1}, "one agent");
  check_circles_scene<float, 2>(ranks, {form::sine, 3, 0}, "no agent");
}

}  // namespace quadrat::test
