// SPDX-License-Identifier: BSD-3-Clause
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "choice/operations.hpp"
#include "models/circles/ways.hpp"
#include "models/granular/ways.hpp"
#include "quadrat/models/circles.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat::bench {

namespace {

/// Milliseconds at which all work so far is done. On a CPU of computing by this thread: what else the machine does
/// matters less.
template <typename Context>
[[nodiscard]] double time_now_ms(const Context& context) {
  context.synchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
[[nodiscard]] double time_now_ms(const cpu_context& /*context*/) {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// Several copies of one run, each by another way, taken forward in turn: what else the machine does falls on all. The
/// order of turns changes from stretch to stretch.
template <typename Model>
struct race {
  std::vector<std::string> names;
  std::vector<Model> runs;
  std::vector<double> total_ms;
  std::vector<std::vector<double>> stretch_ms;  ///< [run][stretch]

  void add(std::string name, Model model) {
    names.push_back(std::move(name));
    runs.push_back(std::move(model));
    total_ms.push_back(0);
    stretch_ms.emplace_back();
  }
  void go(std::uint64_t steps, std::uint64_t stretch) {
    std::size_t turn = 0;
    for (std::uint64_t at = 0; at < steps; at += stretch, ++turn) {
      for (std::size_t k = 0; k < runs.size(); ++k) {
        const std::size_t one = (k + turn) % runs.size();
        const double begin = time_now_ms(runs[one].context());
        runs[one].advance(static_cast<std::size_t>(std::min(stretch, steps - at)));
        stretch_ms[one].push_back(time_now_ms(runs[one].context()) - begin);
        total_ms[one] += stretch_ms[one].back();
      }
    }
    for (Model& one : runs) one.check();
  }
};

[[nodiscard]] double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// What a choice could reach that knew the best fixed way of every stretch and changed for nothing, over the best fixed
/// way of the whole run; by the medians of the rounds.
template <typename Model>
[[nodiscard]] double perfect_over_best_fixed(const std::vector<race<Model>>& rounds) {
  const auto& first = rounds.front().stretch_ms;
  std::vector<double> fixed(first.size(), 0);
  double perfect = 0;
  for (std::size_t stretch = 0; stretch < first[0].size(); ++stretch) {
    double least = 1e300;
    for (std::size_t k = 1; k < fixed.size(); ++k) {
      std::vector<double> times;
      for (const race<Model>& one : rounds) times.push_back(one.stretch_ms[k][stretch]);
      const double ms = middle_of(times);
      fixed[k] += ms;
      least = std::min(least, ms);
    }
    perfect += least;
  }
  return perfect / *std::min_element(fixed.begin() + 1, fixed.end());
}

/// The first run is the choice's, the others are fixed.
template <typename Model>
void report_race(row& out, const std::vector<race<Model>>& rounds, std::uint64_t steps) {
  const auto& names = rounds.front().names;
  std::vector<std::vector<double>> ratios(names.size());
  std::vector<double> against_best;
  for (const race<Model>& one : rounds) {
    const double best = *std::min_element(one.total_ms.begin() + 1, one.total_ms.end());
    against_best.push_back(one.total_ms[0] / best);
    for (std::size_t k = 0; k < names.size(); ++k) ratios[k].push_back(one.total_ms[k] / best);
  }
  out["steps"] = steps;
  out["rounds"] = rounds.size();
  out["regret"] = middle_of(against_best);
  out["worst_regret"] = *std::ranges::max_element(against_best);
  out["perfect_over_best_fixed"] = perfect_over_best_fixed(rounds);
  for (std::size_t k = 0; k < names.size(); ++k) out["time_over_best_fixed"][names[k]] = middle_of(ratios[k]);
  out["changes"] = rounds.back().runs[0].explanation().changes;
}

/// Steps taken at once. On CUDA the device is waited for after each.
template <typename Context>
constexpr std::uint64_t stretch_of = std::is_same_v<Context, cuda_context> ? 100 : 50;

template <int D, typename Context>
void race_circles(const session& s, const Context& context, double width, double density, std::uint64_t steps) {
  circles_parameters p;
  p.width = s.full() ? width : 8;
  p.force = 0.1;
  if (!s.full()) steps = 150;
  const std::size_t n = circles_count(p, D, density);
  row identity = identify("runs", "auto", "float", n, 0, "uniform, then in circles");
  identity.erase("cells");
  identity["model"] = "circles";
  identity["dim"] = D;
  s.attempt(identity, [&](row& out) {
    const auto start = circles_initial_positions<D>(p, n, 7);
    std::vector<race<circles<Context, float, D>>> rounds(s.full() ? 3 : 1);
    for (auto& round : rounds) {
      round.add("auto", {context, {p}, start});
      for (const detail::circles_way& way : detail::circles_ways(s.on_cuda())) {
        const circles_options options{p, std::string(way.order), "", way.cells_per_reach, way.cells_per_reach_x};
        round.add(std::string(way.name), {context, options, start});
      }
      if (!s.on_cuda()) round.add("trimmed_2x2", {context, {p, std::string(circles_default_order)}, start});
      round.go(steps, stretch_of<Context>);
    }
    report_race(out, rounds, steps);
  });
}

/// Grains in a box with these edges across and this height.
struct fall {
  granular_start start;
  std::size_t grains;
  std::uint64_t steps;
  double height = 2, edge = 2, global_damping = 0.99;
};

template <typename Context>
void race_grains(const session& s, const Context& context, fall what) {
  if (!s.full()) what = {what.start, 500, 150};
  const std::size_t n = what.grains;
  const std::string_view name = granular_start_names[static_cast<std::size_t>(what.start)];
  const std::string_view where = what.height > what.edge ? " in a column, then at rest" : ", then at rest";
  row identity = identify("runs", "auto", "float", n, 0, std::string(name) + std::string(where));
  identity.erase("cells");
  identity["model"] = "granular";
  s.attempt(identity, [&](row& out) {
    granular_options options;
    options.parameters.radius = 1.0 / 28;
    options.parameters.global_damping = what.global_damping;
    const double half = what.edge / 2;
    options.lower = {-half, -1, -half};
    options.upper = {half, what.height - 1, half};
    const auto places =
        granular_initial_positions(what.start, n, options.parameters.radius, options.lower, options.upper);
    std::vector<race<granular<Context, float>>> rounds(s.full() ? 3 : 1);
    for (auto& round : rounds) {
      round.add("auto", {context, options, places});
      const auto finest = *round.runs[0].options().cells;
      for (const detail::granular_way& way : detail::granular_ways(s.on_cuda())) {
        granular_options fixed = options;
        fixed.method = way.method;
        fixed.cells = detail::cells_of(way, finest);
        round.add(std::string(way.name), {context, fixed, places});
      }
      round.go(what.steps, stretch_of<Context>);
    }
    report_race(out, rounds, what.steps);
  });
}

void race_on_cpu(const session& s) {
  // One thread: its time of computing is known.
  const cpu_context one({.threads = 1});
  race_circles<2>(s, one, 40, 1, 2000);
  race_circles<3>(s, one, 10, 1, 1200);
  // Until they have just come to rest, and until they have rested for long.
  race_grains(s, one, {granular_start::uniform_random, 3000, 1500, 4, 1, 0.998});
  race_grains(s, one, {granular_start::uniform_random, 3000, 700});
  race_grains(s, one, {granular_start::uniform_random, 3000, 1500});
  race_grains(s, one, {granular_start::left_half, 4000, 1500});
}
template <typename Context>
void race_on_device(const session& s, const Context& context) {
  // So dense that walks have no queue where they are named, either.
  race_circles<2>(s, context, 224, 2, 3000);
  race_circles<3>(s, context, 46, 1, 3000);
  race_circles<3>(s, context, 100, 1, 1500);
  // A thin gas falls and becomes a heap; a thinner one has so many cells at first that fine ones cost most.
  race_grains(s, context, {granular_start::uniform_random, 100000, 3000, 8, 5.8, 0.998});
  race_grains(s, context, {granular_start::uniform_random, 1000000, 2000, 20, 21.8, 0.998});
  race_grains(s, context, {granular_start::left_half, 400000, 2000, 2, 20});
}

}  // namespace

void run_choice_runs(const session& s) {
  with_context(s, [&]<typename Context>(const Context& context) {
    if constexpr (std::is_same_v<Context, cpu_context>) {
      race_on_cpu(s);
    } else {
      race_on_device(s, context);
    }
  });
}

}  // namespace quadrat::bench
