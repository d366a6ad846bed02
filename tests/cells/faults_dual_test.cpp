// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <string>
#include <vector>

#include "cells/every_list.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/neighborhood.hpp"
#include "support/backend.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"

// Bad points, overflows and impossible arguments: each has a message, and none causes access outside an array.

namespace quadrat::test {

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Twenty points in the unit box, open in x and y and periodic in z.
[[nodiscard]] scene<float, 3> unit_scene() {
  scene<float, 3> it{};
  it.space = make_grid(make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {false, false, true}), {4, 4, 4});
  it.cutoff = 0.25f;
  for (int i = 0; i < 20; ++i) it.points.push_back({0.04f * static_cast<float>(i) + 0.1f, 0.5f, 0.5f});
  return it;
}

template <typename View>
struct touch_everything {
  View view;
  points_view<float, 3> points;
  std::uint32_t* met;
  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t count = 0;
    for_each_neighbor(view, points, static_cast<particle_id>(i), 0.25f,
                      [&](particle_id, const vec<float, 3>&, float) { ++count; });
    met[i] = count;
  }
};

/// Builds from bad points without waiting, walks, and returns the message of the check.
template <typename Method>
[[nodiscard]] std::string complaint_about(const scene<float, 3>& it, determinism level) {
  const backend_context context = context_at(level);
  const auto stored = to_device(context, it.points);
  const auto points = points_of(stored.data(), it.points.size());
  auto list = make_list<Method>(context, it);
  list.reserve(points.size());
  list.build_async(points);
  array<std::uint32_t, backend_context> met(context, it.points.size());
  for_each(context, "walk", it.points.size(),
           touch_everything<typename decltype(list)::view_type>{list.view(), points, met.data()});
  const std::string first = error_of<data_error>([&] { list.check(); });
  EXPECT_EQ(error_of<data_error>([&] { list.check(); }), first) << "the list stays unusable";
  EXPECT_THROW(static_cast<void>(list.view()), argument_error);
  EXPECT_EQ(error_of<data_error>([&] { list.build(points); }), first) << "a build that waits throws it, too";
  EXPECT_THROW(static_cast<void>(list.view()), argument_error);
  const auto good = to_device(context, unit_scene().points);
  list.build_async(points_of(good.data(), 20));
  EXPECT_NO_THROW(list.check());
  EXPECT_NO_THROW(static_cast<void>(list.view()));
  return first;
}

}  // namespace

template <typename Method>
class faults_test : public backend_test {};
TYPED_TEST_SUITE(faults_test, every_cell_list, method_names);

TYPED_TEST(faults_test, names_the_first_bad_point) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    scene<float, 3> it = unit_scene();
    it.points[17] = {nan_value, 0.5f, 0.5f};
    EXPECT_EQ(complaint_about<TypeParam>(it, level), "point 17 at (nan, 0.5, 0.5) has a coordinate that is not finite");
    it.points[9] = {0.5f, 0.5f, -infinity};
    EXPECT_EQ(complaint_about<TypeParam>(it, level), "point 9 at (0.5, 0.5, -inf) has a coordinate that is not finite");
    it.points[3] = {1.5f, 0.5f, 0.5f};
    it.points[4] = {0.5f, -1e30f, 0.5f};
    EXPECT_EQ(complaint_about<TypeParam>(it, level),
              "point 3 at (1.5, 0.5, 0.5) lies outside the open box [0, 1] along axis 0");
    it.points[2] = {0.5f, std::nextafter(0.0f, -1.0f), 1e30f};
    expect_words(complaint_about<TypeParam>(it, level), {"lies outside the open box [0, 1] along axis 1"});
  }
}

TYPED_TEST(faults_test, takes_any_finite_value_along_a_periodic_axis) {
  const backend_context context;
  scene<float, 3> it = unit_scene();
  it.points[5][2] = 1e30f;
  it.points[6][2] = -1e30f;
  it.points[7][2] = 1.0f;
  it.points[8] = {1.0f, 0.0f, 0.0f};
  const auto stored = to_device(context, it.points);
  auto list = make_list<TypeParam>(context, it);
  EXPECT_NO_THROW(list.build(points_of(stored.data(), it.points.size())));
}

