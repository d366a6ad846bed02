// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "distributed/teams.hpp"

namespace quadrat::bench {

/// Times the steps of a model over ranks, make(context, ranks), with `count` particles in all; then the same on one
/// context with as many threads, make_alone(context).
template <typename Make, typename MakeAlone>
void time_model(const session& s, std::string_view op, std::string_view distribution, std::size_t count, int number,
                const Make& make, const MakeAlone& make_alone) {
  const int steps = s.full() ? 50 : 5;
  const auto warm_up = static_cast<std::size_t>(s.full() ? 100 : 5);
  const auto finish = [&](row& out, const timing& measured) {
    add_timing(out, measured, "updates_per_s", static_cast<double>(count));
  };
  const row identity = identify(op, "ranks", "float", count, 0, distribution);
  attempt_on_ranks(s, identity, number, [&](const auto& context, communicator& ranks, row& out) {
    auto model = make(context, ranks);
    model.advance(warm_up);
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
  row alone = identify(op, "one_context", "float", count, 0, distribution);
  alone["ranks"] = number;
  s.attempt(alone, [&](row& out) {
    const auto run = [&](const auto& context) {
      auto model = make_alone(context);
      self_communicator self;
      model.advance(warm_up);
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

}  // namespace quadrat::bench
