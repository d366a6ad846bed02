// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "cells/every_list.hpp"
#include "cells/random_scene.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// The orders alone: which cells, in which order, and which cell lists they can walk.

namespace quadrat::test {

namespace {

template <typename Method, int D = 3>
using view_of = typename Method::template type<backend_context, float, D>::view_type;

// Strips need rows stored as one range, which curves and linked lists do not have.
static_assert(walkable<search_orders::strips, view_of<cell_methods::counting>>);
static_assert(walkable<search_orders::trimmed, view_of<cell_methods::sorted, 2>>);
static_assert(!walkable<search_orders::strips, view_of<cell_methods::sorted_morton>>);
static_assert(!walkable<search_orders::hybrid, view_of<cell_methods::sorted_hilbert>>);
static_assert(!walkable<search_orders::trimmed, view_of<cell_methods::linked_packed>>);
static_assert(walkable<search_orders::modular, view_of<cell_methods::sorted_morton>>);
static_assert(walkable<search_orders::default_order, view_of<cell_methods::linked_loose>>);
static_assert(!walkable<search_orders::modular, view_of<cell_methods::linked_tight>>);
static_assert(
    std::is_same_v<order_for<search_orders::natural, view_of<cell_methods::counting>>, search_orders::strips>);
static_assert(std::is_same_v<order_for<search_orders::natural, view_of<cell_methods::sorted_peano>>,
                             search_orders::default_order>);

/// Writes the cells (numbered x fastest) that an order visits around each point, and -1 at the end of each row.
template <typename Order, typename T, int D>
struct write_cells {
  grid<T, D> space;
  points_view<T, D> points;
  T distance;
  std::size_t width;
  int* cells;

