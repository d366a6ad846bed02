// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/models/srd_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "program/run/models/model_simulation.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

/// Coefficients c of the polynomial sum of c[k] x^k that fits the points best, by least squares; none if there are too
/// few points.
template <std::size_t N>
std::optional<std::array<double, N>> fitted_polynomial(const std::vector<vec<double, 2>>& points) {
  if (points.size() < N) return std::nullopt;
  std::array<std::array<double, N + 1>, N> rows{};
  for (const vec<double, 2>& p : points) {
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < N; ++j) rows[i][j] += std::pow(p[0], static_cast<double>(i + j));
      rows[i][N] += std::pow(p[0], static_cast<double>(i)) * p[1];
    }
  }
  // The matrix is symmetric and positive definite, so no pivoting is needed.
  for (std::size_t k = 0; k < N; ++k) {
    for (std::size_t i = 0; i < N; ++i) {
      if (i == k) continue;
      const double factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j <= N; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  std::array<double, N> result{};
  for (std::size_t k = 0; k < N; ++k) result[k] = rows[k][N] / rows[k][k];
  return result;
}

template <int D>
flow_theory theory_in(const io::srd_scene& scene, double length) {
  const srd_options<D> options = io::options_of<D>(scene);
  const double density = scene.particles.per_cell.value();
  const srd_transport theory = srd_theory(options, density);
  return {theory.viscosity, theory.viscosity_with_thermostat, srd_long_time_tail(options, density, length)};
}

/// Theory for a flow that varies over this length.
flow_theory theory_of(const io::srd_scene& scene, double length) {
  return scene.box.dimension == 2 ? theory_in<2>(scene, length) : theory_in<3>(scene, length);
}

/// "1.2 % above".
std::string off_by(double percent) {
  return fmt::format("{:.2g} % {}", std::abs(percent), percent < 0 ? "below" : "above");
}

double percent_of(double measured, double expected) { return 100 * (measured / expected - 1); }

/// Adds the corrections of the viscosity of theory to a result, if there are any.
void add_corrections(run_result& result, const flow_theory& theory, double measured) {
  const double together = theory.with_thermostat + theory.tail;
  if (together == theory.viscosity) return;
  const bool thermostat = theory.with_thermostat != theory.viscosity;
  result.values.push_back({"theory_with_thermostat", theory.with_thermostat});
  result.values.push_back({"theory_long_time_tail", theory.tail});
  result.values.push_back({"theory_in_all", together});
  result.words +=
      fmt::format("; the viscosity is {} the {:.4g} of theory with {}{}{}", off_by(percent_of(measured, together)),
                  together, thermostat ? "the thermostat" : "", thermostat && theory.tail != 0 ? " and " : "",
                  theory.tail != 0 ? "the long-time tails of two dimensions" : "");
}

}  // namespace

mean_profile::mean_profile(const io::srd_scene& scene)
    : scene_(scene),
      axis_(static_cast<int>(scene.measure.profile)),
      height_(static_cast<double>(scene.box.cells.value()[static_cast<std::size_t>(axis_)]) * scene.box.cell_edge),
      sums_(static_cast<std::size_t>(scene.measure.bins.value())),
      plates_(find_plates()) {}

void mean_profile::add(const std::vector<slice>& sample) {
  require(sample.size() == sums_.size(), "a profile of ", sums_.size(), " bins got ", sample.size());
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    sums_[k].count += sample[k].count;
    sums_[k].velocity += sample[k].velocity * sample[k].count;
  }
  ++samples_;
}

double mean_profile::position(std::size_t bin) const {
  return height_ * (static_cast<double>(bin) + 0.5) / static_cast<double>(sums_.size());
}

double mean_profile::velocity(std::size_t bin, int component) const {
  if (sums_[bin].count == 0) return 0;
  const double gained = scene_.physics.time_step * scene_.physics.acceleration[static_cast<std::size_t>(component)];
  return sums_[bin].velocity[component] / sums_[bin].count - gained / 2;
}

std::vector<vec<double, 2>> mean_profile::points(int component) const {
  std::vector<vec<double, 2>> result;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (sums_[k].count > 0) result.push_back({position(k), velocity(k, component)});
  }
  return result;
}

