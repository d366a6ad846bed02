// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "mesh/operations.hpp"
#include "mesh/paper.hpp"

namespace quadrat::bench {

namespace {

/// Both times of a method that could be measured.
struct method_costs {
  std::string_view method;
  paper_times times;
};

/// The time of setting the points once and spreading `repetitions` times.
timing cost_of(const paper_times& times, int repetitions) {
  const auto total = [&](double once, double each) { return once + repetitions * each; };
  const timing& once = times.set_points;
  const timing& each = times.spread;
  return {total(once.median_ms, each.median_ms), total(once.min_ms, each.min_ms), total(once.max_ms, each.max_ms),
          std::min(once.samples, each.samples), once.stable && each.stable};
}

template <typename Context>
std::vector<method_costs> measure_costs(const session& s, const Context& context, std::size_t n, int mesh) {
  std::vector<method_costs> measured;
  for (const std::string_view method : paper_methods(s)) {
    row identity = identify_mesh("costs", method, "float", n, mesh, paper_order, "uniform");
    identity["value"] = "real";
    identity["asm"] = contributions_per_mesh_point(n, mesh);
    s.attempt(identity, [&](row& out) {
      const paper_times times = measure_paper_case(s, context, {method, n, mesh});
      out["set_points_ms"] = times.set_points.median_ms;
      add_timing(out, times.spread, "points_per_s", static_cast<double>(n));
      out["bytes"] = times.bytes;
      measured.push_back({method, times});
    });
  }
  return measured;
}

/// Adds the row of the fastest method, among those of the paper or all.
void add_winner(const session& s, const std::vector<method_costs>& measured, std::size_t n, int mesh, int repetitions,
                bool paper_only) {
  const method_costs* best = nullptr;
  const method_costs* second = nullptr;
  const auto total = [&](const method_costs* of) {
    return of == nullptr ? std::numeric_limits<double>::infinity() : cost_of(of->times, repetitions).median_ms;
  };
  for (const method_costs& candidate : measured) {
    if (paper_only && candidate.method == "tiles") continue;
    if (total(&candidate) < total(best)) {
      second = best;
      best = &candidate;
    } else if (total(&candidate) < total(second)) {
      second = &candidate;
    }
  }
  if (best == nullptr) return;
  row out = identify_mesh("repetitions", best->method, "float", n, mesh, paper_order, "uniform");
  out["value"] = "real";
  out["asm"] = contributions_per_mesh_point(n, mesh);
  out["repetitions"] = repetitions;
  out["among"] = paper_only ? "paper" : "all";
  if (second != nullptr) {
    out["second"] = second->method;
    out["second_ms"] = total(second);
  }
  add_timing(out, cost_of(best->times, repetitions), "points_per_s", static_cast<double>(n) * repetitions);
  s.out().add(out);
}

template <typename Context>
void run_repetitions_on(const session& s, const Context& context) {
  const paper_sizes sizes = paper_sizes_for(s);
  for (const int mesh : sizes.meshes) {
    for (const std::size_t n : sizes.decades) {
      const std::vector<method_costs> measured = measure_costs(s, context, n, mesh);
      const bool ours = std::ranges::any_of(measured, [](const auto& one) { return one.method == "tiles"; });
      for (const bool paper_only : {true, false}) {
        if (!paper_only && !ours) continue;
        for (const int repetitions : {1, 2, 5, 10, 20, 50, 100, 1000}) {
          add_winner(s, measured, n, mesh, repetitions, paper_only);
        }
      }
    }
  }
}

}  // namespace

void run_repetitions(const session& s) {
  with_context(s, [&](const auto& context) { run_repetitions_on(s, context); });
}

}  // namespace quadrat::bench
