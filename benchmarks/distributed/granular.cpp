// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>

#include "distributed/operations.hpp"
#include "distributed/teams.hpp"
#include "quadrat/models/distributed_granular.hpp"

namespace quadrat::bench {

namespace {

/// A box that is long along x and half full of touching grains, which settle.
[[nodiscard]] granular_options box_for(std::size_t count) {
  granular_options options;
  const double diameter = 2 * options.parameters.radius;
  const double edge = diameter * std::ceil(std::cbrt(static_cast<double>(count)));
  options.lower = {0, 0, 0};
  options.upper = {edge, 2 * edge, edge};
  options.method = "counting";
  return options;
}

/// The steps of `count` grains; on one rank also without ranks, with all threads.
void time_steps(const session& s, std::string_view op, std::size_t count, int number) {
  const granular_options options = box_for(count);
  const auto positions = granular_initial_positions(granular_start::lattice, count, options.parameters.radius,
                                                    options.lower, options.upper);
  const int steps = s.full() ? 50 : 5;
  const auto finish = [&](row& out, const timing& measured) {
    add_timing(out, measured, "updates_per_s", static_cast<double>(count));
  };
  const row identity = identify(op, "ranks", "float", count, 0, "lattice");
  attempt_on_ranks(s, identity, number, [&](const auto& context, communicator& ranks, row& out) {
    using context_type = std::remove_cvref_t<decltype(context)>;
    const std::vector<vec<double, 3>> none;
    distributed_granular<context_type, float> model(context, ranks, options, ranks.rank() == 0 ? positions : none);
    model.advance(static_cast<std::size_t>(s.full() ? 100 : 5));
    const auto before = model.report();
    const timing measured = time_together(s, context, ranks, steps, [&] { model.advance(1); });
    model.check();
    const auto after = model.report();
    std::uint64_t bytes = 0, made = 0;
    for (std::size_t rank = 0; rank < after.size(); ++rank) bytes += after[rank].bytes_sent - before[rank].bytes_sent;
    made = measured.samples * static_cast<std::size_t>(steps) + 1;
    out["bytes_sent_a_step"] = static_cast<double>(bytes) / static_cast<double>(made);
    out["exchanges_a_step"] = static_cast<double>(after[0].exchanges - before[0].exchanges) / static_cast<double>(made);
    finish(out, measured);
  });
  row alone = identify(op, "one_context", "float", count, 0, "lattice");
  alone["ranks"] = number;
  s.attempt(alone, [&](row& out) {
    const auto run = [&](const auto& context) {
      using context_type = std::remove_cvref_t<decltype(context)>;
      granular<context_type, float> model(context, options, positions);
      self_communicator self;
      model.advance(static_cast<std::size_t>(s.full() ? 100 : 5));
      finish(out, time_together(s, context, self, 1, [&] { model.advance(static_cast<std::size_t>(steps)); }));
      for (const char* key : {"median_ms", "min_ms", "max_ms"}) out[key] = out[key].template get<double>() / steps;
      out["updates_per_s"] = out["updates_per_s"].template get<double>() * steps;
    };
    if (s.on_cuda()) {
      run(make_context<cuda_context>(s));
    } else {
      cpu_context::options chosen;
      chosen.threads = number;
      run(cpu_context(chosen));
    }
  });
}

}  // namespace

void run_weak_scaling(const session& s) {
  const std::size_t each = s.on_cuda() ? (s.full() ? 16'000'000 : 100'000) : (s.full() ? 200'000 : 2'000);
  for (const int number : rank_counts(s)) time_steps(s, "weak", each * static_cast<std::size_t>(number), number);
}

void run_strong_scaling(const session& s) {
  std::vector<std::size_t> sizes{s.full() ? std::size_t{200'000} : std::size_t{3'000}};
  if (s.on_cuda()) sizes = {s.full() ? std::size_t{4'000'000} : std::size_t{100'000}};
  if (s.on_cuda() && s.full()) sizes.push_back(64'000'000);
  for (const std::size_t count : sizes) {
    for (const int number : rank_counts(s)) time_steps(s, "strong", count, number);
  }
}

}  // namespace quadrat::bench
