// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <quadrat/core/array.hpp>
#include <quadrat/search/make_neighbor_list.hpp>
#include <quadrat/search/visit_list.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

// Molecular dynamics of a Lennard-Jones liquid at constant energy, in reduced units (mass, epsilon and sigma are 1), by
// velocity Verlet. The same for cpu_context and cuda_context.

using vector = quadrat::vec<double, 3>;
using pair_sum = quadrat::interaction<double, 3>;

constexpr double cutoff = 2.5, density = 0.8442, temperature = 1.44, dt = 0.005;
constexpr int side = 8, steps = 200;  // unit cells of 4 atoms

struct lennard_jones {
  QUADRAT_HD pair_sum operator()(quadrat::particle_id, quadrat::particle_id, const vector& r, double rr) const {
    constexpr double at_cutoff = -0.016316891136;  // so that the energy is continuous
    const double s = 1 / rr, s6 = s * s * s;
    return quadrat::make_interaction(r, rr, 4 * s6 * (s6 - 1) - at_cutoff, -24 * s6 * (2 * s6 - 1) * s);
  }
};
struct kick {
  vector* velocities;
  const pair_sum* sums;
  QUADRAT_HD void operator()(std::size_t i) const { velocities[i] += sums[i].force * (dt / 2); }
};
struct move {
  vector* positions;
  const vector* velocities;
  quadrat::box<double, 3> box;
  QUADRAT_HD void operator()(std::size_t i) const { positions[i] = box.wrap(positions[i] + velocities[i] * dt); }
};
struct kinetic_energy {
  const vector* velocities;
  QUADRAT_HD double operator()(std::size_t i) const { return squared_norm(velocities[i]) / 2; }
};

template <typename Context>
int run(const Context& context) {
  const double a = std::cbrt(4 / density), edge = side * a;
  const vector atoms_of_cell[] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, std::sqrt(temperature));
  std::vector<vector> start, motion;
  for (int k = 0; k < 4 * side * side * side; ++k) {
    const int cell = k / 4;
    start.push_back(
        (vector{1.0 * (cell % side), 1.0 * (cell / side % side), 1.0 * (cell / side / side)} + atoms_of_cell[k % 4]) *
        a);
    motion.push_back({normal(random), normal(random), normal(random)});
  }
  const std::size_t n = start.size();
  const auto box = quadrat::make_box<double, 3>({0, 0, 0}, {edge, edge, edge}, {true, true, true});
  auto positions = quadrat::to_device(context, start), velocities = quadrat::to_device(context, motion);
  quadrat::array<pair_sum, Context> sums(context, n), total(context, 1);
  quadrat::workspace<Context> scratch;

  auto list = quadrat::make_neighbor_list(context, box, {.cutoff = cutoff, .skin = 0.3});
  int builds = 0;
  const auto find_forces = [&] {
    builds += list.update(points_of(positions)) ? 1 : 0;  // rebuilt when an atom has moved by 0.15
    accumulate_pairs_async(list, sums.data(), total.data(), lennard_jones{});
  };
  const auto half_kick = [&] { for_each(context, "kick", n, kick{velocities.data(), sums.data()}); };
  double first = 0, energy = 0, kinetic = 0;
  find_forces();
  for (int step = 0; step <= steps; ++step) {
    if (step % 50 == 0) {
      const pair_sum system = quadrat::to_host(context, total)[0];
      kinetic = reduce_sum(context, "kinetic", n, kinetic_energy{velocities.data()}, scratch);
      energy = (kinetic + system.energy) / static_cast<double>(n);
      if (step == 0) first = energy;
      std::printf("step %3d: energy %.6f, temperature %.4f, pressure %.4f\n", step, energy,
                  2 * kinetic / (3 * static_cast<double>(n)), (2 * kinetic + system.virial) / (3 * edge * edge * edge));
    }
    half_kick();
    for_each(context, "move", n, move{positions.data(), velocities.data(), box});
    find_forces();
    half_kick();
  }
  std::printf("%zu atoms, drift of the energy %.1e per atom, %d lists for %d steps\n", n, energy - first, builds,
              steps);
  return std::fabs(energy - first) < 2e-3 ? 0 : 1;
}
