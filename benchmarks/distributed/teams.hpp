// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <type_traits>
#include <vector>

#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/timing.hpp"
#include "quadrat/distributed/in_process.hpp"

namespace quadrat::bench {

/// The numbers of ranks: 1, 2, 4, ... devices or threads.
[[nodiscard]] inline std::vector<int> rank_counts(const session& s) {
  const int all = s.on_cuda() ? static_cast<int>(cuda_devices().size())
                              : (s.asked().threads > 0 ? s.asked().threads : cpu_context().threads());
  std::vector<int> counts;
  for (int count = 1; count <= std::min(all, 8); count *= 2) counts.push_back(count);
  return counts;
}

/// One thread a rank on the CPU, one device on CUDA.
template <typename Context>
[[nodiscard]] Context context_of(const communicator& ranks) {
  typename Context::options chosen;
  if constexpr (std::is_same_v<Context, cpu_context>) {
    chosen.threads = 1;
  } else {
    chosen.device = ranks.rank();
  }
  return Context(chosen);
}

/// The time of `repetitions` calls of work() on all ranks, from when all are ready until all are done. On rank 0.
template <typename Context>
[[nodiscard]] timing time_together(const session& s, const Context& context, communicator& ranks, int repetitions,
                                   const std::function<void()>& work) {
  using clock = std::chrono::steady_clock;
  const std::size_t samples = s.full() ? 11 : 3;
  std::vector<double> taken;
  work();
  for (std::size_t sample = 0; sample < samples; ++sample) {
    context.synchronize();
    ranks.barrier();
    const auto begin = clock::now();
    for (int k = 0; k < repetitions; ++k) work();
    context.synchronize();
    ranks.barrier();
    taken.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin).count() / repetitions);
  }
  return summarize(taken, s.plan().tolerance);
}

/// Calls body(context, ranks, row) on all ranks. The row of rank 0 is the result.
template <typename F>
void attempt_on_ranks(const session& s, row identity, int count, const F& body) {
  identity["ranks"] = count;
  s.attempt(identity, [&](row& out) {
    run_ranks(count, [&](communicator& ranks) {
      row mine;
      row& target = ranks.rank() == 0 ? out : mine;
      if constexpr (detail::backend_is_built<cuda_context>) {
        if (s.on_cuda()) return body(context_of<cuda_context>(ranks), ranks, target);
      }
      body(context_of<cpu_context>(ranks), ranks, target);
    });
  });
}

}  // namespace quadrat::bench
