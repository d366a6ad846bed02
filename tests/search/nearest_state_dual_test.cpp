// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "nearest_support.hpp"
#include "support/counting_memory.hpp"

// Errors, and what a result belongs to.

namespace quadrat::test {

namespace {

class nearest_state_test : public backend_test {
 protected:
  using point_list = std::vector<vec<float, 3>>;
  const backend_context context;
  const box<float, 3> domain = make_box<float, 3>({0, 0, 0}, {4, 4, 4}, {true, true, false});
  const point_list host{{0.5f, 1, 1}, {3.75f, 1, 1}, {2, 3, 3}};
  const array<vec<float, 3>, backend_context> points = to_device(context, host);
};

TEST_F(nearest_state_test, is_made_for_a_box_or_a_lattice) {
  auto nearest = make_nearest_neighbors(context, domain, {.k = 2, .shifts = true});
  EXPECT_TRUE((std::is_same_v<decltype(nearest), nearest_neighbors<backend_context, float, 3>>));
  nearest.build(points_of(points));
  nearest.search();
  const auto rows = rows_of(context, nearest);
  EXPECT_EQ(rows.neighbors[0], 1u);
  EXPECT_EQ(rows.shifts[0], (vec<int, 3>{-1, 0, 0}));
  EXPECT_EQ(rows.squared[0], 0.5625f);
  auto moved = std::move(nearest);
  EXPECT_EQ(moved.point_count(), 3u);
  auto skewed = make_nearest_neighbors(
      context, make_lattice<float, 3>({}, {{{{4, 0, 0}}, {{1, 4, 0}}, {{0, 0, 4}}}}, {true, true, true}), {.k = 1});
  skewed.build(points_of(points));
  skewed.search();
  EXPECT_EQ(rows_of(context, skewed).neighbors[1], 0u);
}

TEST_F(nearest_state_test, refuses_impossible_options_and_boxes) {
  const auto error = [&](const nearest_options<float>& options) {
    return error_of<argument_error>([&] { static_cast<void>(make_nearest_neighbors(context, domain, options)); });
  };
  expect_words(error({.k = 0}), {"k is 0", "1 to 64"});
  expect_words(error({.k = 65}), {"k is 65", "1 to 64"});
  expect_words(error({.k = 1, .cutoff = 0}), {"cutoff is 0", "positive"});
  expect_words(error({.k = 1, .cutoff = std::nanf("")}), {"cutoff", "positive"});
  expect_words(error({.k = 1, .cutoff = 1e-30f}), {"square"});
  const auto box_error = [&](const vec<vec<float, 3>, 3>& vectors, const vec<bool, 3>& periodic) {
    const auto shape = make_lattice<float, 3>({}, vectors, periodic);
    return error_of<argument_error>([&] { static_cast<void>(make_nearest_neighbors(context, shape, {.k = 8})); });
  };
  expect_words(box_error({{{{1, 0, 0}}, {{0, 1, 0}}, {{1, 0, 1}}}}, {true, true, false}),
               {"vector 2", "perpendicular"});
  expect_words(box_error({{{{1, 0, 0}}, {{1000, 1, 0}}, {{0, 0, 1}}}}, {true, true, true}), {"skewed", "300"});
}

TEST_F(nearest_state_test, names_the_first_point_or_query_at_fault) {
  auto nearest = make_nearest_neighbors(context, domain, {.k = 2});
  const auto bad = [&](const vec<float, 3>& value) {
    point_list list = host;
    list[1] = list[2] = value;
    return to_device(context, list);
  };
  const auto not_finite = bad({0, std::numeric_limits<float>::infinity(), 0});
  const auto far = bad({0, -1e8f, 0});
  const auto build = [&](const auto& list) { return error_of<data_error>([&] { nearest.build(points_of(list)); }); };
  expect_words(build(not_finite), {"point 1 at", "not finite"});
  expect_words(build(far), {"point 1 at", "periods away along axis 1"});
  EXPECT_EQ(nearest.point_count(), 0u);
  expect_words(error_of<argument_error>([&] { nearest.search(); }), {"call build"});
  nearest.build(points_of(points));
  nearest.search();
  const auto search = [&](const auto& list) { return error_of<data_error>([&] { nearest.search(points_of(list)); }); };
  expect_words(search(not_finite), {"query 1 at", "not finite"});
  expect_words(error_of<data_error>([&] { nearest.check(); }), {"query 1 at", "not finite"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(nearest.view()); }), {"no result"});
  expect_words(search(far), {"query 1 at", "periods away"});
  nearest.search();
  nearest.check();
  EXPECT_EQ(nearest.view().rows, 3u);
}

TEST_F(nearest_state_test, a_result_belongs_to_the_points_of_the_last_build) {
  auto nearest = make_nearest_neighbors(context, domain, {.k = 1});
  expect_words(error_of<argument_error>([&] { static_cast<void>(nearest.view()); }), {"no result"});
  auto changing = to_device(context, host);
  nearest.build(points_of(changing));
  nearest.search();
  EXPECT_EQ(rows_of(context, nearest).squared[2], 2.25f + 4 + 4);
  copy_bytes(context, host.data(), changing.data() + 2, sizeof host[0]);
  nearest.search();  // of the points as they were
  EXPECT_EQ(rows_of(context, nearest).squared[2], 2.25f + 4 + 4);
  nearest.build(points_of(changing));
  expect_words(error_of<argument_error>([&] { static_cast<void>(nearest.view()); }), {"no result"});
  nearest.search();
  EXPECT_EQ(rows_of(context, nearest).neighbors[2], 0u);
  EXPECT_EQ(rows_of(context, nearest).squared[2], 0.0f);
}

TEST_F(nearest_state_test, finds_the_same_without_waiting_and_without_memory) {
  counting_memory memory;
  const backend_context counted = memory.context(determinism::none);
  const auto own = to_device(counted, host);
  const auto queries = to_device(counted, point_list{{0.25f, 1, 1}, {3, 3, 2}});
  const auto more = to_device(counted, point_list(4, vec<float, 3>{1, 2, 3}));
  auto nearest = make_nearest_neighbors(counted, domain, {.k = 2, .shifts = true});
  nearest.build(points_of(own));
  expect_words(error_of<argument_error>([&] { nearest.search_async(); }), {"3 points", "call search first"});
  nearest.search(points_of(queries));
  const auto of_queries = rows_of(counted, nearest);
  nearest.search();
  const auto of_points = rows_of(counted, nearest);
  const std::size_t before = memory.allocations();
  nearest.search_async(points_of(queries));
  nearest.check();
  EXPECT_EQ(rows_of(counted, nearest), of_queries);
  nearest.search_async();
  nearest.check();
  EXPECT_EQ(rows_of(counted, nearest), of_points);
  EXPECT_EQ(memory.allocations(), before);
  expect_words(error_of<argument_error>([&] { nearest.search_async(points_of(more)); }), {"4 queries", "memory for 2"});
}

TEST_F(nearest_state_test, leaves_errors_of_queries_to_check_where_it_does_not_wait) {
  auto nearest = make_nearest_neighbors(context, domain, {.k = 2});
  nearest.build(points_of(points));
  nearest.search(points_of(points));
  point_list list = host;
  list[1] = {NAN, 0, 0};
  const auto faulty = to_device(context, list);
  const auto search = [&] {
    nearest.search_async(points_of(faulty));
    nearest.check();
  };
  expect_words(error_of<data_error>(search), {"query 1 at", "not finite"});
  for (int k = 0; k < 2; ++k) {
    expect_words(error_of<data_error>([&] { nearest.check(); }), {"query 1 at", "not finite"});
    EXPECT_THROW(static_cast<void>(nearest.view()), argument_error);
  }
  nearest.search_async(points_of(points));
  nearest.check();
  EXPECT_EQ(nearest.view().rows, 3u);
}

TEST_F(nearest_state_test, builds_without_waiting_and_without_memory) {
  counting_memory memory;
  const backend_context counted = memory.context(determinism::none);
  point_list other{{0.5f, 1, 1}, {3, 2, 1}, {2, 3.5f, 0}};
  const auto own = to_device(counted, host), moved = to_device(counted, other);
  const auto more = to_device(counted, point_list(4, vec<float, 3>{1, 2, 3}));
  auto nearest = make_nearest_neighbors(counted, domain, {.k = 2, .shifts = true});
  auto usual = make_nearest_neighbors(counted, domain, {.k = 2, .shifts = true});
  expect_words(error_of<argument_error>([&] { nearest.build_async(points_of(own)); }),
               {"3 points", "memory for 0", "call build first"});
  nearest.build(points_of(own));
  nearest.search();
  usual.build(points_of(moved));
  usual.search();
  const auto wanted = rows_of(counted, usual);
  const std::size_t before = memory.allocations();
  nearest.build_async(points_of(moved));
  EXPECT_THROW(static_cast<void>(nearest.view()), argument_error) << "of other points";
  nearest.search_async();
  nearest.check();
  EXPECT_EQ(rows_of(counted, nearest), wanted);
  EXPECT_EQ(memory.allocations(), before);
  expect_words(error_of<argument_error>([&] { nearest.build_async(points_of(more)); }), {"4 points", "memory for 3"});
  EXPECT_EQ(rows_of(counted, nearest), wanted) << "as it was";
}

TEST_F(nearest_state_test, reports_the_last_build_until_another_replaces_it) {
  auto nearest = make_nearest_neighbors(context, domain, {.k = 2});
  nearest.build(points_of(points));
  nearest.search();
  point_list list = host;
  list[2] = {NAN, 0, 0};
  const auto faulty = to_device(context, list);
  const auto build = [&] {
    nearest.build_async(points_of(faulty));
    nearest.search_async();
    nearest.check();
  };
  expect_words(error_of<data_error>(build), {"point 2 at", "not finite"});
  for (int k = 0; k < 2; ++k) {
    expect_words(error_of<data_error>([&] { nearest.check(); }), {"point 2 at", "not finite"});
    EXPECT_THROW(static_cast<void>(nearest.view()), argument_error);
    EXPECT_THROW(nearest.search(), argument_error);
    EXPECT_EQ(nearest.point_count(), 0u);
  }
  nearest.build_async(points_of(points));
  nearest.check();
  EXPECT_THROW(static_cast<void>(nearest.view()), argument_error) << "nothing has been searched since";
  nearest.search_async();
  nearest.check();
  EXPECT_EQ(nearest.view().rows, 3u);
  EXPECT_THROW(nearest.build(points_of(faulty)), data_error);
  EXPECT_THROW(nearest.check(), data_error);
  nearest.build(points_of(points));
  nearest.check();
}

TEST_F(nearest_state_test, allocates_nothing_again) {
  auto nearest = make_nearest_neighbors(context, domain, {.k = 4, .shifts = true});
  const auto queries = to_device(context, point_list(100, vec<float, 3>{1, 2, 3}));
  const auto round = [&] {
    nearest.build(points_of(points));
    nearest.search(points_of(queries));
    nearest.search();
    nearest.check();
    return nearest.bytes();
  };
  const std::size_t bytes = round();
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(round(), bytes);
}

TEST_F(nearest_state_test, points_anywhere_along_open_axes_have_neighbors) {
  nearest_problem<float, 3> problem;
  problem.box = make_lattice(domain);
  problem.options.k = 5;
  problem.options.shifts = true;
  problem.points = host;
  problem.points.push_back({1, 1, 1e4f});
  problem.points.push_back({1, 1, -1e4f});
  problem.with_queries = true;
  problem.queries = problem.points;
  problem.queries.push_back({2, 2, 200});
  problem.queries.resize(3);
  expect_nearest(problem);
}

}  // namespace

}  // namespace quadrat::test
