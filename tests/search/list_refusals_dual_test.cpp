// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "list_support.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// A neighbor list refuses impossible options and input, and names what is wrong with the data.

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

class neighbor_list_refusal_test : public backend_test {};

TEST_F(neighbor_list_refusal_test, there_are_methods_with_names_of_their_own) {
  std::vector<std::string> names = methods_here();
  ASSERT_FALSE(names.empty());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const neighbor_method& method : neighbor_methods()) EXPECT_FALSE(method.summary.empty());
}

TEST_F(neighbor_list_refusal_test, impossible_options_are_refused_at_once) {
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

TEST_F(neighbor_list_refusal_test, a_method_that_does_not_serve_is_refused) {
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

TEST_F(neighbor_list_refusal_test, a_system_that_does_not_exist_is_named_also_where_there_is_one) {
  for (const std::string& method : methods_here()) {
    problem3 problem = some_problem();
    problem.options.method = method;
    problem.system_of_point.assign(problem.points.size(), 0);
    problem.system_of_point[23] = 1;
    expect_words(build_error<data_error>(problem), {"point 23", "system 1"});
  }
}

TEST_F(neighbor_list_refusal_test, an_asynchronous_build_refuses_what_the_method_of_the_last_does_not_serve) {
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

TEST_F(neighbor_list_refusal_test, impossible_input_is_refused_at_once) {
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

TEST_F(neighbor_list_refusal_test, half_lists_with_a_radius_of_their_own_are_refused) {
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

TEST_F(neighbor_list_refusal_test, names_the_first_impossible_point) {
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

TEST_F(neighbor_list_refusal_test, names_the_first_impossible_row_of_excluded_pairs) {
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

TEST_F(neighbor_list_refusal_test, names_the_first_impossible_query) {
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

TEST_F(neighbor_list_refusal_test, queries_with_a_radius_of_their_own_need_none_of_the_points) {
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

TEST_F(neighbor_list_refusal_test, outside_of_an_open_axis_can_be_accepted) {
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

}  // namespace quadrat::test