  QUADRAT_HD void operator()(std::size_t i) const {
    int* row = cells + i * width;
    const row_major_numbering<D> numbering{space.cells};
    std::size_t count = 0;
    const auto write = [&](const vec<int, D>& cell) {
      bool inside = true;
      for (int axis = 0; axis < D; ++axis) inside = inside && cell[axis] >= 0 && cell[axis] < space.cells[axis];
      if (count + 1 < width) row[count++] = inside ? static_cast<int>(numbering.id(cell)) : -2;
    };
    const vec<T, D> point = space.domain.wrap(points[i]);
    if constexpr (Order::by_strips) {
      Order::for_each_strip(space, point, distance, [&](vec<int, D> cell, int last) {
        for (; cell[0] <= last; ++cell[0]) write(cell);
      });
    } else {
      Order::for_each_cell(space, point, distance, write);
    }
    row[count] = -1;
  }
};

/// The cells that an order visits, by point.
template <typename Order, typename T, int D>
[[nodiscard]] std::vector<std::vector<int>> cells_of(const backend_context& context, const grid<T, D>& space,
                                                     const std::vector<vec<T, D>>& points, T distance) {
  const std::size_t width = space.size() + 2;
  const auto stored = to_device(context, points);
  array<int, backend_context> table(context, points.size() * width);
  for_each(context, "cells", points.size(),
           write_cells<Order, T, D>{space, points_of(stored.data(), points.size()), distance, width, table.data()});
  const std::vector<int> all = to_host(context, table);
  std::vector<std::vector<int>> result(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(i * width);
    result[i].assign(row, std::find(row, row + static_cast<std::ptrdiff_t>(width), -1));
  }
  return result;
}

/// A square of n x n cells of edge 1.
[[nodiscard]] grid<float, 2> square(int n, bool periodic) {
  const auto side = static_cast<float>(n);
  return make_grid(make_box<float, 2>({0, 0}, {side, side}, {periodic, periodic}), {n, n});
}

template <typename Order>
[[nodiscard]] std::vector<int> cells_around(const grid<float, 2>& space, const vec<float, 2>& point) {
  return cells_of<Order, float, 2>(backend_context(), space, {point}, 1.0f).front();
}

using ids = std::vector<int>;

}  // namespace

class orders_test : public backend_test {};

// The figure of modular-bin-strips: 6 x 6 bins, labels
//   0 1 2 0 1 2
//   3 4 5 3 4 5
//   6 7 8 6 7 8
//   0 1 2 0 1 2    and so on. Bins are numbered x fastest: bin (x, y) is x + 6 y.
TEST_F(orders_test, walks_the_bins_of_the_figure) {
  const auto space = square(6, false);
  const vec<float, 2> point{{2.5f, 3.5f}};  // bin (2, 3); its neighborhood is x 1 to 3, y 2 to 4
  EXPECT_EQ(cells_around<search_orders::default_order>(space, point), (ids{13, 14, 15, 19, 20, 21, 25, 26, 27}));
  EXPECT_EQ(cells_around<search_orders::strips>(space, point), (ids{13, 14, 15, 19, 20, 21, 25, 26, 27}));
  // Labels of its rows: 7 8 6, 1 2 0, 4 5 3. In order: (3,3) (1,3) (2,3), (3,4) (1,4) (2,4), (3,2) (1,2) (2,2).
  EXPECT_EQ(cells_around<search_orders::modular>(space, point), (ids{21, 19, 20, 27, 25, 26, 15, 13, 14}));
  // Rows by the label of y: 3 (0), 4 (1), 2 (2).
  EXPECT_EQ(cells_around<search_orders::hybrid>(space, point), (ids{19, 20, 21, 25, 26, 27, 13, 14, 15}));
}

TEST_F(orders_test, walks_the_corner_and_the_seam_of_the_figure) {
  EXPECT_EQ(cells_around<search_orders::modular>(square(6, false), {{5.5f, 0.5f}}), (ids{4, 5, 10, 11}));
  // Around (0, 0) over the seam: x and y are 5 (label 2), 0, 1.
  const vec<float, 2> corner{{0.5f, 0.5f}};
  EXPECT_EQ(cells_around<search_orders::modular>(square(6, true), corner), (ids{0, 1, 5, 6, 7, 11, 30, 31, 35}));
  EXPECT_EQ(cells_around<search_orders::hybrid>(square(6, true), corner), (ids{5, 0, 1, 11, 6, 7, 35, 30, 31}));
  EXPECT_EQ(cells_around<search_orders::default_order>(square(6, true), corner), (ids{35, 30, 31, 5, 0, 1, 11, 6, 7}));
}

// 4 and 5 are not multiples of 3: the index -1 has label 2 and 4 has label 1, whatever cells they wrap to.
TEST_F(orders_test, takes_labels_from_unwrapped_indices) {
  EXPECT_EQ(cells_around<search_orders::modular>(square(4, true), {{0.5f, 1.5f}}), (ids{0, 1, 3, 4, 5, 7, 8, 9, 11}));
  EXPECT_EQ(cells_around<search_orders::modular>(square(5, true), {{4.5f, 1.5f}}), (ids{3, 4, 0, 8, 9, 5, 13, 14, 10}));
  // There are only three cells along each axis, each visited once.
  EXPECT_EQ(cells_around<search_orders::modular>(square(3, true), {{2.5f, 2.5f}}), (ids{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(cells_around<search_orders::hybrid>(square(2, true), {{0.5f, 0.5f}}), (ids{0, 1, 2, 3}));
}

// A point on a face reaches a fourth column; cells with the same label come in order of their indices.
TEST_F(orders_test, walks_wider_ranges_by_label) {
  const auto found = cells_around<search_orders::modular>(square(6, false), {{3.0f, 2.5f}});
  // x is 1 to 4, labels 1 2 0 1; y is 1 to 3, labels 1 2 0.
  EXPECT_EQ(found, (ids{21, 19, 22, 20, 9, 7, 10, 8, 15, 13, 16, 14}));
}

TEST_F(orders_test, trims_rows_to_the_circle) {
  // Edges of half the cutoff, from the middle of a cell: rows two away begin at 0.75, which leaves half a chord of
  // sqrt(1 - 0.75^2) = 0.66 and with it 3 cells out of 5.
  const auto space = make_grid(make_box<float, 2>({0, 0}, {4, 4}, {false, false}), {8, 8});
  EXPECT_EQ(cells_around<search_orders::trimmed>(space, {{1.75f, 1.75f}}),
            (ids{10, 11, 12, 17, 18, 19, 20, 21, 25, 26, 27, 28, 29, 33, 34, 35, 36, 37, 42, 43, 44}));
}

namespace {

/// In label order, labels never decrease, and no cell comes twice.
template <typename T, int D>
void check_cells(const backend_context& context, const scene<T, D>& it) {
  SCOPED_TRACE(describe(it));
  if (it.points.empty()) return;
  const auto wanted = cells_of<search_orders::default_order>(context, it.space, it.points, it.cutoff);
  const auto strips = cells_of<search_orders::strips>(context, it.space, it.points, it.cutoff);
  EXPECT_EQ(strips, wanted);
  const auto modular = cells_of<search_orders::modular>(context, it.space, it.points, it.cutoff);
  const auto hybrid = cells_of<search_orders::hybrid>(context, it.space, it.points, it.cutoff);
  const auto trimmed = cells_of<search_orders::trimmed>(context, it.space, it.points, it.cutoff);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::set<int> all(wanted[i].begin(), wanted[i].end());
    ASSERT_EQ(all.size(), wanted[i].size());
    ASSERT_GE(*all.begin(), 0);
    ASSERT_EQ(std::set<int>(modular[i].begin(), modular[i].end()), all);
    ASSERT_EQ(modular[i].size(), all.size());
    ASSERT_EQ(std::set<int>(hybrid[i].begin(), hybrid[i].end()), all);
    ASSERT_EQ(hybrid[i].size(), all.size());
    const std::set<int> some(trimmed[i].begin(), trimmed[i].end());
    ASSERT_EQ(some.size(), trimmed[i].size());
    ASSERT_TRUE(std::includes(all.begin(), all.end(), some.begin(), some.end()));
  }
}

}  // namespace

TEST_F(orders_test, come_to_each_distinct_cell_once) {
  const backend_context context;
  for_each_shape([&]<typename T, int D>() {
    for (std::size_t seed = 0; seed < size_or(200, 10); ++seed) {
      SCOPED_TRACE(message("seed ", seed));
      check_cells<T, D>(context, scene_maker<T, D>(seed + 40'000).make());
    }
  });
}

// Points that a build refuses, and distances too large for the box, lead to no cell outside the grid and to no cell
// twice.
TEST_F(orders_test, stay_inside_the_grid_whatever_the_point) {
  const backend_context context;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float values[] = {
      0.5f, -1e-30f, -3.0f, 7.5f, 1e30f, -1e30f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
  std::vector<vec<float, 3>> points;
  for (const float x : values) {
    for (const float y : values) points.push_back({{x, y, x}});
  }
  for (const vec<bool, 3>& periodic :
       {vec<bool, 3>{{true, true, true}}, {{false, false, false}}, {{true, false, true}}}) {
    const auto space = make_grid(make_box<float, 3>({0, 0, 0}, {5, 5, 5}, periodic), {5, 4, 7});
    for (const float distance : {0.3f, 1.0f, 4.0f, 1e30f, infinity, std::numeric_limits<float>::quiet_NaN()}) {
      search_order_list::for_each([&](auto order) {
        SCOPED_TRACE(message(order.name, ", distance ", distance));
        for (const auto& found : cells_of<decltype(order)>(context, space, points, distance)) {
          const std::set<int> distinct(found.begin(), found.end());
          ASSERT_EQ(distinct.size(), found.size());
          ASSERT_FALSE(distinct.contains(-2));
        }
      });
    }
  }
}

TEST_F(orders_test, have_labels_that_never_decrease) {
  const backend_context context;
  const auto box = make_box<float, 3>({0, 0, 0}, {7, 6, 8}, {false, false, false});
  const auto space = make_grid(box, {7, 6, 8});
  std::vector<vec<float, 3>> points;
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i) {
    points.push_back(make_vec<float, 3>([&](int axis) { return box.length[axis] * random_unit<float>(random); }));
  }
  const row_major_numbering<3> numbering{space.cells};
  const auto label_of = [&](int id, int lowest) {
    const vec<int, 3> cell = numbering.cell(static_cast<cell_id>(id));
    return (lowest == 0 ? cell[0] % 3 : 0) + 3 * (cell[1] % 3) + 9 * (cell[2] % 3);
  };
  const auto rises = [&](const std::vector<std::vector<int>>& all, int lowest) {
    return std::ranges::all_of(all, [&](const std::vector<int>& ids) {
      return std::ranges::is_sorted(ids, {}, [&](int id) { return label_of(id, lowest); });
    });
  };
  for (const float distance : {1.0f, 1.7f, 2.5f}) {
    EXPECT_TRUE(rises(cells_of<search_orders::modular>(context, space, points, distance), 0));
    EXPECT_TRUE(rises(cells_of<search_orders::hybrid>(context, space, points, distance), 1));
  }
}

}  // namespace quadrat::test
