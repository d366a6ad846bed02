// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace quadrat::test {

namespace {

template <typename T>
class grid_test : public testing::Test {
 protected:
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  /// One axis, so that the numbers are easy to follow.
  static grid<T, 1> line(T lower, T upper, int cells, bool periodic) {
    return make_grid(make_box<T, 1>({lower}, {upper}, {periodic}), vec<int, 1>{cells});
  }
  static int cell_at(const grid<T, 1>& space, T x) { return space.cell_of({x})[0]; }
};

using scalar_types = testing::Types<float, double>;
TYPED_TEST_SUITE(grid_test, scalar_types);

TYPED_TEST(grid_test, puts_points_in_cells_from_their_lower_face_on) {
  using T = TypeParam;
  const auto space = this->line(T(-2), T(2), 4, false);
  EXPECT_EQ(this->cell_at(space, T(-2)), 0);
  EXPECT_EQ(this->cell_at(space, std::nextafter(T(-1), T(-2))), 0);
  EXPECT_EQ(this->cell_at(space, T(-1)), 1);
  EXPECT_EQ(this->cell_at(space, T(-0.5)), 1);
  EXPECT_EQ(this->cell_at(space, T(-0.0)), 2);
  EXPECT_EQ(this->cell_at(space, T(1)), 3);
}

TYPED_TEST(grid_test, gives_the_upper_face_of_an_open_axis_to_the_last_cell) {
  using T = TypeParam;
  const auto space = this->line(T(-2), T(2), 4, false);
  EXPECT_EQ(this->cell_at(space, T(2)), 3);
  EXPECT_EQ(this->cell_at(space, T(100)), 3);
  EXPECT_EQ(this->cell_at(space, T(-100)), 0);
  EXPECT_EQ(this->cell_at(space, this->infinity), 3);
  EXPECT_EQ(this->cell_at(space, -this->infinity), 0);
}

TYPED_TEST(grid_test, wraps_a_periodic_axis) {
  using T = TypeParam;
  const auto space = this->line(T(-2), T(2), 4, true);
  EXPECT_EQ(this->cell_at(space, T(2)), 0);
  EXPECT_EQ(this->cell_at(space, T(3.5)), 1);
  EXPECT_EQ(this->cell_at(space, T(-2.5)), 3);
  EXPECT_EQ(this->cell_at(space, T(-10.5)), 3);
  EXPECT_EQ(this->cell_at(space, T(41)), 3);
}

TYPED_TEST(grid_test, gives_every_value_a_cell_that_exists) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const bool periodic : {false, true}) {
    for (const int cells : {1, 2, 3, 7, 1000}) {
      const auto space = this->line(T(-3), T(0.1), cells, periodic);
      for (const T x : {nan, this->infinity, -this->infinity, T(1e30), T(-1e30), std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest(), std::numeric_limits<T>::denorm_min(), T(0.1), T(-3)}) {
        EXPECT_GE(this->cell_at(space, x), 0) << x;
        EXPECT_LT(this->cell_at(space, x), cells) << x;
      }
      EXPECT_EQ(this->cell_at(space, nan), 0);
    }
  }
}

TYPED_TEST(grid_test, never_decreases_along_an_axis) {
  using T = TypeParam;
  std::mt19937_64 generator(4);
  for (int trial = 0; trial < 500; ++trial) {
    const T lower = (random_unit<T>(generator) - T(0.5)) * std::pow(T(10), static_cast<T>(generator() % 6));
    const T length = T(0.01) + T(10) * random_unit<T>(generator);
    if (!(lower + length > lower)) continue;
    const int cells = 1 + static_cast<int>(generator() % 300);
    const auto space = this->line(lower, lower + length, cells, generator() % 2 == 0);
    std::vector<T> points;
    for (int i = 0; i < 200; ++i) {
      T x = lower + (T(3) * random_unit<T>(generator) - T(1)) * length;
      if (i % 2 == 0) x = lower + static_cast<T>(static_cast<int>(generator() % 600) - 150) * space.edge(0);
      points.insert(points.end(), {std::nextafter(x, -this->infinity), x, std::nextafter(x, this->infinity)});
    }
    std::sort(points.begin(), points.end());
    for (std::size_t i = 1; i < points.size(); ++i) {
      ASSERT_LE(space.unwrapped_index(points[i - 1], 0), space.unwrapped_index(points[i], 0))
          << points[i - 1] << " and " << points[i] << " on " << cells << " cells from " << lower;
    }
  }
}

TYPED_TEST(grid_test, counts_its_cells) {
  using T = TypeParam;
  const auto domain = make_box<T, 3>({0, 0, 0}, {1, 2, 3}, {false, false, true});
  const auto space = make_grid(domain, vec<int, 3>{4, 5, 6});
  EXPECT_EQ(space.size(), 120u);
  EXPECT_EQ(space.edge(0), T(0.25));
  EXPECT_EQ(space.edge(2), T(0.5));
}

TYPED_TEST(grid_test, has_cells_not_smaller_than_the_cutoff) {
  using T = TypeParam;
  const auto domain = make_box<T, 2>({T(-1), T(0)}, {T(1), T(0.3)}, {false, true});
  auto space = make_grid_for_cutoff(domain, T(0.25));
  EXPECT_EQ(space.cells, (vec<int, 2>{8, 1}));
  space = make_grid_for_cutoff(domain, std::nextafter(T(0.25), T(1)));
  EXPECT_EQ(space.cells, (vec<int, 2>{7, 1}));
  space = make_grid_for_cutoff(domain, T(50));
  EXPECT_EQ(space.cells, (vec<int, 2>{1, 1}));
}

