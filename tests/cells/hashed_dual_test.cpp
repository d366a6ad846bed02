// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/hashed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "cells/every_list.hpp"
#include "quadrat/cells/make_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/neighborhood.hpp"
#include "reference/neighbors.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Tests specific to `hashed`; the tests of all cell lists cover the rest.

namespace quadrat::test {

namespace {

template <typename T, int D>
using hashed_of = cell_methods::hashed::type<backend_context, T, D>;

/// Two dense blobs in opposite corners of a cubic box, with cells of edge 1.
template <typename T, int D>
[[nodiscard]] scene<T, D> two_blobs(std::size_t count, T side, bool periodic) {
  scene<T, D> it{};
  it.cutoff = T(1);
  const auto upper = vec<T, D>::filled(side);
  it.space =
      make_grid_for_cutoff(make_box(vec<T, D>{}, upper, vec<bool, D>::filled(periodic)), it.cutoff, max_sparse_count);
  std::mt19937_64 random(17);
  it.points.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < D; ++axis) {
      const T inside = 4 * random_unit<T>(random);
      it.points[i][axis] = i % 2 == 0 ? inside : side - inside;
    }
  }
  return it;
}

/// The neighbors, candidates and cells that the walk from each point visits.
struct met_by_walk {
  std::uint32_t neighbors;
  std::uint32_t candidates;
  std::uint32_t cells;
};

template <typename View>
struct walk_around {
  using T = typename View::value_type;
  View view;
  points_view<T, View::dimension> points;
  T cutoff;
  met_by_walk* met;

  QUADRAT_HD void operator()(std::size_t i) const {
    met_by_walk sum{};
    for_each_neighbor(view, points, static_cast<particle_id>(i), cutoff,
                      [&](particle_id, const vec<T, View::dimension>&, T) { ++sum.neighbors; });
    for_each_candidate(view, points[i], cutoff, [&](particle_id) { ++sum.candidates; });
    for_each_cell_in_reach(view, points[i], cutoff, [&](cell_id) { ++sum.cells; });
    met[i] = sum;
  }
};

template <typename T, int D>
void expect_neighbors_of_brute_force(const scene<T, D>& it) {
  const backend_context context;
  const std::size_t n = it.points.size();
  const auto stored = to_device(context, it.points);
  const points_view<T, D> points = points_of(stored.data(), n);
  hashed_of<T, D> list(context, it.space);
  list.build(points);
  array<met_by_walk, backend_context> met(context, n);
  using view_type = typename hashed_of<T, D>::view_type;
  for_each(context, "walk", n, walk_around<view_type>{list.view(), points, it.cutoff, met.data()});
  array<T, backend_context> squared(context, n * n);
  for_each(context, "pairs", n, reference::neighbors_of_each<T, D>{points, it.space.domain, it.cutoff, squared.data()});
  const auto walks = to_host(context, met);
  const auto pairs = to_host(context, squared);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = pairs.begin() + static_cast<std::ptrdiff_t>(i * n);
    const auto expected = std::count_if(row, row + static_cast<std::ptrdiff_t>(n), [](T s) { return s >= T(0); });
    ASSERT_EQ(walks[i].neighbors, static_cast<std::uint32_t>(expected)) << "point " << i;
    // With no other cells near, only those of a blob can be visited: 5 along an axis, 10 across the seam.
    ASSERT_LE(walks[i].cells, D == 2 ? 100u : 1000u) << "point " << i;
    ASSERT_LE(walks[i].candidates, n);
  }
}

/// The number of each cell of a grid, by its position in the grid.
template <typename View>
struct number_of_cell {
  View view;
  cell_id* numbers;
  std::uint32_t* sizes;
  int* wrong;

  QUADRAT_HD void operator()(std::size_t place) const {
    const wide_row_major_numbering<View::dimension> rows{view.space.cells};
    const vec<int, View::dimension> cell = rows.cell(place);
    const cell_id id = view.numbering.id(cell);
    numbers[place] = id;
    sizes[place] = view.cell_end(id) - view.cell_begin(id);
    wrong[place] = id != view.numbering.absent() && !(view.numbering.cell(id) == cell) ? 1 : 0;
  }
};

