// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "mesh/problem.hpp"
#include "spectral/operations.hpp"

namespace quadrat::bench {

namespace {

constexpr int tsc = 3;

struct spectrum_case {
  std::size_t n;
  int mesh;
  bool interlaced;
  int multipoles;
};

/// Uniform points have the shot noise, up to the chance of each bin, and to the aliases that interlacing leaves.
double check_power(const power_spectrum_result& found) {
  double most = 0;
  for (std::size_t bin = 0; bin < found.bins(); ++bin) {
    const double deviation = std::fabs(found.power[bin] / found.shot_noise - 1);
    const double allowed = 6 * std::sqrt(2 / static_cast<double>(found.modes[bin])) + 0.05;
    if (!(deviation <= allowed)) {
      throw disagreement(
          message("the power of bin ", bin, " is off by ", deviation, " of the shot noise; ", allowed, " is allowed"));
    }
    most = std::max(most, deviation);
  }
  return most;
}

template <typename T, typename Context>
void time_spectrum(const session& s, const Context& context, const spectrum_case& what) {
  row identity = identify_mesh("power_spectrum", "auto", std::is_same_v<T, float> ? "float" : "double", what.n,
                               what.mesh, tsc, "uniform");
  identity["interlaced"] = what.interlaced;
  identity["multipoles"] = what.multipoles;
  if (!s.wants_method("auto")) return;
  s.attempt(identity, [&](row& out) {
    const auto& problem = make_problem<Context, T>(s, context, what.n, "uniform");
    power_spectrum_options options;
    options.order = tsc;
    options.interlaced = what.interlaced;
    if (what.multipoles == 3) options.multipoles = {0, 2, 4};
    const auto half = vec<T, 3>::filled(T(0.5));
    power_spectrum<Context, T, 3> spectrum(context, make_box(half * T(-1), half, vec<bool, 3>::filled(true)),
                                           vec<int, 3>::filled(what.mesh), options);
    power_spectrum_result found = spectrum.measure(problem.points(what.n));
    stopwatch<Context> watch(context);
    timing_plan plan = s.plan();
    if (!s.on_cuda()) plan.least = 5;
    const timing measured = repeat(plan, [&] {
      watch.start();
      found = spectrum.measure(problem.points(what.n));
      return watch.stop_ms();
    });
    add_timing(out, measured, "points_per_s", static_cast<double>(what.n));
    out["deviation"] = check_power(found);
    out["bins"] = found.bins();
    out["bytes"] = spectrum.bytes();
  });
}

}  // namespace

void run_power_spectrum(const session& s) {
  with_context(s, [&](const auto& context) {
    const bool large = s.full() && s.on_cuda();
    const std::size_t n = large ? std::size_t{1} << 24 : (s.full() ? 1'000'000 : 4096);
    const int mesh = large ? 512 : (s.full() ? 128 : 24);
    for (const bool interlaced : {false, true}) {
      time_spectrum<float>(s, context, {n, mesh, interlaced, 1});
      time_spectrum<double>(s, context, {n, mesh, interlaced, 1});
    }
    time_spectrum<float>(s, context, {n, mesh, true, 3});
  });
}

}  // namespace quadrat::bench
