// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/electrolyte/random.hpp"
#include "quadrat/models/electrolyte.hpp"
#include "reference/ewald.hpp"

// The electrolyte by plain loops in double precision: all pairs, all modes.

namespace quadrat::reference {

struct electrolyte_system {
  std::vector<vec<double, 3>> positions{};
  std::vector<vec<double, 3>> velocities{};
};

struct electrolyte_forces {
  std::vector<vec<double, 3>> all{};
  double coulomb_energy = 0;
  double repulsion_energy = 0;
  double virial = 0;  ///< of both
};

/// A property of each ion.
[[nodiscard]] inline std::vector<double> electrolyte_values(const electrolyte_options& options,
                                                            double ion_species::*property) {
  std::vector<double> values;
  for (const ion_species& kind : options.species) values.insert(values.end(), kind.count, kind.*property);
  return values;
}

[[nodiscard]] inline electrolyte_forces electrolyte_forces_of(const electrolyte_options& options,
                                                              const std::vector<vec<double, 3>>& positions) {
  const std::size_t count = positions.size();
  const auto diameters = electrolyte_values(options, &ion_species::diameter);
  ewald_system charges;
  charges.charges = electrolyte_values(options, &ion_species::charge);
  for (std::size_t a = 0; a < 3; ++a) charges.vectors[a][a] = options.box[static_cast<int>(a)];
  for (const vec<double, 3>& x : positions) charges.points.push_back({x[0], x[1], x[2]});
  const ewald_result coulomb = ewald_sum(charges);
  electrolyte_forces result;
  result.all.resize(count);
  result.coulomb_energy = options.coulomb_constant * coulomb.energy;
  result.virial = options.coulomb_constant * (coulomb.virial[0] + coulomb.virial[4] + coulomb.virial[8]);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t a = 0; a < 3; ++a) {
      result.all[i][static_cast<int>(a)] = options.coulomb_constant * coulomb.forces[i][a];
    }
    for (std::size_t j = 0; j < i; ++j) {
      vec<double, 3> d = positions[i] - positions[j];
      for (int a = 0; a < 3; ++a) d[a] -= options.box[a] * std::round(d[a] / options.box[a]);
      const double r = std::sqrt(squared_norm(d)), s = (diameters[i] + diameters[j]) / 2;
      if (r >= std::pow(2, 1.0 / 6) * s) continue;
      const double sixth = std::pow(s / r, 6);
      result.repulsion_energy += options.repulsion * (4 * (sixth * sixth - sixth) + 1);
      const double force = options.repulsion * 24 * (2 * sixth * sixth - sixth) / r;
      result.virial += force * r;
      result.all[i] += d * (force / r);
      result.all[j] -= d * (force / r);
    }
  }
  return result;
}

/// One step; `step` counts those before it. Positions are not wrapped.
inline void electrolyte_step(const electrolyte_options& options, std::uint64_t step, electrolyte_system& system) {
  const auto masses = electrolyte_values(options, &ion_species::mass);
  const double h = options.time_step, c = std::exp(-options.friction * h);
  const bool thermostat = options.dynamics == electrolyte_dynamics::langevin || step < options.equilibration;
  const auto kick = [&] {
    const electrolyte_forces forces = electrolyte_forces_of(options, system.positions);
    for (std::size_t i = 0; i < masses.size(); ++i) system.velocities[i] += forces.all[i] * (h / 2 / masses[i]);
  };
  kick();
  for (std::size_t i = 0; i < masses.size(); ++i) {
    vec<double, 3>&x = system.positions[i], &v = system.velocities[i];
    x += v * (h / 2);
    if (thermostat) {
      v = v * c + detail::electrolyte_normal<double>(options.seed, detail::electrolyte_use::thermostat, step,
                                                     static_cast<std::uint32_t>(i)) *
                      std::sqrt((1 - c * c) * options.temperature / masses[i]);
    }
    x += v * (h / 2);
  }
  kick();
}

}  // namespace quadrat::reference
