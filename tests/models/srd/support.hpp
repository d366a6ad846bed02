// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "quadrat/models/srd.hpp"
#include "support/backend.hpp"

// Shared by the tests of stochastic rotation dynamics.

namespace quadrat::test {

template <typename T, int Dimension>
struct srd_kind {
  using value_type = T;
  static constexpr int dimension = Dimension;
};
using srd_kinds = testing::Types<srd_kind<float, 2>, srd_kind<float, 3>, srd_kind<double, 2>, srd_kind<double, 3>>;

template <int D>
[[nodiscard]] srd_options<D> cube(int cells, double time_step = 1) {
  srd_options<D> options;
  options.cells = vec<int, D>::filled(cells);
  options.time_step = time_step;
  return options;
}

/// Walls along y that move apart from each other, a force along x, units that are not 1.
template <int D>
[[nodiscard]] srd_options<D> channel(int cells) {
  srd_options<D> options = cube<D>(cells, 0.7);
  options.cell_edge = 1.3;
  options.mass = 2.5;
  options.temperature = 0.8;
  options.rotation_angle = 100;
  options.periodic[1] = false;
  options.wall_velocity[1][0][0] = -0.3;
  options.wall_velocity[1][1][0] = 0.2;
  options.acceleration[0] = 0.05;
  return options;
}

/// The masses of all particles of an initial state.
template <int D>
[[nodiscard]] std::vector<double> masses_of(const srd_options<D>& options, const srd_particles<D>& particles) {
  std::vector<double> masses(particles.positions.size() - particles.solute_masses.size(), options.mass);
  masses.insert(masses.end(), particles.solute_masses.begin(), particles.solute_masses.end());
  return masses;
}

[[nodiscard]] inline backend_context srd_context(determinism level = determinism::run_to_run) {
  return context_at(level);
}

/// For long runs of few particles, in which several threads would mostly wait for each other.
[[nodiscard]] inline backend_context one_thread_context() {
#if QUADRAT_BACKEND_CUDA
  return srd_context();
#else
  cpu_context::options chosen;
  chosen.threads = 1;
  return cpu_context(chosen);
#endif
}

}  // namespace quadrat::test
