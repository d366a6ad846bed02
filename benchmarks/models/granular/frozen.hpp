// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/points.hpp"
#include "harness/session.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat::bench {

/// Constants with which a step computes everything but moves nothing. With Green's damping and shear, velocities of
/// grains that cannot move would grow exponentially: 16 contacts each make the explicit update unstable, and they are
/// infinite after about 100 steps. So both are small here, and velocities grow in proportion to the number of steps.
[[nodiscard]] granular_parameters frozen_parameters();
/// The same constants, for a row.
[[nodiscard]] row frozen_settings();

/// Frozen grains at random positions in a cube, for all methods. Checks the methods against each other.
class frozen_grains {
 public:
  frozen_grains(const cube& room, std::size_t n);

  /// Makes the box `factor` times as wide as the cube, which stays in its lower corner.
  void widen_box(int factor) { factor_ = factor; }
  /// Moves one grain to the upper corner of such a box.
  void stray(int factor);

  template <typename T, typename Context>
  [[nodiscard]] granular<Context, T> make(const Context& context, std::string_view method) const {
    granular_options options;
    options.parameters = frozen_parameters();
    const double half = room_.half_side(), upper = (2 * factor_ - 1) * half;
    options.lower = {-half, -half, -half};
    options.upper = {upper, upper, upper};
    options.cells = {factor_ * room_.cells, factor_ * room_.cells, factor_ * room_.cells};
    options.method = method;
    return granular<Context, T>(context, options, positions_);
  }

  /// Takes two steps. Throws disagreement unless contacts and velocities equal those of earlier methods to rounding.
  /// Returns the statistics.
  template <typename Context, typename T>
  granular_statistics verify(std::string_view method, granular<Context, T>& model) {
    model.advance(2);
    const granular_statistics measured = model.measure();
    std::vector<double> velocities;
    if (size() <= most_compared) {
      for (const vec<T, 3>& v : model.velocities()) velocities.insert(velocities.end(), {v[0], v[1], v[2]});
    }
    compare(method, measured, std::move(velocities));
    return measured;
  }

  [[nodiscard]] const cube& room() const { return room_; }
  [[nodiscard]] std::size_t size() const { return positions_.size(); }
  [[nodiscard]] row describe(std::string_view operation, std::string_view method, std::string_view precision) const;

 private:
  /// For more grains, copies to the host would take longer than the timed work: only sums over all grains are compared.
  static constexpr std::size_t most_compared = std::size_t{1} << 20;

  struct outcome {
    std::string method;
    granular_statistics statistics;
    std::vector<double> velocities;
  };

  void compare(std::string_view method, const granular_statistics& measured, std::vector<double> velocities);

  cube room_;
  int factor_ = 1;
  std::vector<vec<double, 3>> positions_;
  std::optional<outcome> first_;
};

/// Times whole steps, the build included, of a model that has already taken some. At least 200 steps in 10 samples,
/// fewer if that would take many seconds; the row has the number.
template <typename Context, typename T>
timing time_steps(const session& s, granular<Context, T>& model, row& out) {
  constexpr std::size_t samples = 10;
  constexpr double most_seconds = 4;
  stopwatch<Context> watch(model.context());
  const auto sample = [&](std::size_t steps) {
    watch.start();
    model.advance(steps);
    return watch.stop_ms() / static_cast<double>(steps);
  };
  sample(2);
  const double once_ms = sample(s.full() ? 10 : 1);
  const double affordable = (s.full() ? most_seconds : 0.1) * 1e3 / samples / once_ms;
  // In samples of some milliseconds the idle time between the event and the first launch is negligible.
  const double enough = std::fmax(20, 5 / once_ms);
  const auto steps = static_cast<std::size_t>(std::fmax(1, std::fmin(affordable, enough)));
  timing_plan plan = s.plan();
  plan.least = samples;
  plan.most = 5 * samples;
  const timing measured = repeat(plan, [&] { return sample(steps); });
  model.check();
  out["steps"] = steps * measured.samples;
  return measured;
}

/// Completes a row: verifies the method, brings it to its steady state, and times it.
template <typename T, typename Context>
timing measure_frozen(const session& s, const Context& context, frozen_grains& grains, std::string_view method,
                      row& out) {
  auto model = grains.make<T>(context, method);
  model.advance(1);
  const std::size_t bytes = model.bytes();  // before the statistics, which need their own memory
  const granular_statistics measured = grains.verify(method, model);
  row steps;
  const timing result = time_steps(s, model, steps);
  add_timing(out, result, "updates_per_s", static_cast<double>(grains.size()));
  out["steps"] = steps["steps"];
  out["candidates_per_s"] = measured.candidates_per_particle * out["updates_per_s"].get<double>();
  out["candidates_per_particle"] = measured.candidates_per_particle;
  out["contacts_per_particle"] = measured.contacts_per_particle;
  out["bytes"] = bytes;
  return result;
}

/// The selected methods of the model that run on its device.
[[nodiscard]] std::vector<std::string_view> wanted_granular_methods(const session& s);

}  // namespace quadrat::bench
