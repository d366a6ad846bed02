// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "models/granular/frozen.hpp"
#include "models/granular/operations.hpp"
#include "models/granular/wave.hpp"

namespace quadrat::bench {

namespace {

/// Runs the whole simulation once per sample; only once if it takes many seconds.
template <typename Context>
timing time_waves(const session& s, granular<Context, float>& wave, std::size_t steps) {
  settle(wave);
  const auto start = wave.state();
  stopwatch<Context> watch(wave.context());
  std::vector<double> samples;
  const auto run = [&] {
    wave.restore(start);
    watch.start();
    wave.advance(steps);
    samples.push_back(watch.stop_ms() / static_cast<double>(steps));
    wave.check();
  };
  run();
  const double seconds = samples[0] * static_cast<double>(steps) * 1e-3;
  const int more = !s.full() || seconds < 0.7 ? 2 : (seconds < 3 ? 1 : 0);
  for (int i = 0; i < more; ++i) run();
  return summarize(samples, s.plan().tolerance);
}

/// The state after the wave has come to rest must not depend on the method.
void compare_rest(std::string_view method, const granular_statistics& rest, std::optional<granular_statistics>& first) {
  if (!first) {
    first = rest;
    return;
  }
  const double height = rest.mean_height + 1;  // above the floor
  const double other = first->mean_height + 1;
  const double contacts = rest.contacts_per_particle;
  if (std::abs(height - other) > 0.02 * other ||
      std::abs(contacts - first->contacts_per_particle) > 0.03 * first->contacts_per_particle) {
    throw disagreement(message(method, " ends at mean height ", rest.mean_height, " with ", contacts,
                               " contacts a grain, the first method at ", first->mean_height, " with ",
                               first->contacts_per_particle));
  }
}

template <typename Context>
void run_size(const session& s, const Context& context, std::size_t n) {
  constexpr std::size_t enough_for_statistics = 16384;
  const std::size_t steps = wave_steps(s);
  frozen_grains check(paper_cube, n);
  std::optional<granular_statistics> first;
  for (const std::string_view method : wanted_granular_methods(s)) {
    row identity = identify("simulation", method, "float", n, paper_cube.size(), "left_half");
    identity["figure"] = 2;
    s.attempt(identity, [&](row& out) {
      auto still = check.make<float>(context, method);
      check.verify(method, still);
      auto wave = make_wave(context, method, n);
      const timing measured = time_waves(s, wave, steps);
      const granular_statistics rest = wave.measure();
      if (n >= enough_for_statistics && s.full()) compare_rest(method, rest, first);
      add_timing(out, measured, "updates_per_s", static_cast<double>(n));
      out["steps"] = steps;
      out["mean_height"] = rest.mean_height;
      out["contacts_per_particle"] = rest.contacts_per_particle;
      out["candidates_per_particle"] = rest.candidates_per_particle;
      out["largest_cell"] = rest.largest_cell;
    });
  }
}

/// With more than 512K grains the wave does not fit into the box (it blows up within 15 steps), so grains are frozen
/// there.
template <typename Context>
void run_frozen_size(const session& s, const Context& context, std::size_t n) {
  frozen_grains grains(paper_cube, n);
  for (const std::string_view method : wanted_granular_methods(s)) {
    row identity = grains.describe("simulation", method, "float");
    identity["figure"] = 2;
    s.attempt(identity, [&](row& out) { measure_frozen<float>(s, context, grains, method, out); });
  }
}

}  // namespace

void run_simulation(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const std::size_t n : wave_sizes(s)) run_size(s, context, n);
    if (!s.full() || !s.on_cuda()) return;
    for (const std::size_t n : powers_of_two(20, 21)) run_frozen_size(s, context, n);
  });
}

}  // namespace quadrat::bench
