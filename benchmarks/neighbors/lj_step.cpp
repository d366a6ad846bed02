// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include "harness/stopwatch.hpp"
#include "neighbors/lj_liquid.hpp"
#include "neighbors/operations.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::bench {

namespace {

struct liquid_case {
  int side;
  neighbor_pairs pairs;
  determinism level;
};

/// Blocks of steps, starting from the lattice. Each block is a sample: the time of one step with its share of the
/// rebuilds.
template <typename T, typename Context>
void time_liquid(const session& s, const liquid_case& it) {
  constexpr int block = 50;
  const auto side = static_cast<std::size_t>(it.side);
  const std::size_t n = 4 * side * side * side;
  row identity = identify("lj_step", "auto", std::is_same_v<T, float> ? "float" : "double", n, 0, "fcc lattice");
  identity.erase("cells");
  identity["pairs"] = it.pairs == neighbor_pairs::half ? "half" : "full";
  if (it.level != determinism::none) identity["determinism"] = "run_to_run";
  s.attempt(identity, [&](row& out) {
    const auto context = make_context<Context>(s, it.level);
    const auto liquid = make_lj_liquid<Context, T>(context, it.side, it.pairs);
    const double first = liquid->measure().energy;
    stopwatch<Context> watch(context);
    std::vector<double> samples;
    for (int k = 0; k < (s.full() ? (s.on_cuda() ? 20 : 4) : 2); ++k) {
      watch.start();
      liquid->run(block);
      samples.push_back(watch.stop_ms() / block);
    }
    const liquid_state last = liquid->measure();
    if (!(std::fabs(last.energy - first) < 0.01)) {
      throw disagreement(message("the energy per atom went from ", first, " to ", last.energy));
    }
    add_timing(out, summarize(samples, 0.1), "atom_steps_per_s", static_cast<double>(n));
    double sum = 0;
    for (const double sample : samples) sum += sample;
    out["mean_ms"] = sum / static_cast<double>(samples.size());
    out["steps"] = block * samples.size();
    out["rebuilds"] = liquid->rebuilds();
    out["listed"] = liquid->pairs_per_atom();
    out["drift"] = last.energy - first;
    out["temperature"] = last.temperature;
    out["virial"] = last.virial;
    out["pressure"] = last.pressure;
    out["bytes"] = liquid->bytes();
  });
}

template <typename Context>
void run_lj_step_on(const session& s) {
  using enum neighbor_pairs;
  using enum determinism;
  if (!s.full()) {
    time_liquid<float, Context>(s, {5, full, none});
    time_liquid<double, Context>(s, {5, half, none});
  } else if (s.on_cuda()) {
    for (const int side : {20, 64}) {
      time_liquid<float, Context>(s, {side, full, none});
      time_liquid<float, Context>(s, {side, half, none});
    }
    time_liquid<float, Context>(s, {64, full, run_to_run});
    time_liquid<double, Context>(s, {64, full, none});
  } else {
    for (const neighbor_pairs pairs : {full, half}) {
      for (const determinism level : {none, run_to_run}) time_liquid<double, Context>(s, {20, pairs, level});
      time_liquid<double, Context>(s, {30, pairs, none});
    }
  }
}

}  // namespace

void run_lj_step(const session& s) {
  with_context(s, [&](const auto& context) { run_lj_step_on<std::remove_cvref_t<decltype(context)>>(s); });
}

}  // namespace quadrat::bench
