// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "harness/stopwatch.hpp"
#include "neighbors/lj_forces.hpp"
#include "neighbors/operations.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::bench {

namespace {

/// Times the forces by one list. `expected`: the squared length of all forces by another list, 0 at first.
template <typename T, typename Context>
void time_lj_forces(const session& s, const Context& context, int side, double cutoff, force_list kind,
                    double& expected) {
  const std::size_t n =
      std::size_t{4} * static_cast<std::size_t>(side) * static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  row identity = identify("cluster_pairs", kind == force_list::neighbors ? "neighbor_list" : "tiles",
                          std::is_same_v<T, float> ? "float" : "double", n, 0, "disturbed fcc lattice");
  identity.erase("cells");
  identity["cutoff"] = cutoff;
  s.attempt(identity, [&](row& out) {
    const auto forces = make_lj_forces<Context, T>(context, side, cutoff, kind);
    const timing measured = forces->time_forces(s.plan());
    const double found = forces->squared_force();
    if (expected == 0) expected = found;
    if (!(std::fabs(found - expected) < 1e-3 * expected)) {
      throw disagreement(
          message("the squared length of all forces is ", found, " where another list gives ", expected));
    }
    const double neighbors = forces->neighbors();
    add_timing(out, measured, "pairs_per_s", neighbors * static_cast<double>(n));
    out["neighbors"] = neighbors;
    out["update_ms"] = forces->time_update(s.plan()).median_ms;
    out["build_ms"] = forces->time_build(s.plan()).median_ms;
    out["bytes"] = forces->bytes();
  });
}

template <typename T, typename Context>
void time_force_lists(const session& s, const Context& context, int side, double cutoff) {
  double expected = 0;
  for (const force_list kind : {force_list::neighbors, force_list::tiles}) {
    time_lj_forces<T>(s, context, side, cutoff, kind, expected);
  }
}

}  // namespace

void run_cluster_pairs(const session& s) {
  with_context(s, [&](const auto& context) {
    if (!s.full()) {
      time_force_lists<float>(s, context, 6, 2.5);
      return time_force_lists<double>(s, context, 6, 2.5);
    }
    const int side = s.on_cuda() ? 64 : 20;
    for (const double cutoff : {2.2, 2.5, 3.5}) time_force_lists<float>(s, context, side, cutoff);
    time_force_lists<double>(s, context, side, 2.5);
    if (s.on_cuda()) time_force_lists<float>(s, context, 20, 2.5);
  });
}

}  // namespace quadrat::bench
