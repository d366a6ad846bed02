// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "distributed/teams.hpp"

namespace quadrat::bench {

/// Calls run(context) with one context that has the device of one rank, or the threads of all ranks.
template <typename Run>
void with_one_context(const session& s, int ranks, const Run& run) {
  if constexpr (detail::backend_is_built<cuda_context>) {
    if (s.on_cuda()) return run(make_context<cuda_context>(s));
  }
  cpu_context::options chosen;
  chosen.threads = ranks;
  run(cpu_context(chosen));
}

/// The steps to time in a run: some steps after warm-up, fewer for large systems.
struct timed_steps {
  int steps = 5;
  std::size_t warm_up = 5;

  timed_steps(const session& s, std::size_t count) {
    if (!s.full()) return;
    constexpr std::size_t updates = 200'000'000;
    steps = s.on_cuda() ? static_cast<int>(std::clamp<std::size_t>(updates / count, 3, 50)) : 50;
    warm_up = 2 * static_cast<std::size_t>(steps);
  }
};

/// The time of a step, measured over several steps in one call.
template <typename Context, typename Model>
[[nodiscard]] timing time_steps_of(const session& s, const Context& context, communicator& ranks,
                                   const timed_steps& plan, Model& model) {
  timing measured = time_together(s, context, ranks, 1, [&] { model.advance(static_cast<std::size_t>(plan.steps)); });
  for (double* const time : {&measured.median_ms, &measured.min_ms, &measured.max_ms}) *time /= plan.steps;
  return measured;
}

/// Times the steps of a model over ranks, make(context, ranks), with `count` particles in all.
template <typename Make>
void time_on_ranks(const session& s, const row& identity, std::size_t count, int number, const Make& make) {
  attempt_on_ranks(s, identity, number, [&](const auto& context, communicator& ranks, row& out) {
    const timed_steps plan(s, count);
    auto model = make(context, ranks);
    model.advance(plan.warm_up);
    const auto before = model.report();
    const timing measured = time_steps_of(s, context, ranks, plan, model);
    model.check();
    const auto after = model.report();
    std::uint64_t bytes = 0, made = 0;
    for (std::size_t rank = 0; rank < after.size(); ++rank) bytes += after[rank].bytes_sent - before[rank].bytes_sent;
    made = (measured.samples + 1) * static_cast<std::size_t>(plan.steps);
    out["bytes_sent_a_step"] = static_cast<double>(bytes) / static_cast<double>(made);
    out["exchanges_a_step"] = static_cast<double>(after[0].exchanges - before[0].exchanges) / static_cast<double>(made);
    // The largest number of particles of a rank over the mean, minus 1; averaged over the steps.
    out["imbalance"] = (after[0].lost_steps - before[0].lost_steps) / static_cast<double>(made);
    add_timing(out, measured, "updates_per_s", static_cast<double>(count));
  });
}

/// The same; then on one context with as many threads, make_alone(context). On CUDA one alone serves all rows.
template <typename Make, typename MakeAlone>
void time_model(const session& s, std::string_view op, std::string_view distribution, std::size_t count, int number,
                const Make& make, const MakeAlone& make_alone) {
  time_on_ranks(s, identify(op, "ranks", "float", count, 0, distribution), count, number, make);
  if (s.on_cuda() && number > 1 && op != "weak") return;
  row alone = identify(op, "one_context", "float", count, 0, distribution);
  alone["ranks"] = number;
  s.attempt(alone, [&](row& out) {
    with_one_context(s, number, [&](const auto& context) {
      auto model = make_alone(context);
      self_communicator self;
      const timed_steps plan(s, count);
      model.advance(plan.warm_up);
      add_timing(out, time_steps_of(s, context, self, plan, model), "updates_per_s", static_cast<double>(count));
    });
  });
}

}  // namespace quadrat::bench
