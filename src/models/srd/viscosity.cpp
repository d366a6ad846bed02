// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>
#include <vector>

#include "core/backend.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/srd.hpp"

namespace quadrat {

namespace {

/// The steps between which the decay is measured.
struct srd_window {
  std::uint64_t first;
  std::uint64_t last;
  double decay;  ///< k^2 times the time between them
};

template <int D>
[[nodiscard]] srd_window window_of(const srd_options<D>& options, double particles_per_cell,
                                   const srd_viscosity_protocol& protocol) {
  require(protocol.runs >= 1, "a viscosity is measured in 1 run or more, not 0");
  require(protocol.amplitude > 0 && std::isfinite(protocol.amplitude), "the amplitude of the wave is ",
          protocol.amplitude, "; it must be positive and finite");
  require(protocol.first >= 0 && protocol.last > protocol.first && protocol.last < 100,
          "the decay is to be measured from ", protocol.first, " to ", protocol.last,
          "; the first must not be negative, and the last above it and below 100");
  require(options.periodic == vec<bool, D>::filled(true), "a viscosity is measured in a box that is periodic along ",
          "every axis");
  require(options.temperature > 0, "the temperature is 0; a viscosity is measured at a positive one");
  const double theory = srd_theory(options, particles_per_cell).viscosity;
  const double wave_number = 2 * std::numbers::pi / (options.cells[1] * options.cell_edge);
  const double rate = wave_number * wave_number * theory * options.time_step;
  const double last = std::ceil(protocol.last / rate);
  require(last < 1e9, "a wave of this length would take ", last, " steps to decay; a shorter box would do");
  srd_window window{};
  window.first = static_cast<std::uint64_t>(protocol.first / rate);
  window.last = static_cast<std::uint64_t>(last);
  window.decay = wave_number * wave_number * options.time_step * static_cast<double>(window.last - window.first);
  return window;
}

}  // namespace

template <typename Context, typename T, int D>
srd_viscosity measure_viscosity(const Context& context, const srd_options<D>& options, double particles_per_cell,
                                const srd_viscosity_protocol& protocol) {
  const srd_window window = window_of(options, particles_per_cell, protocol);
  double number = particles_per_cell;
  for (int axis = 0; axis < D; ++axis) number *= options.cells[axis];
  require(number <= static_cast<double>(max_count), "there would be ", number, " particles; at most ", max_count,
          " are possible");
  std::vector<double> found;
  srd_options<D> chosen = options;
  for (std::size_t run = 0; run < protocol.runs; ++run) {
    chosen.seed = options.seed + run;
    srd_particles<D> particles = srd_start(chosen, static_cast<std::size_t>(std::llround(number)));
    add_shear_wave(chosen, protocol.amplitude * std::sqrt(options.temperature / options.mass), particles);
    srd<Context, T, D> simulation(context, chosen, particles);
    simulation.advance(window.first);
    const double before = simulation.shear_amplitude();
    simulation.advance(window.last - window.first);
    found.push_back(std::log(std::fabs(before / simulation.shear_amplitude())) / window.decay);
  }
  srd_viscosity result;
  result.steps = window.last;
  const auto runs = static_cast<double>(found.size());
  for (const double one : found) result.mean += one / runs;
  double scatter = 0;
  for (const double one : found) scatter += (one - result.mean) * (one - result.mean);
  if (found.size() > 1) result.standard_error = std::sqrt(scatter / (runs - 1) / runs);
  return result;
}

template srd_viscosity measure_viscosity<backend_context, float, 2>(const backend_context&, const srd_options<2>&,
                                                                    double, const srd_viscosity_protocol&);
template srd_viscosity measure_viscosity<backend_context, float, 3>(const backend_context&, const srd_options<3>&,
                                                                    double, const srd_viscosity_protocol&);
template srd_viscosity measure_viscosity<backend_context, double, 2>(const backend_context&, const srd_options<2>&,
                                                                     double, const srd_viscosity_protocol&);
template srd_viscosity measure_viscosity<backend_context, double, 3>(const backend_context&, const srd_options<3>&,
                                                                     double, const srd_viscosity_protocol&);

}  // namespace quadrat
