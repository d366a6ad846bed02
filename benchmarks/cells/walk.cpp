// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cells/crowd.hpp"
#include "cells/operations.hpp"
#include "cells/orders.hpp"
#include "harness/stopwatch.hpp"

namespace quadrat::bench {

namespace {

template <typename Context>
void time_walk(const session& s, crowd<Context, float>& people, std::string_view method, row& out) {
  const Context& context = people.context();
  const auto list = people.make(method);
  people.verify(method, *list);
  array<walk_result<float>, Context> results(context, people.size());
  const timing measured =
      time_repeated(context, s.plan(), [&] { list->walk(people.points(), people.cutoff(), results.data()); });
  add_timing(out, measured, "walks_per_s", static_cast<double>(people.size()));

  double met = 0;
  for (const auto& result : to_host(context, results)) met += static_cast<double>(result.neighbors);
  const tally pairs = list->neighbors(people.points(), people.cutoff(), people.size());
  if (met != static_cast<double>(pairs.count)) {
    throw disagreement(message(method, " has met ", met, " neighbors in the walk, of ", pairs.count));
  }
  out["neighbors"] = met / static_cast<double>(people.size());
}

}  // namespace

void run_walk(const session& s) {
  with_context(s, [&](const auto& context) {
    using context_type = std::remove_cvref_t<decltype(context)>;
    for (const std::size_t n : s.full() ? powers_of_two(16, 20, 2) : powers_of_two(14, 14)) {
      const auto random = random_points<float>(n, paper_cube.half_side(), n);
      for (const bool ordered : {false, true}) {
        crowd<context_type, float> people(context, paper_cube,
                                          ordered ? in_order_of_cells(random, paper_cube) : random);
        for (const std::string_view method : wanted_cell_lists(s)) {
          s.attempt(people.describe("walk", method, ordered ? "cells" : "random"),
                    [&](row& out) { time_walk(s, people, method, out); });
        }
      }
    }
  });
}

}  // namespace quadrat::bench