TYPED_TEST(faults_test, stay_until_a_check_or_a_build_that_waits) {
  const backend_context context;
  scene<float, 3> it = unit_scene();
  const auto good = to_device(context, it.points);
  it.points[11] = {2.0f, 0.5f, 0.5f};
  const auto bad = to_device(context, it.points);
  auto list = make_list<TypeParam>(context, it);
  list.reserve(20);
  list.build_async(points_of(bad.data(), 20));
  list.build_async(points_of(good.data(), 20));
  expect_words(error_of<data_error>([&] { list.check(); }), {"point 11, which is now at"});
  list.build_async(points_of(bad.data(), 20));
  list.build_async(points_of(good.data(), 5));
  const std::string text = error_of<data_error>([&] { list.check(); });
  expect_words(text, {"point 11 of an earlier build"});
  list.reserve(40);
  EXPECT_EQ(error_of<data_error>([&] { list.check(); }), text) << "nothing has been built since";
  list.build_async(points_of(good.data(), 20));
  EXPECT_NO_THROW(list.check());
  list.build_async(points_of(bad.data(), 20));
  EXPECT_NO_THROW(list.build(points_of(good.data(), 20))) << "only what it was given itself";
  EXPECT_NO_THROW(list.check());
}

TYPED_TEST(faults_test, a_build_that_does_not_wait_allocates_nothing) {
  const backend_context usual;
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    counting_memory memory;
    const backend_context context = memory.context(level);
    const scene<float, 3> it = unit_scene();
    const auto stored = to_device(usual, it.points);
    auto list = make_list<TypeParam>(context, it);
    const auto build = [&](std::size_t count) { list.build_async(points_of(stored.data(), count)); };
    const auto built = [&] {
      context.synchronize();
      return contents(usual, list.view());
    };
    expect_words(error_of<argument_error>([&] { build(20); }), {"room for", "reserve(20)"});
    EXPECT_THROW(static_cast<void>(list.view()), argument_error);
    list.reserve(15);
    EXPECT_THROW(static_cast<void>(list.view()), argument_error);
    const std::size_t before = memory.allocations();
    for (const std::size_t count : {15, 15, 0, 7}) build(count);
    const auto last = built();
    expect_words(error_of<argument_error>([&] { build(16); }), {"room for", "16", "reserve(16)"});
    EXPECT_EQ(built(), last) << "a refused build changes nothing";
    EXPECT_EQ(memory.allocations(), before);
    EXPECT_EQ(memory.live_bytes(), list.bytes());

    if (level != determinism::none) {  // otherwise cells of a fixed capacity need no more for more points
      memory.allow(0);
      EXPECT_THROW(list.reserve(16), std::bad_alloc);
      EXPECT_THROW(static_cast<void>(list.view()), argument_error);
      EXPECT_THROW(build(7), argument_error);
      memory.allow_all();
    }
    list.build(points_of(stored.data(), 20));
    list.reserve(12);
    EXPECT_NO_THROW(static_cast<void>(list.view())) << "there was more room";
    list.reserve(21);
    EXPECT_THROW(static_cast<void>(list.view()), argument_error) << "what was built is lost";
  }
}

TYPED_TEST(faults_test, refuses_impossible_arguments) {
  const backend_context context;
  const scene<float, 3> it = unit_scene();
  auto list = make_list<TypeParam>(context, it);
  EXPECT_THROW(static_cast<void>(list.view()), argument_error);
  const auto stored = to_device(context, it.points);
  points_view<float, 3> points = points_of(stored.data(), 20);
  points.stride = 0;
  expect_words(error_of<argument_error>([&] { list.build(points); }), {"stride"});
  points = strided_points<3>(static_cast<const float*>(nullptr), 20);
  EXPECT_THROW(list.build(strided_points<3>(stored.data()->component, std::size_t{1} << 31)), argument_error);
  EXPECT_NO_THROW(list.build(strided_points<3>(static_cast<const float*>(nullptr), 0)));
  points_view<float, 3> null = points_of(stored.data(), 20);
  null.component[1] = nullptr;
  expect_words(error_of<argument_error>([&] { list.build(null); }), {"null"});

  grid<float, 3> no_cells = it.space;
  no_cells.cells[1] = 0;
  using list_type = decltype(list);
  EXPECT_THROW(list_type(context, no_cells, {.radius = 0.1f}), argument_error);
  grid<float, 3> flat = it.space;
  flat.domain.length[2] = 0;
  EXPECT_THROW(list_type(context, flat, {.radius = 0.1f}), argument_error);
}

using radius_test = backend_test;

