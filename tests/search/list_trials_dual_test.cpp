// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <set>
#include <string>

#include "list_support.hpp"
#include "support/counting_memory.hpp"

// Lists whose method is chosen try others now and then, by the times of builds.

namespace quadrat::test {

namespace {

/// More builds than pass before another method is tried, and builds that pass before that, in which points are sampled.
constexpr int many_rounds = 2500, first_rounds = 150;

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

/// The methods of so many more builds of one input.
[[nodiscard]] std::set<std::string> methods_of_rounds(list3& list, const known_input& one, int rounds) {
  std::set<std::string> methods;
  for (int round = 0; round < rounds; ++round) {
    list.build(one.stored->input());
    methods.emplace(list.method());
  }
  return methods;
}

class neighbor_list_trials : public backend_test {};

TEST_F(neighbor_list_trials, leave_lists_right_while_the_number_of_points_changes) {
  const backend_context context = context_at(determinism::none);
  std::deque<known_input> inputs;
  for (const std::size_t points : {100, 110, 0, 95, 104, 90}) inputs.emplace_back(context, points);
  list3 list(context, inputs.front().problem.options);
  std::set<std::string> methods;
  std::string usual;
  int tried = 0;
  // A trial has ten rounds, or six where the other method is far slower.
  for (int round = 0; round < 2 * many_rounds && tried < 20; ++round) {
    const known_input& one = inputs[static_cast<std::size_t>(round) % inputs.size()];
    list.build(one.stored->input());
    if (round < first_rounds) usual = list.method();
    // No points say nothing of the method.
    const bool other = round >= first_rounds && list.method() != usual && one.problem.points.size() > 0;
    tried += other ? 1 : 0;
    if (other || round % 64 < 6) expect_same(bring_home(context, list), one.wanted.entries, one.problem);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(tried, 4) << list.explanation().text();
}

TEST_F(neighbor_list_trials, are_left_where_a_method_gets_no_memory_and_not_made_again) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  const known_input one(context, 100);
  list3 list(context, one.problem.options);
  static_cast<void>(methods_of_rounds(list, one, first_rounds));
  memory.allow(0);
  EXPECT_EQ(methods_of_rounds(list, one, many_rounds).size(), 1u) << list.explanation().text();
  expect_same(bring_home(backend_context(), list), one.wanted.entries, one.problem);
  memory.allow_all();
  EXPECT_EQ(methods_of_rounds(list, one, many_rounds).size(), 1u) << list.explanation().text();
}

TEST_F(neighbor_list_trials, are_not_made_of_lists_that_are_repeatable_asked_for_or_in_graphs) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    const backend_context context = context_at(level);
    const known_input one(context, 100);
    neighbor_options<float> options = one.problem.options;
    if (level == determinism::none) options.method = methods_here().front();
    list3 list(context, options);
    EXPECT_EQ(methods_of_rounds(list, one, many_rounds).size(), 1u);
    EXPECT_TRUE(list.explanation().changes.empty());
  }
  const backend_context context = context_at(determinism::none);
  const known_input one(context, 100);
  list3 list(context, one.problem.options);
  static_cast<void>(methods_of_rounds(list, one, first_rounds));
  list.build_asynchronously(one.stored->input());
  EXPECT_EQ(methods_of_rounds(list, one, many_rounds).size(), 1u);
}

}  // namespace

}  // namespace quadrat::test