TYPED_TEST(grid_test, is_coarser_where_the_cutoff_would_give_too_many_cells) {
  using T = TypeParam;
  const auto domain = make_box<T, 3>({0, 0, 0}, {1, 1, 1}, {false, false, false});
  for (const std::size_t most : {std::size_t{1}, std::size_t{10}, std::size_t{1000}, std::size_t{1} << 27}) {
    const auto space = make_grid_for_cutoff(domain, T(1e-9), most);
    EXPECT_LE(space.size(), most);
    EXPECT_GE(space.size() * 3, most);
  }
  EXPECT_THROW(static_cast<void>(make_grid_for_cutoff(domain, T(0.1), 0)), argument_error);
}

TYPED_TEST(grid_test, refuses_cutoffs_that_are_no_distance) {
  using T = TypeParam;
  const auto domain = make_box<T, 1>({0}, {1}, {true});
  for (const T cutoff : {T(0), T(-1), std::numeric_limits<T>::quiet_NaN(), this->infinity}) {
    EXPECT_THROW(static_cast<void>(make_grid_for_cutoff(domain, cutoff)), argument_error);
    EXPECT_THROW(require_cutoff_fits(domain, cutoff), argument_error);
  }
  EXPECT_NO_THROW(require_cutoff_fits(domain, T(0.5)));
  EXPECT_THROW(require_cutoff_fits(domain, std::nextafter(T(0.5), T(1))), argument_error);
  EXPECT_NO_THROW(require_cutoff_fits(make_box<T, 1>({0}, {1}, {false}), T(7)));
}

TYPED_TEST(grid_test, refuses_cells_too_thin_to_compute_with) {
  using T = TypeParam;
  const auto domain = make_box<T, 1>({0}, {std::numeric_limits<T>::denorm_min()}, {false});
  EXPECT_THROW(static_cast<void>(make_grid(domain, vec<int, 1>{1})), argument_error);
}

/// All cells of a range after wrapping.
std::vector<int> cells_of(const grid<double, 1>& space, const cell_range<1>& range) {
  std::vector<int> cells;
  for (int index = range.first[0]; index <= range.last[0]; ++index) cells.push_back(space.wrapped(index, 0));
  return cells;
}

TEST(grid, visits_each_distinct_cell_once_where_a_periodic_axis_has_fewer_than_three) {
  for (const int count : {1, 2, 3, 4, 5, 9}) {
    const auto space = make_grid(make_box<double, 1>({0}, {1.0 * count}, {true}), vec<int, 1>{count});
    for (int cell = 0; cell < count; ++cell) {
      const std::vector<int> around = cells_of(space, space.moore_neighborhood({cell}));
      const std::vector<int> reached = cells_of(space, space.reach({cell + 0.5}, 1.0));
      EXPECT_EQ(around.size(), static_cast<std::size_t>(std::min(count, 3)));
      EXPECT_EQ(std::set<int>(around.begin(), around.end()).size(), around.size()) << "a cell was visited twice";
      EXPECT_EQ(std::set<int>(reached.begin(), reached.end()), std::set<int>(around.begin(), around.end()));
      EXPECT_EQ(reached.size(), around.size()) << "a cell was visited twice";
    }
  }
}

TEST(grid, ends_at_the_faces_of_an_open_axis) {
  const auto space = make_grid(make_box<double, 1>({0}, {4}, {false}), vec<int, 1>{4});
  EXPECT_EQ(cells_of(space, space.moore_neighborhood({0})), (std::vector<int>{0, 1}));
  EXPECT_EQ(cells_of(space, space.moore_neighborhood({3})), (std::vector<int>{2, 3}));
  EXPECT_EQ(cells_of(space, space.reach({0.5}, 1.0)), (std::vector<int>{0, 1}));
  EXPECT_EQ(cells_of(space, space.reach({4.0}, 0.5)), (std::vector<int>{3}));
  EXPECT_EQ(cells_of(space, space.reach({2.5}, 100.0)), (std::vector<int>{0, 1, 2, 3}));
}

TEST(grid, reaches_fewer_cells_where_the_distance_is_smaller) {
  const auto space = make_grid(make_box<double, 1>({0}, {10}, {true}), vec<int, 1>{10});
  EXPECT_EQ(cells_of(space, space.reach({4.5}, 0.25)), (std::vector<int>{4}));
  EXPECT_EQ(cells_of(space, space.reach({4.25}, 0.5)), (std::vector<int>{3, 4}));
  EXPECT_EQ(cells_of(space, space.reach({0.25}, 0.5)), (std::vector<int>{9, 0}));
  EXPECT_EQ(cells_of(space, space.reach({4.5}, 1.75)), (std::vector<int>{2, 3, 4, 5, 6}));
}

std::string refusal_of(const vec<int, 3>& cells) {
  try {
    static_cast<void>(make_grid(make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {false, false, false}), cells));
  } catch (const argument_error& refusal) {
    return refusal.what();
  }
  return "";
}

TEST(grid, names_the_counts_it_refuses) {
  EXPECT_EQ(refusal_of({4, 0, 4}), "cells along axis 1 is 0; at least 1 is needed");
  EXPECT_EQ(refusal_of({4, 4, -7}), "cells along axis 2 is -7; at least 1 is needed");
  EXPECT_EQ(refusal_of({2048, 1024, 1024}), "the grid has 2048 x 1024 x 1024 cells; at most 2147483647 are possible");
  EXPECT_EQ(refusal_of({1000000000, 2, 1}), "");
  EXPECT_EQ(refusal_of({1, 1, 1000000001}), "cells along axis 2 is 1000000001; at most 1000000000 are possible");
  EXPECT_NE(refusal_of({2147483647, 2147483647, 2147483647}), "");
}

}  // namespace

}  // namespace quadrat::test
