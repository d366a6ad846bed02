// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "models/srd/fluid.hpp"
#include "models/srd/operations.hpp"

namespace quadrat::bench {

namespace {

/// A fluid of known viscosity: no thermostat, a = m = kT = 1, shear waves over 20 cells. Cheap fluids use more than 8
/// seeds.
struct known_fluid {
  double particles_per_cell;
  double angle;  ///< degrees
  double time_step;
  double viscosity;  ///< reference value
  double error;      ///< of the reference value
  double tolerance;  ///< for the deviation from theory, which is 1 to 3 % high at small time steps
};

constexpr std::array<known_fluid, 4> known_fluids{{{5, 130, 0.1, 0.766, 0.015, 0.08},
                                                   {10, 130, 0.1, 0.840, 0.010, 0.08},
                                                   {10, 130, 1, 0.568, 0.002, 0.03},
                                                   {5, 90, 1, 0.595, 0.006, 0.03}}};

template <typename Context>
void measure_known_fluid(const session& s, const Context& context, const known_fluid& known, srd_sums sums,
                         bool thermostat) {
  srd_options<3> options;  // 20^3 cells
  options.rotation_angle = known.angle;
  options.time_step = known.time_step;
  options.thermostat = thermostat;
  options.sums = sums;
  const auto n = static_cast<std::size_t>(known.particles_per_cell * 8000);
  row identity = identify_srd("viscosity", options, "double", n, "shear wave");
  identity["particles_per_cell"] = known.particles_per_cell;
  s.attempt(identity, [&](row& out) {
    srd_viscosity_protocol protocol;
    protocol.runs = !s.full() ? 2 : (s.on_cuda() ? 64 : 8);
    const auto begin = std::chrono::steady_clock::now();
    const srd_viscosity found =
        measure_viscosity<Context, double, 3>(context, options, known.particles_per_cell, protocol);
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
    const double theory = srd_theory(options, known.particles_per_cell).viscosity;
    out["viscosity"] = found.mean;
    out["error"] = found.standard_error;
    const double steps = static_cast<double>(found.steps * protocol.runs);
    add_timing(out, summarize(std::array{spent.count() / steps}, 1), "updates_per_s", static_cast<double>(n));
    out["runs"] = protocol.runs;
    out["steps"] = found.steps;
    out["theory"] = theory;
    out["deviation_from_theory"] = found.mean / theory - 1;
    if (thermostat) return;  // not in the theory; with few particles per cell it adds some percent
    out["expected"] = known.viscosity;
    out["expected_error"] = known.error;
    out["deviation"] = found.mean / known.viscosity - 1;
    out["tolerance"] = known.tolerance;
    out["within_tolerance"] = std::abs(found.mean / theory - 1) <= known.tolerance;
  });
}

/// One square box of particles, alpha = 90 degrees, h = 0.6, and enough runs to determine the viscosity to 1.5 %.
template <typename Context>
void measure_tail(const session& s, const Context& context, srd_sums sums, int side, double number, bool thermostat) {
  srd_options<2> options;
  options.cells = {side, side};
  options.rotation_angle = 90;
  options.time_step = 0.6;
  options.thermostat = thermostat;
  options.sums = sums;
  const auto n = static_cast<std::size_t>(number * side * side);
  row identity = identify_srd("tails", options, "double", n, "shear wave");
  identity["dim"] = 2;
  identity["length"] = side;
  identity["particles_per_cell"] = number;
  s.attempt(identity, [&](row& out) {
    srd_viscosity_protocol protocol;
    protocol.runs = !s.full() ? 2 : static_cast<std::size_t>(500'000 / number / (side * side));
    const auto begin = std::chrono::steady_clock::now();
    const srd_viscosity found = measure_viscosity<Context, double, 2>(context, options, number, protocol);
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
    const double steps = static_cast<double>(found.steps * protocol.runs);
    add_timing(out, summarize(std::array{spent.count() / steps}, 1), "updates_per_s", static_cast<double>(n));
    const srd_transport theory = srd_theory(options, number);
    const double tail = srd_long_time_tail(options, number, side);
    out["runs"] = protocol.runs;
    out["viscosity"] = found.mean;
    out["error"] = found.standard_error;
    out["theory"] = theory.viscosity;
    out["with_thermostat"] = theory.viscosity_with_thermostat;
    out["long_time_tail"] = tail;
    out["expected"] = theory.viscosity_with_thermostat + tail;
    out["deviation"] = found.mean / (theory.viscosity_with_thermostat + tail) - 1;
  });
}

/// A flow between plates at both ends of the y axis, driven along x; h = 1. The parabola is that of theory without the
/// thermostat.
struct plate_flow {
  srd_options<3> options;
  std::size_t n;
  double viscosity;  ///< from theory
  std::size_t before, snapshots, steps_apart;

  [[nodiscard]] double height() const { return options.cells[1] * options.cell_edge; }
  [[nodiscard]] double acceleration() const { return options.acceleration[0]; }
  /// Mean of the parabola over a slice of this width.
  [[nodiscard]] double velocity_at(double y, double width) const {
    return acceleration() / (2 * viscosity) * (y * (height() - y) - width * width / 12);
  }
};

plate_flow make_plate_flow(const session& s, srd_sums sums) {
  constexpr double most_velocity = 0.2;
  constexpr int particles_per_cell = 10;
  plate_flow flow{{}, 0, 0, 500, 300, 10};
  const int width = !s.full() ? 8 : (s.on_cuda() ? 40 : 20);
  const int height = s.full() ? 20 : 10;
  if (!s.full()) flow.before = 20, flow.snapshots = 3;
  flow.options.cells = {width, height, width};
  flow.options.periodic = {true, false, true};
  flow.options.time_step = 1;
  flow.options.sums = sums;
  flow.viscosity = srd_theory(flow.options, particles_per_cell).viscosity;
  flow.options.acceleration = {8 * flow.viscosity * most_velocity / (height * height), 0, 0};
  flow.n = static_cast<std::size_t>(particles_per_cell) * static_cast<std::size_t>(width * width * height);
  return flow;
}

/// Velocities along x in slices of one cell, averaged over a step and over all snapshots. Samples are in ms per step.
template <typename Context>
std::vector<double> run_plate_flow(const Context& context, const plate_flow& flow, std::vector<double>& samples) {
  srd<Context, float, 3> fluid(context, flow.options, srd_start(flow.options, flow.n));
  fluid.advance(flow.before);
  fluid.check();
  const auto slices = static_cast<std::size_t>(flow.options.cells[1]);
  std::vector<double> velocity(slices, 0);
  stopwatch<Context> watch(context);
  for (std::size_t i = 0; i < flow.snapshots; ++i) {
    watch.start();
    fluid.advance(flow.steps_apart);
    samples.push_back(watch.stop_ms() / static_cast<double>(flow.steps_apart));
    const auto profile = fluid.velocity_profile(1, flow.options.cells[1]);
    for (std::size_t k = 0; k < slices; ++k) {
      const double mean = profile[k].velocity[0] - flow.options.time_step * flow.acceleration() / 2;
      velocity[k] += mean / static_cast<double>(flow.snapshots);
    }
  }
  return velocity;
}

template <typename Context>
void measure_plate_flow(const session& s, const Context& given, srd_sums sums) {
  const plate_flow flow = make_plate_flow(s, sums);
  row identity = identify_srd("poiseuille", flow.options, "float", flow.n, "between plates");
  s.attempt(identity, [&](row& out) {
    const Context context = sums == srd_sums::fixed ? make_context<Context>(s, determinism::run_to_run) : given;
    std::vector<double> samples;
    const std::vector<double> velocity = run_plate_flow(context, flow, samples);
    double deviation = 0, most = 0, overlap = 0, norm = 0;
    row profile = row::array();
    for (std::size_t k = 0; k < velocity.size(); ++k) {
      const double y = (static_cast<double>(k) + 0.5) * flow.options.cell_edge;
      const double expected = flow.velocity_at(y, flow.options.cell_edge);
      deviation = std::max(deviation, std::abs(velocity[k] - expected));
      most = std::max(most, expected);
      overlap += velocity[k] * expected;
      norm += expected * expected;
      profile.push_back({y, velocity[k], expected});
    }
    out["deviation"] = deviation / most;
    add_timing(out, summarize(samples, s.plan().tolerance), "updates_per_s", static_cast<double>(flow.n));
    out["steps"] = flow.snapshots * flow.steps_apart;
    out["theory"] = flow.viscosity;
    out["viscosity"] = flow.viscosity * norm / overlap;
    out["profile"] = profile;
  });
}

}  // namespace

void run_srd_viscosity(const session& s) {
  with_context(s, [&](const auto& context) {
    const auto sums = wanted_srd_sums(s);
    for (const known_fluid& known : known_fluids) {
      if (sums.empty() || (!s.full() && &known != &known_fluids.back())) continue;
      measure_known_fluid(s, context, known, sums.front(), false);
      if (s.full()) measure_known_fluid(s, context, known, sums.front(), true);
    }
  });
}

void run_srd_tails(const session& s) {
  with_context(s, [&](const auto& context) {
    const auto sums = wanted_srd_sums(s);
    if (sums.empty()) return;
    for (const double number : {4.0, 8.0, 16.0}) {
      for (const int side : {12, 24, 48}) {
        if (!s.full() && (side != 12 || number != 8)) continue;
        for (const bool thermostat : {false, true}) measure_tail(s, context, sums.front(), side, number, thermostat);
      }
    }
  });
}

void run_srd_poiseuille(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const srd_sums sums : wanted_srd_sums(s)) measure_plate_flow(s, context, sums);
  });
}

}  // namespace quadrat::bench