/// Expects a unique number for each cell of a scene's grid with a point, and absent() for all others.
void expect_numbers_of_occupied_cells(const scene<float, 3>& it) {
  const backend_context context;
  const auto stored = to_device(context, it.points);
  hashed_of<float, 3> list(context, it.space);
  list.build(points_of(stored.data(), it.points.size()));
  const auto view = list.view();
  array<cell_id, backend_context> numbers(context, it.space.size());
  array<std::uint32_t, backend_context> sizes(context, it.space.size());
  array<int, backend_context> wrong(context, it.space.size());
  for_each(context, "numbers", it.space.size(),
           number_of_cell<hashed_of<float, 3>::view_type>{view, numbers.data(), sizes.data(), wrong.data()});
  std::vector<std::uint32_t> expected(it.space.size(), 0);
  const wide_row_major_numbering<3> rows{it.space.cells};
  for (const auto& point : it.points) ++expected[rows.id(it.space.cell_of(point))];
  EXPECT_EQ(to_host(context, sizes), expected);
  EXPECT_EQ(to_host(context, wrong), std::vector<int>(it.space.size(), 0));
  const auto found = to_host(context, numbers);
  std::set<cell_id> taken;
  for (std::size_t place = 0; place < expected.size(); ++place) {
    if (expected[place] == 0) {
      EXPECT_EQ(found[place], view.numbering.absent());
    } else {
      EXPECT_LT(found[place], view.numbering.absent());
      EXPECT_TRUE(taken.insert(found[place]).second) << "two cells have the number " << found[place];
    }
  }
}

}  // namespace

using hashed_test = backend_test;

TEST_F(hashed_test, finds_the_neighbors_in_two_blobs_a_million_cutoffs_apart) {
  for_each_shape([&]<typename T, int D>() {
    const std::size_t count = size_or(600, 150);
    expect_neighbors_of_brute_force(two_blobs<T, D>(count, T(1e6), false));
    expect_neighbors_of_brute_force(two_blobs<T, D>(count, T(1e6), true));
    expect_neighbors_of_brute_force(two_blobs<T, D>(count, T(12), true));
  });
}

