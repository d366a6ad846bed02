// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <exception>
#include <limits>
#include <new>
#include <vector>

#include "list_support.hpp"
#include "quadrat/core/error.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"

// What a neighbor list holds from call to call: errors, memory, sizes, and what can be moved.

namespace quadrat::test {

class neighbor_list_state_test : public backend_test {};

TEST_F(neighbor_list_state_test, says_how_long_the_arrays_of_a_view_are) {
  const backend_context context;
  const problem3 problem = some_problem();
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  list.build(stored.input());
  const std::uint64_t size = list.size();
  EXPECT_GT(size, 0u);
  EXPECT_GE(list.view().capacity, size);
  list.reserve(2 * list.view().capacity);
  list.build(stored.input());
  EXPECT_GE(list.view().capacity, 2 * size);
  EXPECT_EQ(to_host(context, list.view().neighbors, list.view().capacity).size(), list.view().capacity);
  EXPECT_EQ(list.size(), size);
}

TEST_F(neighbor_list_state_test, recovers_from_an_error) {
  const backend_context context;
  problem3 problem = some_problem();
  const auto wanted = reference::neighbor_list(problem);
  problem3 broken = problem;
  broken.points[5][0] = std::numeric_limits<float>::quiet_NaN();
  list3 list(context, problem.options);
  EXPECT_THROW((void)list.view(), argument_error);
  const neighbor_input_on_device<float, 3> stored(context, problem), stored_broken(context, broken);
  EXPECT_THROW(list.build(stored_broken.input()), data_error);
  EXPECT_THROW(list.check(), data_error);
  EXPECT_THROW(list.check(), data_error) << "again at each call";
  list.build(stored.input());
  EXPECT_NO_THROW(list.check());
  expect_same(bring_home(context, list), wanted.entries, problem);
}

/// On a CPU an asynchronous build throws by itself.
template <typename Call>
void ignore_data_error(const Call& call) {
  try {
    call();
  } catch (const data_error&) {
  }
}

TEST_F(neighbor_list_state_test, an_error_stays_until_a_build_replaces_the_one_that_failed) {
  const backend_context context;
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    problem3 problem = some_problem(), broken = problem;
    problem.options.method = broken.options.method = method;
    broken.points[5][0] = std::numeric_limits<float>::quiet_NaN();
    const auto wanted = reference::neighbor_list(problem);
    const neighbor_input_on_device<float, 3> stored(context, problem), stored_broken(context, broken);
    list3 list(context, problem.options);
    list.build(stored.input());
    const auto break_it = [&] {
      list.build_async(stored_broken.input());
      list.check();
    };
    EXPECT_THROW(break_it(), data_error);
    for (int k = 0; k < 2; ++k) {
      EXPECT_THROW(list.check(), data_error) << "again at each call";
      EXPECT_THROW((void)list.view(), argument_error);
    }
    list.build_async(stored.input());
    list.check();
    expect_same(bring_home(context, list), wanted.entries, problem);
    const auto leave_broken = [&] { ignore_data_error([&] { list.build_async(stored_broken.input()); }); };
    leave_broken();
    list.build(stored.input());
    list.check();
    expect_same(bring_home(context, list), wanted.entries, problem);
    leave_broken();
    list.build_async(stored.input());
    list.check();
    expect_same(bring_home(context, list), wanted.entries, problem);
    leave_broken();
    EXPECT_EQ(list.count(stored.input()).total, wanted.entries.size());
    EXPECT_NO_THROW(list.check());
  }
}

TEST_F(neighbor_list_state_test, a_refused_build_fails_where_it_waits_and_is_none_where_it_does_not) {
  const backend_context context;
  const problem3 problem = some_problem();
  const auto wanted = reference::neighbor_list(problem);
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  list.build(stored.input());
  neighbor_input<float, 3> impossible = stored.input();
  impossible.points.component[1] = nullptr;
  EXPECT_THROW(list.build_async(impossible), argument_error);
  list.check();
  expect_same(bring_home(context, list), wanted.entries, problem);
  EXPECT_THROW(list.build(impossible), argument_error);
  for (int k = 0; k < 2; ++k) EXPECT_THROW(list.check(), argument_error);
  list.build(stored.input());
  list.build_async(stored.input());
  list.reserve(10 * wanted.entries.size() + 1000);
  list.check();
  EXPECT_THROW((void)list.view(), argument_error) << "the entries are gone";
  list.build_async(stored.input());
  list.check();
  expect_same(bring_home(context, list), wanted.entries, problem);
}

