// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/neighborhood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cells/every_list.hpp"
#include "cells/random_scene.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "reference/neighbors.hpp"
#include "support/backend.hpp"

// Every cell list finds each pair of the brute-force reference exactly once, with the same bits, over random scenes.

namespace quadrat::test {

namespace {

/// Row i of two tables: how often j was visited, and its squared distance.
template <typename View>
struct tabulate_neighbors {
  using T = typename View::value_type;
  static constexpr int D = View::dimension;
  View view;
  points_view<T, D> points;
  T cutoff;
  std::uint32_t* visits;
  T* squared;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = i * points.count;
    for (std::size_t j = 0; j < points.count; ++j) {
      visits[row + j] = 0;
      squared[row + j] = T(-1);
    }
    for_each_neighbor(view, points, static_cast<particle_id>(i), cutoff,
                      [&](particle_id j, const vec<T, D>& separation, T squared_distance) {
                        // A wrong separation shows as an impossible count.
                        visits[row + j] += squared_norm(separation) == squared_distance ? 1u : 100u;
                        squared[row + j] = squared_distance;
                      });
  }
};

/// How often each candidate of point i is visited, by cells and by ranges of slots.
template <typename View>
struct count_candidates {
  using T = typename View::value_type;
  static constexpr int D = View::dimension;
  View view;
  points_view<T, D> points;
  T cutoff;
  std::uint32_t* by_cell;
  std::uint32_t* by_range;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = i * points.count;
    for (std::size_t j = 0; j < points.count; ++j) by_cell[row + j] = by_range[row + j] = 0;
    for_each_cell_in_reach(view, points[i], cutoff,
                           [&](cell_id id) { view.for_each_in_cell(id, [&](particle_id j) { ++by_cell[row + j]; }); });
    for_each_candidate(view, points[i], cutoff, [&](particle_id j) { ++by_range[row + j]; });
  }
};

/// Marks the cells that a walk from point i visits.
template <typename View>
struct count_cells {
  using T = typename View::value_type;
  static constexpr int D = View::dimension;
  View view;
  points_view<T, D> points;
  T cutoff;
  std::uint32_t* met;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t* row = met + i * view.numbering.bound();
    for (std::size_t id = 0; id < view.numbering.bound(); ++id) row[id] = 0;
    for_each_cell_in_reach(view, points[i], cutoff, [&](cell_id id) { ++row[id]; });
  }
};

template <typename Method, typename T, int D>
void compare_with_reference(const backend_context& context, const scene<T, D>& it) {
  SCOPED_TRACE(describe(it));
  const std::size_t n = it.points.size();
  const auto stored = to_device(context, it.points);
  const points_view<T, D> points = points_of(stored.data(), n);
  auto list = make_list<Method>(context, it);
  list.build(points);

  array<T, backend_context> expected(context, n * n), squared(context, n * n);
  array<std::uint32_t, backend_context> visits(context, n * n);
  const reference::neighbors_of_each<T, D> all_pairs{points, it.space.domain, it.cutoff, expected.data()};
  for_each(context, "brute force", n, all_pairs);
  const tabulate_neighbors<typename decltype(list)::view_type> walk{list.view(), points, it.cutoff, visits.data(),
                                                                    squared.data()};
  for_each(context, "walk", n, walk);

  const auto wanted = to_host(context, expected);
  const auto got = to_host(context, squared);
  const auto times = to_host(context, visits);
  for (std::size_t pair = 0; pair < n * n; ++pair) {
    ASSERT_EQ(times[pair], wanted[pair] >= T(0) ? 1u : 0u) << "pair " << pair / n << ", " << pair % n;
    ASSERT_EQ(got[pair], wanted[pair]) << "pair " << pair / n << ", " << pair % n;
  }
}

}  // namespace

template <typename Method>
class neighborhood_test : public backend_test {};
TYPED_TEST_SUITE(neighborhood_test, every_cell_list, method_names);

TYPED_TEST(neighborhood_test, finds_each_pair_once) {
  const backend_context fast = context_at(determinism::none);
  const backend_context ordered = context_at(determinism::run_to_run);
  for_each_shape([&]<typename T, int D>() {
    for (std::size_t seed = 0; seed < size_or(300, 12); ++seed) {
      SCOPED_TRACE(message("seed ", seed));
      compare_with_reference<TypeParam, T, D>(seed % 3 == 0 ? ordered : fast, scene_maker<T, D>(seed).make());
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(neighborhood_test, finds_each_pair_that_rounding_decides) {
  const backend_context context;
  for_each_shape([&]<typename T, int D>() {
    for (std::size_t seed = 0; seed < size_or(100, 5); ++seed) {
      SCOPED_TRACE(message("seed ", seed));
      compare_with_reference<TypeParam, T, D>(context, scene_maker<T, D>(seed + 20'000).make_line_scene(150));
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(neighborhood_test, finds_each_pair_of_many_points) {
  const backend_context context;
  scene<float, 3> it{};
  it.space = make_grid(make_box<float, 3>({-1, -1, -1}, {1, 1, 1}, {true, false, true}), {16, 16, 16});
  it.cutoff = 0.125f;
  std::mt19937_64 random(7);
  it.points.resize(size_or(3000, 300));
  for (auto& point : it.points) {
    for (int axis = 0; axis < 3; ++axis) point[axis] = 2 * random_unit<float>(random) - 1;
  }
  compare_with_reference<TypeParam>(context, it);
}

namespace {

template <typename Method, typename T, int D>
void compare_candidates(const backend_context& context, const scene<T, D>& it) {
  SCOPED_TRACE(describe(it));
  const std::size_t n = it.points.size();
  const auto stored = to_device(context, it.points);
  const points_view<T, D> points = points_of(stored.data(), n);
  auto list = make_list<Method>(context, it);
  list.build(points);
  const auto view = list.view();
  using view_type = typename decltype(list)::view_type;

  array<std::uint32_t, backend_context> by_cell(context, n * n), by_range(context, n * n);
  for_each(context, "candidates", n,
           count_candidates<view_type>{view, points, it.cutoff, by_cell.data(), by_range.data()});
  const auto cells = to_host(context, by_cell);
  EXPECT_EQ(cells, to_host(context, by_range));
  EXPECT_TRUE(std::ranges::all_of(cells, [](std::uint32_t times) { return times <= 1; }));

  array<std::uint32_t, backend_context> met(context, n * view.numbering.bound());
  for_each(context, "cells", n, count_cells<view_type>{view, points, it.cutoff, met.data()});
  const auto times = to_host(context, met);
  EXPECT_TRUE(std::ranges::all_of(times, [](std::uint32_t count) { return count <= 1; }));
}

}  // namespace

TYPED_TEST(neighborhood_test, meets_each_cell_once) {
  if constexpr (!is_tight<TypeParam>) {
    const backend_context context;
    for_each_shape([&]<typename T, int D>() {
      for (std::size_t seed = 0; seed < size_or(60, 6); ++seed) {
        SCOPED_TRACE(message("seed ", seed));
        compare_candidates<TypeParam>(context, scene_maker<T, D>(seed + 1000).make());
      }
    });
  }
}

}  // namespace quadrat::test
