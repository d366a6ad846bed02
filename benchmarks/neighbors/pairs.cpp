// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <vector>

#include "neighbors/operations.hpp"
#include "neighbors/problem.hpp"
#include "quadrat/search/pair_counts.hpp"

namespace quadrat::bench {

namespace {

struct pairs_case {
  std::size_t n;
  double reach;
  const char* coordinates = "r";
  bool sums = false;  ///< weights, and the mean separation in each bin
};

/// 20 logarithmic bins up to `reach`, over two decades; 40 linear ones of pi.
[[nodiscard]] pair_counts_options options_of(const pairs_case& what) {
  pair_counts_options options;
  for (int k = 0; k <= 20; ++k) options.edges.push_back(what.reach * std::pow(10, (k - 20) / 10.0));
  if (std::string_view(what.coordinates) == "rp_pi") {
    options.coordinates = pair_coordinates::rp_pi;
    for (int k = 0; k <= 40; ++k) options.second_edges.push_back(what.reach * k / 40);
  }
  options.mean_separation = what.sums;
  return options;
}

template <typename T, typename Context>
void time_pairs(const session& s, const Context& context, const pairs_case& what) {
  row identity =
      identify("pairs", what.coordinates, std::is_same_v<T, float> ? "float" : "double", what.n, 0, "uniform periodic");
  identity.erase("cells");
  identity["reach"] = what.reach;
  identity["sums"] = what.sums;
  s.attempt(identity, [&](row& out) {
    const auto points = to_device(context, random_points<T>(what.n, 0.5, what.n));
    const auto weights = to_device(context, std::vector<T>(what.n, T(0.5)));
    const auto view = strided_points<3>(points.data(), what.n);
    pair_counts<Context, T, 3> counter(context, unit_cube<T>(true), options_of(what));
    stopwatch<Context> watch(context);
    std::uint64_t pairs = 0;
    const timing measured = repeat(s.plan(), [&] {
      watch.start();
      const pair_counts_result found = counter.count(view, what.sums ? weights.data() : nullptr);
      const double ms = watch.stop_ms();
      pairs = std::accumulate(found.counts.begin(), found.counts.end(), std::uint64_t{0});
      return ms;
    });
    add_timing(out, measured, "pairs_per_s", static_cast<double>(pairs));
    out["pairs"] = pairs;
    out["bytes"] = counter.bytes();
  });
}

}  // namespace

void run_pairs(const session& s) {
  with_context(s, [&](const auto& context) {
    const std::size_t n = s.full() ? 1'000'000 : 4096;
    const double reach = 0.1;
    time_pairs<float>(s, context, {n, reach});
    time_pairs<float>(s, context, {s.full() ? 10'000'000 : n, 0.02});
    time_pairs<double>(s, context, {n, reach});
    time_pairs<float>(s, context, {n, reach, "r", true});
    time_pairs<float>(s, context, {n, reach, "rp_pi"});
  });
}

}  // namespace quadrat::bench