TEST_F(neighbor_list_state_test, auto_means_that_the_method_is_chosen) {
  const backend_context context;
  problem3 problem = some_problem();
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 unnamed(context, problem.options);
  problem.options.method = "auto";
  list3 named(context, problem.options);
  unnamed.build(stored.input());
  named.build(stored.input());
  EXPECT_EQ(named.method(), unnamed.method());
  EXPECT_EQ(named.reason(), unnamed.reason());
  problem.options.method = "automatic";
  expect_words(error_of<argument_error>([&] { list3 unknown(context, problem.options); }), {"automatic", "auto"});
}

TEST_F(neighbor_list_state_test, a_matrix_that_is_too_narrow_says_what_would_have_sufficed) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const backend_context context;
    problem3 problem = some_problem();
    const auto wanted = reference::neighbor_list(problem);
    const std::size_t needed = widest_row(wanted.entries, problem.points.size());
    ASSERT_GT(needed, 2u);
    problem.options.method = method;
    problem.options.layout = neighbor_layout::matrix;
    problem.options.width = needed - 1;
    const neighbor_input_on_device<float, 3> stored(context, problem);
    list3 narrow(context, problem.options);
    try {
      narrow.build(stored.input());
      FAIL() << "no error";
    } catch (const overflow_error& problem_met) {
      EXPECT_EQ(problem_met.needed(), needed);
      expect_words(problem_met.what(), {std::to_string(needed)});
    }
    EXPECT_THROW((void)narrow.view(), argument_error);
    problem.options.width = needed;
    list3 wide(context, problem.options);
    wide.build(stored.input());
    expect_same(bring_home(context, wide), wanted.entries, problem);
  }
}

TEST_F(neighbor_list_state_test, a_second_build_allocates_nothing) {
  const auto wanted = reference::neighbor_list(some_problem(true, 1, 300)).entries;
  for (const std::string& method : methods_here()) {
    for (const neighbor_layout layout : {neighbor_layout::csr, neighbor_layout::pairs, neighbor_layout::matrix}) {
      SCOPED_TRACE(method);
      counting_memory memory;
      const backend_context context = memory.context(determinism::none);
      problem3 problem = some_problem(true, 1, 300);
      problem.options.method = method;
      problem.options.layout = layout;
      problem.options.width = 100;
      problem.options.squared_distances = problem.options.vectors = true;
      const neighbor_input_on_device<float, 3> stored(context, problem);
      list3 list(context, problem.options);
      list.build(stored.input());
      EXPECT_GT(list.bytes(), 0u);
      const std::size_t before = memory.allocations();
      list.build(stored.input());
      EXPECT_EQ(memory.allocations(), before) << "build";
      list.build_async(stored.input());
      list.check();
      EXPECT_EQ(memory.allocations(), before) << "build_async";
      expect_same(bring_home(context, list), wanted, problem);
    }
  }
}

// On a CPU few points are searched in another way than many, and each method keeps its own cells; on a GPU one method
// serves both numbers.
TEST_F(neighbor_list_state_test, methods_that_take_turns_find_what_is_there_and_allocate_nothing_again) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  const neighbor_options<float> options = some_problem().options;
  list3 list(context, options);
  const auto build = [&](std::size_t count, float edge) {
    SCOPED_TRACE(message(count, " points in a cube of edge ", edge));
    problem3 problem = some_problem(true, 1, count);
    problem.options = options;
    problem.boxes = {
        make_lattice<float, 3>({}, {{{{edge, 0, 0}}, {{0.1f, edge, 0}}, {{0, 0, edge}}}}, {true, true, true})};
    const neighbor_input_on_device<float, 3> stored(context, problem);
    const std::size_t before = memory.allocations();
    list.build(stored.input());
    EXPECT_EQ(list.method() == "sweeps", same_bits && count > 64) << list.method();
    const std::size_t allocated = memory.allocations() - before;
    expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
    return allocated;
  };
  EXPECT_GT(build(300, 2), 0u);
  const std::size_t bytes = list.bytes();
  build(6, 2);
  const std::size_t again = build(300, 2) + build(6, 2);
  if (same_bits) {
    EXPECT_GT(list.bytes(), bytes) << "of both methods";
    EXPECT_EQ(again, 0u);
  }
  build(6, 3);
  build(300, 3);
  build(300, 2);
  build(6, 2);
}

