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

// What a neighbor list does besides finding pairs: it refuses impossible input, names faults of the data, and keeps its
// memory.

namespace quadrat::test {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// The message of building such a list.
template <typename Error>
std::string build_error(const problem3& problem) {
  const backend_context context;
  list3 list(context, problem.options);
  const neighbor_input_on_device<float, 3> stored(context, problem);
  const std::string text = error_of<Error>([&] { list.build(stored.input()); });
  EXPECT_THROW((void)list.view(), argument_error) << text;
  return text;
}

}  // namespace

class neighbor_list_state_test : public backend_test {};

TEST_F(neighbor_list_state_test, there_are_methods_with_names_of_their_own) {
  std::vector<std::string> names = methods_here();
  ASSERT_FALSE(names.empty());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const neighbor_method& method : neighbor_methods()) EXPECT_FALSE(method.summary.empty());
}

TEST_F(neighbor_list_state_test, impossible_options_are_refused_at_once) {
  const backend_context context;
  const auto refusal = [&](auto&& change) {
    neighbor_options<float> options;
    options.cutoff = 1;
    change(options);
    return error_of<argument_error>([&] { list3 list(context, options); });
  };
  EXPECT_EQ(refusal([](auto&) {}), "no error");
  for (const float cutoff : {0.0f, -1.0f, nan, infinity}) {
    expect_words(refusal([&](auto& o) { o.cutoff = cutoff; }), {"cutoff"});
  }
  for (const float skin : {-1.0f, nan, infinity}) expect_words(refusal([&](auto& o) { o.skin = skin; }), {"skin"});
  expect_words(refusal([](auto& o) { o.layout = neighbor_layout::matrix; }), {"width"});
  const auto table = [&](std::vector<float> values) {
    return refusal([&](auto& o) {
      o.rule = cutoff_rule::table_of_types;
      o.type_cutoffs = values;
    });
  };
  EXPECT_EQ(table({1, 0.5f, 0.5f, 0}), "no error");
  for (const auto& values : {std::vector<float>{}, {1, 1}, {1, 0.5f, 0.6f, 1}, {nan}, {-1}}) {
    EXPECT_NE(table(values), "no error") << values.size();
  }
  const std::string text = refusal([](auto& o) { o.method = "nonsense"; });
  expect_words(text, {"nonsense"});
  expect_words(text, methods_here());
  for (const neighbor_method& method : neighbor_methods()) {
    if (same_bits ? method.on_cpu : method.on_cuda) continue;
    expect_words(refusal([&](auto& o) { o.method = method.name; }), {std::string(method.name)});
  }
}

TEST_F(neighbor_list_state_test, a_method_that_does_not_serve_is_refused) {
  problem3 problem = some_problem();
  problem.options.rule = cutoff_rule::sum_of_radii;
  problem.radii.assign(problem.points.size(), 0.2f);
  for (const std::string& method : methods_here()) {
    problem.options.method = method;
    if (serves(method, problem)) continue;
    expect_words(build_error<argument_error>(problem), {method, "serves"});
  }
  EXPECT_THROW((void)serves("nonsense", problem), argument_error);
}

TEST_F(neighbor_list_state_test, a_system_that_does_not_exist_is_named_also_where_there_is_one) {
  for (const std::string& method : methods_here()) {
    problem3 problem = some_problem();
    problem.options.method = method;
    problem.system_of_point.assign(problem.points.size(), 0);
    problem.system_of_point[23] = 1;
    expect_words(build_error<data_error>(problem), {"point 23", "system 1"});
  }
}

TEST_F(neighbor_list_state_test, an_asynchronous_build_refuses_what_the_method_of_the_last_does_not_serve) {
  const backend_context context;
  problem3 problem = some_problem(true, 1, 200);
  problem3 bonded = problem;
  bonded.excluded_offsets.assign(bonded.points.size() + 1, 0);
  const neighbor_input_on_device<float, 3> stored(context, problem), stored_bonded(context, bonded);
  list3 list(context, problem.options);
  list.build(stored.input());
  list.build_async(stored.input());
  list.check();
  if (!serves(std::string(list.method()), bonded)) {
    EXPECT_THROW(list.build_async(stored_bonded.input()), argument_error);
  }
  problem3 numbered = problem;
  numbered.system_of_point.assign(numbered.points.size(), 0);
  const neighbor_input_on_device<float, 3> stored_numbered(context, numbered);
  EXPECT_THROW(list.build_async(stored_numbered.input()), argument_error);
  EXPECT_EQ(list.size(), reference::neighbor_list(some_problem(true, 1, 200)).entries.size());
}

