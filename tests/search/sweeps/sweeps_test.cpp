// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <vector>

#include "search/list_support.hpp"

// Special cases of `sweeps`: chunks too small for all candidates within reach, blocks smaller than a cell, and threads
// that share the work.

namespace quadrat::test {

namespace {

/// Every row has some hundred neighbors, in up to 27 images of the box.
problem3 crowded_problem(bool periodic) {
  problem3 problem = some_problem(periodic, 3, 900);
  problem.options.cutoff = 0.95f;
  problem.options.sorted = problem.options.shifts = false;
  return problem;
}

/// Checks every output by every way of writing.
template <typename Check>
void for_each_output(problem3 problem, Check&& check) {
  const auto with = [&](auto&& change) {
    problem3 changed = problem;
    change(changed.options);
    check(changed);
  };
  with([](auto&) {});
  with([](auto& o) { o.squared_distances = o.vectors = o.shifts = true; });
  with([](auto& o) { o.layout = neighbor_layout::pairs; });
  with([](auto& o) { o.sorted = o.shifts = true; });
  with([](auto& o) {
    o.layout = neighbor_layout::matrix;
    o.width = 600;
  });
  with([](auto& o) {
    o.layout = neighbor_layout::matrix;
    o.width = 600;
    o.vectors = true;
  });
}

}  // namespace

TEST(neighbor_sweeps_test, more_candidates_than_a_chunk_holds) {
  const cpu_context context;
  for (const bool periodic : {false, true}) {
    for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
      problem3 problem = crowded_problem(periodic);
      problem.options.pairs = pairs;
      const auto wanted = reference::neighbor_list(problem);
      ASSERT_GT(wanted.entries.size(), 100 * problem.points.size() / (pairs == neighbor_pairs::half ? 2 : 1));
      for_each_output(problem, [&](const problem3& asked) { check_method(context, asked, wanted, "sweeps"); });
    }
  }
}

TEST(neighbor_sweeps_test, the_order_does_not_depend_on_the_number_of_threads) {
  problem3 problem = some_problem(true, 4, 5000);
  problem.options.cutoff = 0.2f;
  problem.options.method = "sweeps";
  problem.options.sorted = false;
  std::vector<std::vector<particle_id>> found;
  for (const int threads : {1, 2, 3, 2}) {
    cpu_context::options chosen;
    chosen.threads = threads;
    chosen.reproducibility = determinism::run_to_run;
    const cpu_context context(chosen);
    const neighbor_input_on_device<float, 3> stored(context, problem);
    list3 list(context, problem.options);
    list.build(stored.input());
    found.push_back(to_host(context, list.view().neighbors, list.size()));
    EXPECT_EQ(found.back(), found.front()) << threads << " threads";
  }
}

}  // namespace quadrat::test
