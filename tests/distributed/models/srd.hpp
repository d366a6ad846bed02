// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "distributed/small_system.hpp"
#include "models/srd/ranks/shared_cells.hpp"
#include "quadrat/models/distributed_srd.hpp"
#include "support/random.hpp"

// Stochastic rotation dynamics over the ranks of a communicator, compared with one rank: the same bits with fixed sums.

namespace quadrat::test {

template <int D>
struct srd_scene_of_ranks {
  srd_options<D> options{};
  srd_particles<D> particles{};

  srd_scene_of_ranks() = default;
  /// Walls across the axes that are not periodic.
  srd_scene_of_ranks(const vec<int, D>& cells, const vec<bool, D>& periodic, std::size_t count,
                     const std::vector<double>& masses = {}) {
    options.cells = cells;
    options.periodic = periodic;
    options.cell_edge = 1.25;
    options.time_step = 0.3;
    options.acceleration[0] = 0.05;
    options.seed = 7;
    options.sort_every = 13;
    for (int axis = 0; axis < D; ++axis) {
      if (!periodic[axis] && axis > 0) options.wall_velocity[static_cast<std::size_t>(axis)][1][0] = 0.2;
    }
    particles = srd_start(options, count, masses);
  }
};

template <typename T, int D>
[[nodiscard]] bool equal_bits_of(const std::vector<vec<T, D>>& a, const std::vector<vec<T, D>>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
}

template <int D>
[[nodiscard]] bool equal_statistics(const srd_statistics<D>& a, const srd_statistics<D>& b) {
  return a.step == b.step && a.time == b.time && a.kinetic_energy == b.kinetic_energy && a.momentum == b.momentum &&
         a.temperature == b.temperature && a.particles_per_cell == b.particles_per_cell;
}

/// Takes steps on all ranks and on one; all must agree in every bit.
template <typename T, int D>
void check_srd_scene(communicator& ranks, const srd_scene_of_ranks<D>& scene, const std::string& name) {
  const backend_context context = context_of_rank(determinism::canonical);
  const bool root = ranks.rank() == 0;
  srd<backend_context, T, D> alone(context, scene.options, scene.particles);
  distributed_srd<backend_context, T, D> model(context, ranks, scene.options,
                                               root ? scene.particles : srd_particles<D>());
  std::uint64_t all = model.own();
  ranks.add_up(&all, 1);
  expect(all == scene.particles.positions.size(), name, ": all ranks own ", all, " particles");
  for (const std::size_t steps : {1u, 9u, 20u}) {
    model.advance(steps);
    alone.advance(steps);
    expect(equal_statistics(model.measure(), alone.measure()), name, ": the statistics of step ", model.step(),
           " differ from those of one rank");
    const auto state = model.state();
    const auto expected = alone.state();
    expect(!root || (equal_bits_of(state.positions, expected.positions) &&
                     equal_bits_of(state.velocities, expected.velocities) && state.step == expected.step),
           name, ": particles of step ", alone.step(), " differ from those of one rank");
  }
  const auto* const whole = model.whole();
  expect((whole != nullptr) == root, name, ": only rank 0 has the whole model");
}

template <typename V>
struct add_all_parts {
  detail::cell_parts<V> parts;
  const std::uint32_t* places;