TEST_F(radius_test, is_asked_for_by_those_who_need_it) {
  const backend_context context;
  const scene<float, 3> it = unit_scene();
  using low_vertex = cell_methods::linked_loose_low_vertex::type<backend_context, float, 3>;
  using tight = cell_methods::linked_tight::type<backend_context, float, 3>;
  for (const float radius : {0.0f, -1.0f, nan_value, infinity}) {
    EXPECT_THROW(low_vertex(context, it.space, {.radius = radius}), argument_error);
    EXPECT_THROW(tight(context, it.space, {.radius = radius}), argument_error);
  }
  EXPECT_THROW(low_vertex(context, it.space), argument_error);
  EXPECT_THROW(tight(context, it.space), argument_error);
  EXPECT_NO_THROW(low_vertex(context, it.space, {.radius = 0.4f}));
  EXPECT_NO_THROW(tight(context, it.space, {.radius = 0.125f}));
  const std::string text = error_of<argument_error>([&] { tight(context, it.space, {.radius = 0.2f}); });
  expect_words(text, {"0.4", "0.25", "at most 2 cells"});
}

TEST_F(radius_test, of_half_an_edge_takes_a_cell_less_only_where_faces_are_not_exact) {
  const backend_context context;
  using tight = cell_methods::linked_tight::type<backend_context, float, 3>;
  const auto exact = make_grid(make_box<float, 3>({-1, -1, -1}, {1, 1, 1}, {true, false, true}), {64, 64, 64});
  EXPECT_EQ(tight(context, exact, {.radius = 1.0f / 64}).space().cells, (vec<int, 3>{64, 64, 64}));
  const auto other = make_grid(make_box<float, 3>({0, 0, 0.1f}, {1, 1, 1.1f}, {true, false, true}), {10, 8, 8});
  EXPECT_EQ(tight(context, other, {.radius = 0.05f}).space().cells, (vec<int, 3>{9, 8, 8}));
}

using overflow_test = backend_test;

namespace {

template <typename Method>
void check_overflow(determinism level) {
  const backend_context context = context_at(level);
  scene<float, 3> it = unit_scene();
  for (std::size_t i = 0; i < 10; ++i) it.points[i] = {0.9f, 0.6f, 0.1f};
  const auto stored = to_device(context, it.points);
  typename Method::template type<backend_context, float, 3> list(context, it.space, {.fixed_capacity = 4});
  try {
    list.build(points_of(stored.data(), 20));
    FAIL() << "no overflow was reported";
  } catch (const overflow_error& caught) {
    EXPECT_EQ(caught.needed(), 10u);
    EXPECT_STREQ(caught.what(),
                 "cell (3, 2, 0) holds more than its capacity of 4 particles; a capacity of 10 would have sufficed");
  }
  EXPECT_THROW(static_cast<void>(list.view()), argument_error);
  EXPECT_THROW(list.check(), overflow_error);

  it.points[19] = {nan_value, 0.6f, 0.1f};
  const auto worse = to_device(context, it.points);
  expect_words(error_of<data_error>([&] { list.build(points_of(worse.data(), 20)); }), {"point 19"});

  typename Method::template type<backend_context, float, 3> larger(context, it.space, {.fixed_capacity = 10});
  EXPECT_NO_THROW(larger.build(points_of(stored.data(), 20)));
}

}  // namespace

TEST_F(overflow_test, names_the_cell_and_the_capacity_that_would_have_sufficed) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    check_overflow<cell_methods::fixed>(level);
    check_overflow<cell_methods::fixed_row_major>(level);
  }
}

TEST_F(overflow_test, does_not_come_from_evenly_spread_points) {
  const backend_context context;
  std::mt19937_64 random(11);
  for (const std::size_t count : {std::size_t{100}, std::size_t{5000}, size_or(100'000, 10'000)}) {
    std::vector<vec<float, 3>> points(count);
    for (auto& point : points) {
      for (int axis = 0; axis < 3; ++axis) point[axis] = random_unit<float>(random) * (axis == 0 ? 0.5f : 1.0f);
    }
    const auto stored = to_device(context, points);
    const auto space = make_grid(make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true}), {16, 16, 16});
    cell_methods::fixed::type<backend_context, float, 3> list(context, space);
    EXPECT_NO_THROW(list.build(points_of(stored.data(), count)));
  }
}

}  // namespace quadrat::test
