// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <numeric>

#include "neighbors/operations.hpp"
#include "neighbors/problem.hpp"
#include "quadrat/search/pair_histogram.hpp"

namespace quadrat::bench {

namespace {

template <typename T, typename Context>
void time_rdf(const session& s, const Context& context, std::size_t n, double neighbors) {
  const auto what = uniform_problem<Context, T>(context, n, neighbors, true);
  row identity = identify("rdf", "cells", std::is_same_v<T, float> ? "float" : "double", n, 0, "uniform periodic");
  identity.erase("cells");
  identity["neighbors"] = neighbors;
  s.attempt(identity, [&](row& out) {
    pair_histogram<Context, T, 3> histogram(context, {.cutoff = what.cutoff});
    stopwatch<Context> watch(context);
    const timing measured = repeat(s.plan(), [&] {
      watch.start();
      histogram.add(what.input().points, what.boxes.front());
      return watch.stop_ms();
    });
    const pair_histogram_result found = histogram.result();
    const auto pairs = static_cast<double>(std::accumulate(found.counts.begin(), found.counts.end(), std::uint64_t{0}));
    add_timing(out, measured, "pairs_per_s", pairs / static_cast<double>(found.frames));
    out["bins"] = found.bins;
    out["bytes"] = histogram.bytes();
  });
}

}  // namespace

void run_rdf(const session& s) {
  with_context(s, [&](const auto& context) {
    const std::size_t n = !s.full() ? 4096 : (s.on_cuda() ? std::size_t{1} << 20 : 100'000);
    for (const double neighbors : {40.0, 400.0}) time_rdf<float>(s, context, n, neighbors);
    time_rdf<double>(s, context, n, 40);
  });
}

}  // namespace quadrat::bench