  QUADRAT_HD void operator()(std::size_t k) const { parts.add_up(k, places[k]); }
};

/// A number for each cell of each rank's window, with a fraction if V can have one, so that the order of sums matters.
template <typename V>
[[nodiscard]] V part_of(int rank, std::size_t cell) {
  return static_cast<V>((cell + 1) * 1000003 * static_cast<std::size_t>(rank + 1) % 99991) / V(7);
}

/// The cells of each rank's window with the sums over all windows.
template <typename V>
[[nodiscard]] std::vector<V> summed_cells(communicator& ranks, const decomposition<3>& shares,
                                          const std::vector<detail::cell_window<3>>& windows,
                                          const std::vector<detail::cell_window<3>>& reaches) {
  const backend_context context = context_of_rank();
  std::vector<V> mine;
  for (std::size_t i = 0; i < windows[static_cast<std::size_t>(ranks.rank())].size(); ++i) {
    mine.push_back(part_of<V>(ranks.rank(), i));
  }
  detail::shared_cells<backend_context, 3> borders(context, ranks);
  borders.plan(shares, windows, reaches, sizeof(V));
  auto words = to_device(context, std::vector<std::uint64_t>(2));
  array<V, backend_context> values;
  // More often than there are buffers.
  for (int round = 0; round < 3; ++round) {
    values = to_device(context, mine);
    const detail::cell_values<V> sums{values.data(), 1, 1};
    borders.start(sums, {words.data(), words.data() + 1}, 0);
    borders.finish();
    for_each(context, "add parts", borders.shared().size(),
             add_all_parts<V>{borders.parts(sums), borders.shared().data()});
  }
  return to_host(context, values);
}

/// Random blocks with windows of any width: all windows get the sums of their cells over all windows, in order of rank.
/// Returns how many windows have the cell that is in most of them.
template <typename V>
int check_cell_windows(communicator& ranks, std::uint64_t seed) {
  const small_system<float, 3> system(seed);
  const decomposition<3> shares = random_decomposition(system.space, ranks.size(), seed);
  const int below = static_cast<int>(seed % 4), above = static_cast<int>(seed / 4 % 4);
  std::vector<detail::cell_window<3>> windows, reaches;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    windows.push_back(detail::window_of(shares, rank, below, above));
    reaches.push_back(detail::window_of(shares, rank, below + 1, above + 2));
  }
  const auto& window = windows[static_cast<std::size_t>(ranks.rank())];
  const auto found = summed_cells<V>(ranks, shares, windows, reaches);
  std::size_t met = 0;
  int most = 0;
  for (int k = 0; k < system.space.cells[0] * system.space.cells[1] * system.space.cells[2]; ++k) {
    const vec<int, 3> cell{k % system.space.cells[0], k / system.space.cells[0] % system.space.cells[1],
                           k / system.space.cells[0] / system.space.cells[1]};
    V sum = 0;
    int number = 0;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      const int there = windows[static_cast<std::size_t>(rank)].index(cell);
      if (there < 0) continue;
      sum += part_of<V>(rank, static_cast<std::size_t>(there));
      ++number;
    }
    most = std::max(most, number);
    const int place = window.index(cell);
    if (place < 0) {
      expect(!shares.blocks[static_cast<std::size_t>(ranks.rank())].holds(cell), "an own cell is not in the window");
      continue;
    }
    expect(window.cell(static_cast<std::uint32_t>(place)) == cell, "seed ", seed, ": cell ", k, " has another number");
    ++met;
    expect(found[static_cast<std::size_t>(place)] == sum, "seed ", seed, ": cell ", k, " has ",
           found[static_cast<std::size_t>(place)], "; expected ", sum);
  }
  expect(met == window.size(), "seed ", seed, ": the window has ", window.size(), " places for ", met, " cells");
  return most;
}

/// A periodic box, walls with solutes, a box with fewer cells than ranks.
inline void check_srd(communicator& ranks, std::size_t most) {
  check_srd_scene<float, 3>(ranks, {{9, 7, 8}, {true, true, true}, most}, "a periodic box");
  check_srd_scene<double, 2>(ranks, {{15, 11}, {false, false}, most / 4, {3, 0.5, 20}}, "a closed plane with solutes");
  check_srd_scene<float, 2>(ranks, {{2, 1}, {true, true}, 40}, "two cells");
}

/// Boxes thinner than a window, fast flows, few particles.
inline void check_more_srd(communicator& ranks, std::size_t most) {
  check_srd_scene<double, 3>(ranks, {{16, 6, 3}, {true, false, true}, most / 2}, "a channel");
  check_srd_scene<float, 2>(ranks, {{24, 20}, {true, true}, most}, "a periodic plane");
  check_srd_scene<float, 3>(ranks, {{30, 1, 2}, {true, true, false}, most / 4}, "a rod");
  check_srd_scene<float, 3>(ranks, {{60, 3, 2}, {true, true, true}, most}, "a long rod");
  check_srd_scene<double, 2>(ranks, {{70, 4}, {false, true}, most / 2}, "a long channel");
  check_srd_scene<double, 2>(ranks, {{1, 1}, {false, true}, 10}, "one cell");
  check_srd_scene<float, 3>(ranks, {{8, 8, 8}, {true, true, true}, 0}, "no particles");
  srd_scene_of_ranks<3> wind({20, 4, 4}, {true, true, true}, most / 4);
  for (auto& velocity : wind.particles.velocities) velocity[0] += 40;
  wind.options.thermostat = false;
  check_srd_scene<float, 3>(ranks, wind, "a wind that crosses ranks in a step");
  srd_scene_of_ranks<3> breeze({40, 6, 4}, {true, true, true}, most / 2);
  for (auto& velocity : breeze.particles.velocities) velocity[0] += 2.5;
  check_srd_scene<float, 3>(ranks, breeze, "a breeze that leaves windows every few steps");
  srd_scene_of_ranks<2> drop({20, 20}, {true, false}, most / 4);
  for (auto& position : drop.particles.positions) position = position * 0.1;
  check_srd_scene<double, 2>(ranks, drop, "all in a corner");
}

}  // namespace quadrat::test