TEST_F(neighbor_list_state_test, is_built_asynchronously_in_the_memory_that_is_there) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const backend_context context;
    problem3 few = some_problem(true, 1, 200), others = some_problem(true, 2, 200), crowd = some_problem(true, 3, 200);
    for (auto& point : crowd.points) point = 0.1f * point;
    few.options.method = others.options.method = crowd.options.method = method;
    const neighbor_input_on_device<float, 3> stored(context, few), moved(context, others), crowded(context, crowd);
    list3 list(context, few.options);
    EXPECT_THROW(list.build_async(stored.input()), argument_error) << "there is no memory yet";
    list.build(stored.input());
    list.reserve(200 * 100);
    list.build_async(moved.input());
    list.check();
    expect_same(bring_home(context, list), reference::neighbor_list(others).entries, others);

    const std::size_t needed = reference::neighbor_list(crowd).entries.size();
    ASSERT_EQ(needed, 200u * 199);
    list3 small(context, few.options);
    small.build(stored.input());
    try {
      small.build_async(crowded.input());
      small.check();
      FAIL() << "no error";
    } catch (const overflow_error& problem) {
      EXPECT_EQ(problem.needed(), needed);
      expect_words(problem.what(), {std::to_string(needed)});
    }
    EXPECT_THROW((void)small.view(), argument_error);
    small.build(crowded.input());
    expect_same(bring_home(context, small), reference::neighbor_list(crowd).entries, crowd);

    problem3 more = some_problem(true, 4, 201);
    const neighbor_input_on_device<float, 3> longer(context, more);
    EXPECT_THROW(small.build_async(longer.input()), argument_error);
  }
}

TEST_F(neighbor_list_state_test, a_matrix_that_memory_did_not_suffice_for_is_not_written) {
  problem3 few = some_problem(true, 1, 200), more = some_problem(true, 2, 600);
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    few.options.method = more.options.method = method;
    few.options.layout = more.options.layout = neighbor_layout::matrix;
    few.options.width = more.options.width = 600;
    bool failed = true;
    for (std::size_t allowed = 0; failed; ++allowed) {
      counting_memory memory;
      const backend_context context = memory.context(determinism::none);
      const neighbor_input_on_device<float, 3> small(context, few), large(context, more);
      list3 list(context, few.options);
      list.build(small.input());
      memory.allow(allowed);
      failed = false;
      try {
        list.build(large.input());
      } catch (const std::bad_alloc&) {
        failed = true;
      }
      memory.allow(0);
      if (!failed) continue;
      try {
        list.build_async(large.input());
        list.check();
      } catch (const std::exception&) {
        continue;  // Must be refused if there is not enough memory.
      }
      memory.allow_all();
      expect_same(bring_home(context, list), reference::neighbor_list(more).entries, more);
    }
  }
}

TEST_F(neighbor_list_state_test, sizes_may_change_from_build_to_build) {
  const backend_context context;
  problem3 problem = some_problem();
  list3 list(context, problem.options);
  for (const std::size_t count : {60u, 700u, 0u, 1u, 300u, 60u}) {
    SCOPED_TRACE(count);
    problem3 next = some_problem(count % 7 == 0, count, count);
    const neighbor_input_on_device<float, 3> stored(context, next);
    list.build(stored.input());
    expect_same(bring_home(context, list), reference::neighbor_list(next).entries, next);
  }
}

TEST_F(neighbor_list_state_test, can_be_moved) {
  const backend_context context;
  const problem3 problem = some_problem();
  const auto wanted = reference::neighbor_list(problem);
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  list.build(stored.input());
  list3 other(std::move(list));
  expect_same(bring_home(context, other), wanted.entries, problem);
  list = std::move(other);
  list.build(stored.input());
  expect_same(bring_home(context, list), wanted.entries, problem);
}

}  // namespace quadrat::test