std::string mean_profile::as_csv() const {
  const int dimension = static_cast<int>(scene_.box.dimension);
  double volume = std::pow(scene_.box.cell_edge, dimension) / static_cast<double>(sums_.size());
  for (const std::int64_t count : scene_.box.cells.value()) volume *= static_cast<double>(count);
  std::string text = "position";
  for (int k = 0; k < dimension; ++k) text += fmt::format(",velocity_{}", "xyz"[k]);
  text += ",density";
  if (plates_) text += fmt::format(",theory_velocity_{}", "xyz"[plates_->component]);
  text += '\n';
  for (std::size_t bin = 0; bin < sums_.size(); ++bin) {
    text += fmt::format("{}", position(bin));
    for (int k = 0; k < dimension; ++k) text += fmt::format(",{}", velocity(bin, k));
    const double samples = static_cast<double>(std::max<std::uint64_t>(samples_, 1));
    text += fmt::format(",{}", sums_[bin].count / (samples * volume));
    if (plates_) text += fmt::format(",{}", theory(*plates_, position(bin)));
    text += '\n';
  }
  return text;
}

std::optional<mean_profile::plates> mean_profile::find_plates() const {
  const auto axis = static_cast<std::size_t>(axis_);
  for (std::size_t k = 0; k < 3; ++k) {
    if ((scene_.box.boundaries[k] == io::srd_boundary::wall) != (k == axis)) return std::nullopt;
  }
  const io::triple lower = scene_.wall_velocity.of(axis_, 0).value_or(io::triple{});
  const io::triple upper = scene_.wall_velocity.of(axis_, 1).value_or(io::triple{});
  const io::triple sliding{upper[0] - lower[0], upper[1] - lower[1], upper[2] - lower[2]};
  const auto strongest_along_walls = [&](const io::triple& v) {
    std::size_t best = axis;
    for (std::size_t k = 0; k < 3; ++k) {
      if (k != axis && v[k] != 0 && (best == axis || std::abs(v[k]) > std::abs(v[best]))) best = k;
    }
    return best;
  };
  const io::triple& force = scene_.physics.acceleration;
  std::size_t component = strongest_along_walls(force);
  if (component == axis) component = strongest_along_walls(sliding);
  if (component == axis) return std::nullopt;
  return plates{static_cast<int>(component), force[component], theory_of(scene_, height_), lower[component],
                upper[component]};
}

double mean_profile::theory(const plates& flow, double at) const {
  return flow.lower + (flow.upper - flow.lower) * at / height_ +
         flow.acceleration / (2 * flow.theory.viscosity) * at * (height_ - at);
}

run_result mean_profile::result() const {
  if (!plates_) return {};
  if (samples_ == 0) return {{}, fmt::format("no profile yet: it is taken from step {} on", scene_.measure.from)};
  return plates_->acceleration != 0 ? driven_result(*plates_) : sheared_result(*plates_);
}

run_result mean_profile::driven_result(const plates& flow) const {
  // With s from -1 to 1, and relative to the velocity of the walls.
  std::vector<vec<double, 2>> relative = points(flow.component);
  for (vec<double, 2>& p : relative) {
    const double share = p[0] / height_;
    p = {2 * share - 1, p[1] - flow.lower - (flow.upper - flow.lower) * share};
  }
  const auto fit = fitted_polynomial<3>(relative);
  if (!fit || (*fit)[2] == 0) return {};  // the fluid is not yet moving
  const auto& [constant, slope, curvature] = *fit;
  const double maximum = constant - slope * slope / (4 * curvature);
  const double expected = flow.acceleration * height_ * height_ / (8 * flow.theory.viscosity);
  const double viscosity = -flow.acceleration * height_ * height_ / (8 * curvature);
  const double off = percent_of(maximum, expected);
  run_result result{{{"profiles", static_cast<double>(samples_), true},
                     {"maximum", maximum},
                     {"theory_maximum", expected},
                     {"deviation_percent", off},
                     {"wall_slip", constant + curvature},
                     {"viscosity", viscosity},
                     {"theory_viscosity", flow.theory.viscosity}},
                    fmt::format("the parabola fitted to {} profiles has the maximum {:.4g}; theory, g H^2 / (8 nu) "
                                "with nu = {:.4g}: {:.4g}, so {}",
                                samples_, maximum, flow.theory.viscosity, expected, off_by(off))};
  add_corrections(result, flow.theory, viscosity);
  return result;
}

