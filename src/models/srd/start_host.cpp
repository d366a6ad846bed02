// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "models/srd/options.hpp"
#include "models/srd/random.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/srd.hpp"

namespace quadrat {

namespace {

constexpr double degree = std::numbers::pi / 180;

/// Subtracts the mean velocity, then scales the kinetic energy to `temperature`.
template <int D>
void make_exact(double temperature, const std::vector<double>& masses, std::vector<vec<double, D>>& velocities) {
  vec<double, D> momentum{};
  double mass = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    momentum += velocities[i] * masses[i];
    mass += masses[i];
  }
  double energy = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    velocities[i] -= momentum * (1 / mass);
    energy += masses[i] * squared_norm(velocities[i]) / 2;
  }
  const double wanted = D * (static_cast<double>(masses.size()) - 1) * temperature / 2;
  const double factor = wanted > 0 && energy > 0 ? std::sqrt(wanted / energy) : 0;
  for (vec<double, D>& velocity : velocities) velocity = velocity * factor;
}

}  // namespace

template <int D>
srd_particles<D> srd_start(const srd_options<D>& options, std::size_t count, std::span<const double> solute_masses) {
  detail::check_srd(options);
  const detail::srd_setup<double, D> setup = detail::make_srd_setup<double>(options, count, solute_masses);
  std::vector<double> masses(count, options.mass);
  masses.insert(masses.end(), solute_masses.begin(), solute_masses.end());
  srd_particles<D> particles;
  particles.positions.resize(masses.size(), vec<double, D>{});
  particles.velocities.resize(masses.size(), vec<double, D>{});
  particles.solute_masses.assign(solute_masses.begin(), solute_masses.end());
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const detail::srd_draws draws{options.seed, 0, static_cast<std::uint32_t>(i)};
    const philox_block words = draws.words(detail::srd_use::position, 0);
    for (int axis = 0; axis < D; ++axis) {
      particles.positions[i][axis] = setup.size[axis] * detail::srd_uniform<double>(words.word[axis]);
    }
    particles.velocities[i] = detail::srd_normal<double, D>(draws.words(detail::srd_use::velocity, 0)) *
                              std::sqrt(options.temperature / masses[i]);
  }
  make_exact<D>(options.temperature, masses, particles.velocities);
  return particles;
}

template <int D>
void add_shear_wave(const srd_options<D>& options, double amplitude, srd_particles<D>& particles) {
  detail::check_srd(options);
  require(std::isfinite(amplitude), "the amplitude of the shear wave is ", amplitude, "; it must be finite");
  require(particles.velocities.size() == particles.positions.size(), "there are ", particles.positions.size(),
          " positions, but ", particles.velocities.size(), " velocities");
  const double wave_number = 2 * std::numbers::pi / (options.cells[1] * options.cell_edge);
  for (std::size_t i = 0; i < particles.positions.size(); ++i) {
    particles.velocities[i][0] += amplitude * std::sin(wave_number * particles.positions[i][1]);
  }
}

namespace {

/// The mean fraction of the momentum flux v_x v_y, and of the velocity, that a collision removes. The mean is over
/// particles and the numbers n in their cells, themselves included (n - 1 is Poisson distributed).
struct collision_loss {
  double flux = 0;
  double velocity = 0;
};

/// The losses with the thermostat. Rotation keeps the fractions `turned_flux` and `turned_velocity` of the flux and
/// velocity relative to the cell's mean. The thermostat replaces the relative energy E, Gamma distributed with shape k
/// = D (n - 1) / 2, by an independent sample E'. The flux is proportional to E, so <E E'> / <E^2> = k / (k + 1) of it
/// is kept; of the velocity, <sqrt(E E')> / <E>.
[[nodiscard]] collision_loss loss_with_thermostat(int dimension, double mean, double turned_flux,
                                                  double turned_velocity) {
  collision_loss loss;
  const double width = 12 * std::sqrt(mean) + 40;
  const auto last = static_cast<std::int64_t>(mean + width);
  for (auto number = static_cast<std::int64_t>(std::max(1.0, mean - width)); number <= last; ++number) {
    const auto others = static_cast<double>(number);
    const double weight = std::exp(others * std::log(mean) - mean - std::lgamma(others + 1)) * others / (others + 1);
    const double k = dimension * others / 2;
    loss.flux += weight * (1 - turned_flux * k / (k + 1));
    loss.velocity += weight * (1 - turned_velocity * std::exp(2 * (std::lgamma(k + 0.5) - std::lgamma(k))) / k);
  }
  return loss;
}

}  // namespace

template <int D>
srd_transport srd_theory(const srd_options<D>& options, double particles_per_cell) {
  detail::check_srd(options);
  require(particles_per_cell > 0 && std::isfinite(particles_per_cell), "there are ", particles_per_cell,
          " particles a cell; the number must be positive and finite");
  const double m = particles_per_cell;
  const double alpha = options.rotation_angle * degree;
  const double h = options.time_step;
  const double mixing = m - 1 + std::exp(-m);
  const double step = options.temperature * h / (2 * options.mass);
  const double turn = 1 - std::cos(alpha);
  srd_transport theory;
  const double relaxation = D == 2 ? m / (mixing * std::pow(std::sin(alpha), 2))
                                   : 5 * m / (mixing * (2 - std::cos(alpha) - std::cos(2 * alpha)));
  theory.kinetic_viscosity = step * (relaxation - 1);
  theory.collisional_viscosity = std::pow(options.cell_edge, 2) / (6 * D * h) * mixing / m * turn;
  theory.viscosity = theory.kinetic_viscosity + theory.collisional_viscosity;
  theory.self_diffusion = step * (D * m / (mixing * turn) - 1);
  theory.viscosity_with_thermostat = theory.viscosity;
  constexpr double too_many_to_matter = 1e6;
  if (!options.thermostat || m > too_many_to_matter) return theory;
  const double turned_velocity = D == 2 ? std::cos(alpha) : (1 + 2 * std::cos(alpha)) / 3;
  const double turned_flux = D == 2 ? std::cos(2 * alpha) : 1 - 0.4 * (2 - std::cos(alpha) - std::cos(2 * alpha));
  const collision_loss loss = loss_with_thermostat(D, m, turned_flux, turned_velocity);
  theory.viscosity_with_thermostat =
      step * (2 / loss.flux - 1) + std::pow(options.cell_edge, 2) / (12 * h) * loss.velocity;
  return theory;
}

template <int D>
double srd_long_time_tail(const srd_options<D>& options, double particles_per_cell, double length) {
  const srd_transport theory = srd_theory(options, particles_per_cell);
  require(length > 0 && std::isfinite(length), "the length is ", length, "; it must be positive and finite");
  if (D == 3 || length <= 4 * options.cell_edge) return 0;
  const double density = options.mass * particles_per_cell / std::pow(options.cell_edge, 2);
  return options.temperature / (16 * std::numbers::pi * density * theory.viscosity_with_thermostat) *
         std::log(length / (4 * options.cell_edge));
}

template srd_particles<2> srd_start(const srd_options<2>&, std::size_t, std::span<const double>);
template srd_particles<3> srd_start(const srd_options<3>&, std::size_t, std::span<const double>);
template void add_shear_wave(const srd_options<2>&, double, srd_particles<2>&);
template void add_shear_wave(const srd_options<3>&, double, srd_particles<3>&);
template double srd_long_time_tail(const srd_options<2>&, double, double);
template double srd_long_time_tail(const srd_options<3>&, double, double);
template srd_transport srd_theory(const srd_options<2>&, double);
template srd_transport srd_theory(const srd_options<3>&, double);

}  // namespace quadrat