TEST_F(neighbor_list_state_test, impossible_input_is_refused_at_once) {
  const auto refusal = [](auto&& change) {
    problem3 problem = some_problem();
    change(problem);
    return build_error<argument_error>(problem);
  };
  EXPECT_NE(refusal([](auto& p) { p.boxes.clear(); }), "no error");
  EXPECT_NE(refusal([](auto& p) { p.boxes.push_back(p.boxes[0]); }), "no error") << "two systems, none named";
  EXPECT_NE(refusal([](auto& p) { p.options.rule = cutoff_rule::sum_of_radii; }), "no error") << "no radii";
  EXPECT_NE(refusal([](auto& p) {
              p.options.rule = cutoff_rule::table_of_types;
              p.options.type_cutoffs = {0.5f};
            }),
            "no error")
      << "no types";
  EXPECT_NE(refusal([](auto& p) {
              p.queries.emplace(p.points);
              p.options.pairs = neighbor_pairs::half;
            }),
            "no error")
      << "half a list of queries";
  expect_words(refusal([](auto& p) {
                 p.queries.emplace(p.points);
                 p.options.rule = cutoff_rule::own_radius;
               }),
               {"radius of each query", "radii_of_queries"});
  expect_words(refusal([](auto& p) {
                 p.queries.emplace(p.points);
                 p.types.assign(p.points.size(), 0);
                 p.options.rule = cutoff_rule::table_of_types;
                 p.options.type_cutoffs = {0.5f};
               }),
               {"type of each query", "types_of_queries"});
}

TEST_F(neighbor_list_state_test, half_lists_with_a_radius_of_their_own_are_refused) {
  problem3 problem = some_problem();
  problem.options.rule = cutoff_rule::own_radius;
  problem.options.pairs = neighbor_pairs::half;
  problem.radii.assign(problem.points.size(), 0.4f);
  const backend_context context;
  const std::string text = error_of<argument_error>([&] {
    list3 list(context, problem.options);
    const neighbor_input_on_device<float, 3> stored(context, problem);
    list.build(stored.input());
  });
  EXPECT_EQ(text.find("another error"), std::string::npos) << text;
  EXPECT_NE(text, "no error");
}

TEST_F(neighbor_list_state_test, names_the_first_impossible_point) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const auto complaint = [&](bool periodic, auto&& change) {
      problem3 problem = some_problem(periodic);
      problem.options.method = method;
      change(problem);
      if (!serves(method, problem)) problem.options.method.clear();
      return build_error<data_error>(problem);
    };
    for (const bool periodic : {false, true}) {
      for (const float value : {nan, infinity, -infinity}) {
        expect_words(complaint(periodic, [&](auto& p) { p.points[17][1] = p.points[40][0] = value; }), {"17"});
        const auto all_outside = [&](auto& p) {
          p.options.accept_outside = !periodic;
          p.points.assign(p.points.size(), vec<float, 3>::filled(value));
        };
        expect_words(complaint(periodic, all_outside), {"point 0"});
      }
    }
    expect_words(complaint(false, [](auto& p) { p.points[17] = {1, 2.25f, 1}; }), {"17", "2.25", "[0, 2]", "axis 1"});
    expect_words(complaint(false, [](auto& p) { p.points[3][2] = p.points[50][0] = -0.125f; }), {"3", "-0.125"});
    expect_words(complaint(true,
                           [](auto& p) {
                             p.boxes.push_back(p.boxes[0]);
                             p.system_of_point.assign(p.points.size(), 1);
                             p.system_of_point[23] = 2;
                           }),
                 {"23"});
    for (const float radius : {nan, -0.25f, 0.375f}) {
      expect_words(complaint(true,
                             [&](auto& p) {
                               p.options.rule = cutoff_rule::sum_of_radii;
                               p.radii.assign(p.points.size(), 0.25f);
                               p.radii[31] = radius;
                             }),
                   {"31"});
    }
    expect_words(complaint(true,
                           [](auto& p) {
                             p.options.rule = cutoff_rule::table_of_types;
                             p.options.type_cutoffs = {0.5f};
                             p.types.assign(p.points.size(), 0);
                             p.types[8] = 1;
                           }),
                 {"8"});
  }
}