run_result mean_profile::sheared_result(const plates& flow) const {
  const auto fit = fitted_polynomial<2>(points(flow.component));
  if (!fit) return {};
  const double rate = (*fit)[1];
  const double expected = (flow.upper - flow.lower) / height_;
  const double off = percent_of(rate, expected);
  return {{{"profiles", static_cast<double>(samples_), true},
           {"shear_rate", rate},
           {"theory_shear_rate", expected},
           {"deviation_percent", off}},
          fmt::format("the line fitted to {} profiles has the shear rate {:.4g}; that of the walls is {:.4g}, so {}",
                      samples_, rate, expected, off_by(off))};
}

void mean_profile::save(io::checkpoint& state) const {
  std::vector<double> rows;
  for (const slice& one : sums_) {
    rows.insert(rows.end(), {one.count, one.velocity[0], one.velocity[1], one.velocity[2]});
  }
  state.add<double>("profile", rows, 4);
  state.add<std::uint64_t>("profile_samples", std::span(&samples_, 1));
}

void mean_profile::restore(const io::checkpoint& state) {
  const std::vector<double> rows = state.get<double>("profile");
  const std::vector<std::uint64_t> samples = state.get<std::uint64_t>("profile_samples");
  if (rows.size() != 4 * sums_.size() || samples.size() != 1) throw io_error("the profile in the checkpoint is cut");
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    sums_[k] = {rows[4 * k], {rows[4 * k + 1], rows[4 * k + 2], rows[4 * k + 3]}};
  }
  samples_ = samples[0];
}

wave_decay::wave_decay(const io::srd_scene& scene)
    : time_step_(scene.physics.time_step),
      amplitude_(scene.particles.amplitude.value()),
      wave_number_(2 * std::numbers::pi / (static_cast<double>(scene.box.cells.value()[1]) * scene.box.cell_edge)),
      theory_(theory_of(scene, 2 * std::numbers::pi / wave_number_)) {}

std::string wave_decay::as_csv() const {
  std::string text = "step,time,amplitude,theory_amplitude\n";
  for (const vec<double, 2>& one : samples_) {
    const double time = one[0] * time_step_;
    const double theory = amplitude_ * std::exp(-theory_.viscosity * wave_number_ * wave_number_ * time);
    text += fmt::format("{},{},{},{}\n", one[0], time, one[1], theory);
  }
  return text;
}

run_result wave_decay::result() const {
  // The first collisions are not yet described by a viscosity, and late samples are noise.
  const double decay_time = 1 / (theory_.viscosity * wave_number_ * wave_number_);
  double weights = 0, mean_time = 0, mean_log = 0, scatter = 0, slope = 0;
  std::vector<vec<double, 3>> used;  // time, logarithm, weight: the noise does not depend on the amplitude
  for (const vec<double, 2>& one : samples_) {
    const double time = one[0] * time_step_;
    const double share = one[1] / amplitude_;
    if (time < 0.1 * decay_time || time > 1.5 * decay_time || !(share > 0)) continue;
    used.push_back({time, std::log(share), share * share});
    weights += share * share;
    mean_time += share * share * time;
    mean_log += share * share * std::log(share);
  }
  if (used.size() < 3) {
    return {{},
            fmt::format("no decay yet: it is taken from time {:.3g} to {:.3g}", 0.1 * decay_time, 1.5 * decay_time)};
  }
  for (const vec<double, 3>& one : used) {
    const double offset = one[0] - mean_time / weights;
    scatter += one[2] * offset * offset;
    slope += one[2] * offset * (one[1] - mean_log / weights);
  }
  const double rate = -slope / scatter;
  const double viscosity = rate / (wave_number_ * wave_number_);
  const double off = percent_of(viscosity, theory_.viscosity);
  run_result result{{{"samples", static_cast<double>(used.size()), true},
                     {"decay_rate", rate},
                     {"theory_decay_rate", 1 / decay_time},
                     {"viscosity", viscosity},
                     {"theory_viscosity", theory_.viscosity},
                     {"deviation_percent", off}},
                    fmt::format("the wave decays at the rate {:.4g}, a viscosity of {:.4g}; theory: {:.4g}, so {}",
                                rate, viscosity, theory_.viscosity, off_by(off))};
  add_corrections(result, theory_, viscosity);
  return result;
}

void wave_decay::save(io::checkpoint& state) const { add_vectors(state, "wave", samples_); }

void wave_decay::restore(const io::checkpoint& state) {
  const std::vector<double> rows = state.get<double>("wave");
  if (rows.size() % 2 != 0) throw io_error("the record of the wave in the checkpoint is cut");
  samples_.clear();
  for (std::size_t k = 0; k < rows.size(); k += 2) samples_.push_back({rows[k], rows[k + 1]});
}

}  // namespace quadrat::program
