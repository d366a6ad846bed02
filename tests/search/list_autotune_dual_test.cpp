// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <set>
#include <string>

#include "list_support.hpp"
#include "quadrat/core/error.hpp"
#include "support/counting_memory.hpp"

// Lists that time methods, and lists that do not.

namespace quadrat::test {

namespace {

constexpr int enough_builds = 40;

/// An input on the device, with the list that it has.
struct known_input {
  problem3 problem;
  neighbor_result<float, 3> wanted;
  std::unique_ptr<neighbor_input_on_device<float, 3>> stored;

  known_input(const backend_context& context, std::size_t points)
      : problem(some_problem(true, 1 + points, points)), wanted(reference::neighbor_list(problem)) {
    stored = std::make_unique<neighbor_input_on_device<float, 3>>(context, problem);
  }
};

[[nodiscard]] neighbor_options<float> tuned(neighbor_options<float> options) {
  options.autotune = true;
  return options;
}

/// The methods of so many more builds of one input.
[[nodiscard]] std::set<std::string> methods_of_builds(list3& list, const known_input& one, int builds) {
  std::set<std::string> methods;
  for (int build = 0; build < builds; ++build) {
    list.build(one.stored->input());
    methods.emplace(list.method());
  }
  return methods;
}

class neighbor_list_autotune : public backend_test {};

TEST_F(neighbor_list_autotune, leaves_lists_right_while_the_number_of_points_changes) {
  const backend_context context = context_at(determinism::none);
  std::deque<known_input> inputs;
  for (const std::size_t points : {100, 110, 0, 95, 104, 90}) inputs.emplace_back(context, points);
  list3 list(context, tuned(inputs.front().problem.options));
  std::set<std::string> methods;
  for (int build = 0; build < enough_builds; ++build) {
    const known_input& one = inputs[static_cast<std::size_t>(build) % inputs.size()];
    list.build(one.stored->input());
    methods.emplace(list.method());
    expect_same(bring_home(context, list), one.wanted.entries, one.problem);
    if (HasFatalFailure()) return;
  }
  const explanation why = list.explanation();
  const bool rivals = why.candidates[1].milliseconds < 2 * why.candidates[0].milliseconds;
  EXPECT_EQ(methods.size() > 1, rivals) << why.text();
  EXPECT_EQ(why.changes.size(), rivals ? 1u : 0u) << why.text();
  EXPECT_EQ(methods_of_builds(list, inputs.front(), enough_builds).size(), 1u) << "the fastest stays";
}

TEST_F(neighbor_list_autotune, goes_on_without_what_gets_no_memory) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  const known_input one(context, 100);
  list3 list(context, tuned(one.problem.options));
  EXPECT_EQ(methods_of_builds(list, one, 2).size(), 1u);
  memory.allow(0);
  EXPECT_EQ(methods_of_builds(list, one, enough_builds).size(), 1u) << list.explanation().text();
  context.synchronize();
  expect_same(bring_home(context, list), one.wanted.entries, one.problem);
}

TEST_F(neighbor_list_autotune, without_it_the_method_stays_and_equal_builds_allocate_nothing) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  const known_input one(context, 100);
  list3 list(context, one.problem.options);
  list.build(one.stored->input());
  const std::string method(list.method());
  const std::size_t allocations = memory.allocations();
  EXPECT_EQ(methods_of_builds(list, one, 400), std::set<std::string>{method});
  EXPECT_EQ(memory.allocations(), allocations);
  EXPECT_TRUE(list.explanation().changes.empty());
}

TEST_F(neighbor_list_autotune, ends_where_a_graph_may_repeat_a_build_and_named_methods_stay) {
  const backend_context context = context_at(determinism::none);
  const known_input one(context, 100);
  list3 list(context, tuned(one.problem.options));
  static_cast<void>(methods_of_builds(list, one, 6));
  list.build_async(one.stored->input());
  const std::string method(list.method());
  EXPECT_EQ(methods_of_builds(list, one, enough_builds), std::set<std::string>{method});
  neighbor_options<float> options = tuned(one.problem.options);
  options.method = methods_here().front();
  list3 named(context, options);
  EXPECT_EQ(methods_of_builds(named, one, enough_builds), std::set<std::string>{options.method});
}

TEST_F(neighbor_list_autotune, is_refused_where_runs_must_be_repeatable) {
  neighbor_options<float> options;
  options.cutoff = 1;
  options.autotune = true;
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    EXPECT_THROW(static_cast<void>(list3(context_at(level), options)), argument_error);
  }
}

}  // namespace

}  // namespace quadrat::test
