// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/session.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/models/srd.hpp"

namespace quadrat::bench {

/// The selected kinds of sums on this device; its default comes first.
[[nodiscard]] std::vector<srd_sums> wanted_srd_sums(const session& s);

/// A cube of cells with 10 particles each: 10M on a GPU.
[[nodiscard]] int srd_side(const session& s);

/// Particles at the start, made once for all operations.
[[nodiscard]] const srd_particles<3>& srd_particles_at_start(const session& s);

/// More steps between two sorts than any run has.
inline constexpr std::size_t never_sorted = std::size_t{1} << 40;

/// The first keys of a row.
template <int D>
[[nodiscard]] row identify_srd(std::string_view operation, const srd_options<D>& options, std::string_view precision,
                               std::size_t n, std::string_view distribution);

/// The number of steps before timing, the steps per sample, and the number of samples.
struct srd_stretch {
  std::size_t before;
  std::size_t steps;
  std::size_t samples;
};

/// Milliseconds per step. Throws disagreement if the fluid does not have its temperature at the end.
template <typename Context, typename T>
[[nodiscard]] timing time_srd(const Context& context, srd<Context, T, 3>& fluid, const srd_stretch& stretch,
                              double tolerance) {
  fluid.advance(stretch.before);
  fluid.advance(stretch.steps);  // allocates and captures
  fluid.check();
  stopwatch<Context> watch(context);
  std::vector<double> samples;
  for (std::size_t i = 0; i < stretch.samples; ++i) {
    watch.start();
    fluid.advance(stretch.steps);
    samples.push_back(watch.stop_ms() / static_cast<double>(stretch.steps));
  }
  const double wanted = fluid.options().temperature;
  const double found = fluid.measure().temperature;
  if (!(std::abs(found - wanted) <= 0.05 * wanted)) {
    throw disagreement(message("the fluid ends at the temperature ", found, " instead of ", wanted));
  }
  return summarize(samples, tolerance);
}

/// One row of a fluid that starts with srd_particles_at_start, for given precision and options.
template <typename T, typename Context>
void time_fluid(const session& s, const Context& given, const srd_options<3>& options, const row& identity,
                const srd_stretch& stretch) {
  s.attempt(identity, [&](row& out) {
    const bool fixed = options.sums == srd_sums::fixed;
    const Context context = fixed ? make_context<Context>(s, determinism::run_to_run) : given;
    srd<Context, T, 3> fluid(context, options, srd_particles_at_start(s));
    const timing measured = time_srd(context, fluid, stretch, s.plan().tolerance);
    const auto n = static_cast<double>(fluid.size());
    add_timing(out, measured, "updates_per_s", n);
    out["steps"] = stretch.steps * stretch.samples;
    if (s.on_cuda()) out["floor_ms"] = n * 12 * sizeof(T) / 4.3e9;
    out["bytes"] = fluid.bytes();
  });
}

}  // namespace quadrat::bench