TEST_F(hashed_test, memory_follows_the_points_and_not_the_box) {
  const backend_context context;
  const std::size_t count = size_or(20'000, 2000);
  std::size_t bytes = 0;
  for (const double side : {8.0, 64.0, 1e3, 1e6}) {
    const scene<double, 3> it = two_blobs<double, 3>(count, side, false);
    const auto stored = to_device(context, it.points);
    hashed_of<double, 3> list(context, it.space);
    list.build(points_of(stored.data(), count));
    EXPECT_LE(list.view().numbering.bound(), 2 * count + 4);
    // The sort's scratch memory depends on its number of passes: a few more for more cells.
    if (bytes == 0) bytes = list.bytes();
    EXPECT_LE(list.bytes(), bytes + bytes / 8) << "side " << side;
    EXPECT_LE(list.bytes(), 64 * count + 65536) << "side " << side;
  }
}

TEST_F(hashed_test, takes_grids_that_other_cell_lists_refuse) {
  const backend_context context;
  const auto domain = make_box<double, 3>({0, 0, 0}, {1e6, 1e6, 1e6}, vec<bool, 3>::filled(false));
  const vec<int, 3> cells{1'000'000, 1'000'000, 1'000'000};
  expect_words(error_of<argument_error>([&] { static_cast<void>(make_grid(domain, cells)); }), {"at most 2147483647"});
  const auto space = make_grid(domain, cells, max_sparse_count);
  EXPECT_EQ(space.size(), 1'000'000'000'000'000'000u);
  cell_list_methods::for_each([&](auto method) {
    using list_type = typename decltype(method)::template type<backend_context, double, 3>;
    const auto make = [&] { list_type(context, space, {.radius = 0.25}); };
    if constexpr (std::is_same_v<decltype(method), cell_methods::hashed>) {
      EXPECT_NO_THROW(make());
    } else {
      expect_words(error_of<argument_error>(make), {"1000000 x 1000000 x 1000000 cells", "at most 2147483647"});
    }
  });
  EXPECT_EQ(make_cells<cell_methods::hashed>(context, domain, 1.0).space().cells, cells);
  grid<double, 3> more = space;
  more.cells = vec<int, 3>::filled(max_cells_along_axis);
  expect_words(error_of<argument_error>([&] { hashed_of<double, 3>(context, more); }), {"at most 4611686018427387904"});
  EXPECT_THROW(static_cast<void>(make_grid_for_cutoff(domain, 1.0, max_sparse_count + 1)), argument_error);
}

TEST_F(hashed_test, refuses_more_points_than_its_table_can_number) {
  const backend_context context;
  const scene<float, 3> it = two_blobs<float, 3>(2, 8.0f, false);
  const auto stored = to_device(context, it.points);
  hashed_of<float, 3> list(context, it.space);
  const auto points = strided_points<3>(stored.data()->component, hashed_of<float, 3>::most_points + 1, 3);
  expect_words(error_of<argument_error>([&] { list.build(points); }), {"at most 1073741824"});
}

TEST_F(hashed_test, numbers_each_occupied_cell_and_no_other) {
  scene<float, 3> it{};
  it.space = make_grid(make_box<float, 3>({0, 0, 0}, {9, 7, 5}, vec<bool, 3>::filled(false)), {9, 7, 5});
  std::mt19937_64 random(23);
  for (std::size_t count = 0; count < size_or(60, 20); ++count) {
    SCOPED_TRACE(count);
    expect_numbers_of_occupied_cells(it);
    it.points.push_back(
        {9 * random_unit<float>(random), 7 * random_unit<float>(random), 5 * random_unit<float>(random)});
  }
}

TEST_F(hashed_test, numbers_cells_where_half_of_the_table_is_taken) {
  const int side = small_sizes() ? 8 : 24;
  scene<float, 3> it{};
  const auto length = static_cast<float>(side);
  it.space = make_grid(make_box<float, 3>({0, 0, 0}, {length, length, length}, vec<bool, 3>::filled(false)),
                       {side, side, side});
  // One point in each cell, in scattered order.
  const wide_row_major_numbering<3> rows{it.space.cells};
  for (std::size_t k = 0; k < it.space.size(); ++k) {
    it.points.push_back(cast<float>(rows.cell((k * 7919) % it.space.size())) + vec<float, 3>::filled(0.5f));
  }
  expect_numbers_of_occupied_cells(it);
}

TEST_F(hashed_test, slots_are_in_row_major_order_of_cells_and_in_order_of_particles) {
  const scene<double, 3> it = two_blobs<double, 3>(3000, 1e6, false);
  const wide_row_major_numbering<3> rows{it.space.cells};
  std::vector<particle_id> expected(it.points.size());
  std::iota(expected.begin(), expected.end(), particle_id{0});
  std::ranges::stable_sort(expected, {}, [&](particle_id i) { return rows.id(it.space.cell_of(it.points[i])); });
  for (const backend_context& context : all_contexts()) {
    const auto stored = to_device(context, it.points);
    array<vec<double, 3>, backend_context> moved(context, it.points.size());
    hashed_of<double, 3> list(context, it.space);
    const carried_array arrays[] = {carry(stored.data(), moved.data())};
    list.build_and_carry(points_of(stored.data(), it.points.size()), arrays);
    EXPECT_EQ(to_host(context, list.view().buckets.elements, expected.size()), expected);
    const auto positions = to_host(context, moved);
    for (std::size_t slot = 0; slot < expected.size(); ++slot) ASSERT_EQ(positions[slot], it.points[expected[slot]]);
  }
}

TEST_F(hashed_test, the_table_is_the_same_in_every_run) {
  const scene<float, 3> it = two_blobs<float, 3>(size_or(50'000, 1000), 100.0f, true);
  std::vector<std::uint64_t> expected;
  for (int run = 0; run < 3; ++run) {
    for (const backend_context& context : all_contexts()) {
      const auto stored = to_device(context, it.points);
      hashed_of<float, 3> list(context, it.space);
      list.build(points_of(stored.data(), it.points.size()));
      const auto table = to_host(context, list.view().buckets.table, list.view().numbering.bound());
      std::vector<std::uint64_t> keys;
      for (const occupied_cell& place : table) keys.push_back(place.key);
      if (expected.empty()) expected = keys;
      ASSERT_EQ(keys, expected);
    }
  }
}

}  // namespace quadrat::test