TEST_F(neighbor_list_state_test, names_the_first_impossible_row_of_excluded_pairs) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const auto complaint = [&](auto&& change) {
      problem3 problem = some_problem();
      problem.options.method = method;
      for (std::size_t i = 0; i <= 60; ++i) problem.excluded_offsets.push_back(i);
      for (std::size_t i = 0; i < 60; ++i) problem.excluded.push_back(static_cast<particle_id>(59 - i));
      change(problem);
      if (!serves(method, problem)) problem.options.method.clear();
      return build_error<data_error>(problem);
    };
    expect_words(complaint([](auto& p) { p.excluded[12] = p.excluded[30] = 60; }),
                 {"point 12 ", "point 60", "60 points"});
    expect_words(complaint([](auto& p) { p.excluded[12] = no_particle; }), {"point 12 ", "4294967295"});
    expect_words(complaint([](auto& p) { p.excluded.clear(); }), {"row 0 ", "excluded is null"});
    expect_words(complaint([](auto& p) { p.excluded_offsets[7] = 9; }), {"row 7 ", "9 ", " 8", "must not decrease"});
    expect_words(complaint([](auto& p) { p.excluded_offsets[7] = std::uint64_t{1} << 40; }),
                 {"row 7 ", "must not decrease"});
    expect_words(complaint([](auto& p) { p.excluded_offsets[60] = 0; }), {"row 59 ", "must not decrease"});
  }
}

TEST_F(neighbor_list_state_test, names_the_first_impossible_query) {
  problem3 problem = some_problem(false);
  problem.queries = {{1, 1, 1}, {1, nan, 1}};
  expect_words(build_error<data_error>(problem), {"1"});
  problem.queries = {{1, 1, 1}, {1, 1, 1}};
  problem.options.rule = cutoff_rule::own_radius;
  problem.radii_of_queries = {0.1f, -2};
  expect_words(build_error<data_error>(problem), {"query 1 ", "radius -2", "from 0 to"});
  problem.options.rule = cutoff_rule::table_of_types;
  problem.options.type_cutoffs = {0.5f};
  problem.types.assign(problem.points.size(), 0);
  problem.types_of_queries = {0, 3};
  expect_words(build_error<data_error>(problem), {"query 1 ", "type 3", "1 types"});
}

TEST_F(neighbor_list_state_test, queries_with_a_radius_of_their_own_need_none_of_the_points) {
  problem3 problem = some_problem();
  problem.queries.emplace(problem.points);
  problem.options.rule = cutoff_rule::own_radius;
  for (std::size_t i = 0; i < problem.points.size(); ++i) {
    problem.radii_of_queries.push_back(problem.options.cutoff * static_cast<float>(i % 5) / 4);
  }
  const auto wanted = reference::neighbor_list(problem);
  EXPECT_GT(wanted.entries.size(), 0u);
  for (const std::string& method : methods_here()) {
    if (serves(method, problem)) check_method(backend_context(), problem, wanted, method);
  }
}

TEST_F(neighbor_list_state_test, outside_of_an_open_axis_can_be_accepted) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    problem3 problem = some_problem(false);
    problem.points[7] = {-100, 1, 1};
    problem.points[8] = {-100, 1.25f, 1};
    problem.points[9] = {1e6f, 1e6f, -1e6f};
    problem.options.accept_outside = true;
    problem.options.method = method;
    if (!serves(method, problem)) continue;
    const auto wanted = reference::neighbor_list(problem);
    check_method(backend_context(), problem, wanted, method);
    problem.points[9][0] = nan;
    expect_words(build_error<data_error>(problem), {"9"});
  }
}

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
  broken.points[5][0] = nan;
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
    broken.points[5][0] = nan;
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
