// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/folding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "quadrat/core/curves.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/search/orders.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Folded grids: how many cells they store, that no walk meets one twice, that no neighbor is missed, and how many
// points share cells in boxes much larger than what the points fill.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct folded_case {
  grid<T, D> space;
  T reach;
  std::size_t points;
};

/// A large box of cells of about the reach, or half of it.
template <typename T, int D>
[[nodiscard]] folded_case<T, D> random_case(std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return random() % bound; };
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random));
  };
  vec<T, D> lower{}, upper{};
  vec<bool, D> periodic{};
  const T edge = below(2) == 0 ? T(1) : between(0.3, 3);
  for (int axis = 0; axis < D; ++axis) {
    const T length = edge * between(1, std::exp2(static_cast<double>(below(18))) + 1);
    lower[axis] = below(2) == 0 ? T(0) : -length * between(0, 1);
    upper[axis] = lower[axis] + length;
    periodic[axis] = below(2) == 0;
  }
  const auto domain = make_box(lower, upper, periodic);
  const T reach = below(2) == 0 ? edge : edge * between(0.2, 2.5);
  const grid<T, D> natural = make_grid_for_cutoff(domain, edge, any_number_of_cells);
  const std::size_t points = below(3000);
  return {folded(natural, {points, reach, below(4) == 0}), reach, points};
}

template <typename T, int D>
[[nodiscard]] vec<T, D> point_in(const box<T, D>& domain, std::mt19937_64& random) {
  return domain.wrap(make_vec<T, D>([&](int axis) {
    const std::size_t kind = random() % 8;
    if (kind < 2) return kind == 0 ? domain.lower[axis] : domain.upper(axis);
    const T x = domain.lower[axis] + domain.length[axis] * random_unit<T>(random);
    return x < domain.upper(axis) ? x : domain.upper(axis);
  }));
}

template <typename Order, typename T, int D>
[[nodiscard]] std::vector<cell_id> stored_cells_of(const grid<T, D>& space, const vec<T, D>& point, T distance) {
  const row_major_numbering<D> numbering{space.stored};
  std::vector<cell_id> cells;
  const auto write = [&](const vec<int, D>& cell) {
    for (int axis = 0; axis < D; ++axis) EXPECT_TRUE(cell[axis] >= 0 && cell[axis] < space.stored[axis]);
    cells.push_back(numbering.id(cell));
  };
  if constexpr (Order::by_strips) {
    Order::for_each_strip(space, point, distance, [&](vec<int, D> cell, int last) {
      for (; cell[0] <= last; ++cell[0]) write(cell);
    });
  } else {
    Order::for_each_cell(space, point, distance, write);
  }
  return cells;
}

/// A point nearer than `distance` to another, in the box, often barely so.
template <typename T, int D>
[[nodiscard]] vec<T, D> neighbor_of(const box<T, D>& domain, const vec<T, D>& point, T distance,
                                    std::mt19937_64& random) {
  const auto along = static_cast<int>(random() % D);
  const T part = random() % 2 == 0 ? T(1) : random_unit<T>(random);
  vec<T, D> other = point;
  other[along] += (random() % 2 == 0 ? part : -part) * distance;
  if (!domain.periodic[along]) {
    other[along] = std::fmin(std::fmax(other[along], domain.lower[along]), domain.upper(along));
  }
  return domain.wrap(other);
}

template <typename Order, typename T, int D>
void expect_each_cell_once(const folded_case<T, D>& it, const vec<T, D>& point, T distance, std::mt19937_64& random) {
  const auto cells = stored_cells_of<Order>(it.space, point, distance);
  const std::set<cell_id> distinct(cells.begin(), cells.end());
  ASSERT_EQ(distinct.size(), cells.size()) << Order::name;
  const row_major_numbering<D> numbering{it.space.stored};
  for (int k = 0; k < 8; ++k) {
    const vec<T, D> other = neighbor_of(it.space.domain, point, distance, random);
    if (!(squared_norm(it.space.domain.separation(point, other)) < distance * distance)) continue;
    ASSERT_EQ(distinct.count(numbering.id(it.space.cell_of(other))), 1u) << Order::name;
  }
}

template <typename T, int D>
void check_walks(std::uint64_t seed, std::size_t& folded_cases) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + D);
  const auto it = random_case<T, D>(random);
  if (it.space.folded) ++folded_cases;
  std::string axes;
  for (int axis = 0; axis < D; ++axis) {
    axes += message(" ", it.space.cells[axis], it.space.domain.periodic[axis] ? " periodic" : " open", " cells, ",
                    it.space.stored[axis], " stored;");
  }
  SCOPED_TRACE(message(D, "D, seed ", seed, ", reach ", it.reach, ",", axes));
  if (it.space.folded) {
    const double most = stored_cells_a_point * static_cast<double>(it.points);
    EXPECT_LE(static_cast<double>(it.space.size()), std::fmax(most, 0x1p18));
  }
  for (int k = 0; k < 10; ++k) {
    const vec<T, D> point = point_in(it.space.domain, random);
    T distance = it.reach * (k % 2 == 0 ? T(1) : random_unit<T>(random) + T(0.01));
    if (k == 9 && it.space.size() < 100000) distance *= T(4);  // wider than the grid was folded for
    for (int axis = 0; axis < D; ++axis) {
      if (it.space.domain.periodic[axis]) distance = std::fmin(distance, it.space.domain.length[axis] / 2);
    }
    expect_each_cell_once<search_orders::default_order>(it, point, distance, random);
    expect_each_cell_once<search_orders::strips>(it, point, distance, random);
    expect_each_cell_once<search_orders::modular>(it, point, distance, random);
    expect_each_cell_once<search_orders::hybrid>(it, point, distance, random);
    expect_each_cell_once<search_orders::trimmed>(it, point, distance, random);
    if (testing::Test::HasFailure()) return;
  }
}

/// The mean number of points in the cells that a walk meets, of points in cells of edge 1.
[[nodiscard]] double mean_candidates(const grid<double, 3>& space, const std::vector<vec<double, 3>>& points) {
  const row_major_numbering<3> numbering{space.stored};
  std::vector<std::uint32_t> held(space.size());
  for (const auto& point : points) ++held[numbering.id(space.cell_of(point))];
  double sum = 0;
  for (const auto& point : points) {
    for (const cell_id cell : stored_cells_of<search_orders::strips>(space, point, 1.0)) sum += held[cell];
  }
  return sum / static_cast<double>(points.size());
}

/// Points at random in a cuboid.
[[nodiscard]] std::vector<vec<double, 3>> filled(std::size_t count, const vec<double, 3>& lower,
                                                 const vec<double, 3>& size) {
  std::mt19937_64 random(7);
  std::vector<vec<double, 3>> points(count);
  for (auto& point : points) {
    for (int axis = 0; axis < 3; ++axis) point[axis] = lower[axis] + size[axis] * random_unit<double>(random);
  }
  return points;
}

[[nodiscard]] grid<double, 3> folded_cube(double side, std::size_t points, bool periodic) {
  const auto domain = make_box<double, 3>({}, vec<double, 3>::filled(side), vec<bool, 3>::filled(periodic));
  return folded(make_grid_for_cutoff(domain, 1.0, any_number_of_cells), {points, 1.0});
}

}  // namespace

TEST(folding, every_order_meets_each_stored_cell_once_and_misses_no_neighbor) {
  std::size_t folded_cases = 0;
  for (std::uint64_t seed = 0; seed < 150 && !HasFailure(); ++seed) {
    check_walks<float, 2>(seed, folded_cases);
    check_walks<float, 3>(seed, folded_cases);
    check_walks<double, 2>(seed, folded_cases);
    check_walks<double, 3>(seed, folded_cases);
  }
  EXPECT_GT(folded_cases, 300u);
}

TEST(folding, leaves_grids_with_few_cells_as_they_are) {
  const auto domain = make_box<float, 3>({}, {10, 20, 30}, {false, true, false});
  const auto space = make_grid_for_cutoff(domain, 1.0f, any_number_of_cells);
  for (const auto& same : {folded(space, {1500, 1.0f}), folded(space, {100'000, 1.0f})}) {
    EXPECT_FALSE(same.folded);
    EXPECT_EQ(same.stored, space.cells);
  }
}

TEST(folding, candidates_follow_the_points_and_not_the_box) {
  constexpr std::size_t n = 8000;
  const auto blob = filled(n, {}, {13, 13, 13});
  const double tight = mean_candidates(folded_cube(13, n, false), blob);
  for (const double side : {400.0, 13000.0, 1e6, 1e9}) {
    for (const bool periodic : {false, true}) {
      SCOPED_TRACE(message("side ", side, periodic ? ", periodic" : ""));
      const auto space = folded_cube(side, n, periodic);
      ASSERT_TRUE(space.folded);
      EXPECT_LE(space.size(), 4 * n);
      EXPECT_LE(mean_candidates(space, blob), 1.3 * tight);
      auto stray = blob;
      stray.front() = vec<double, 3>::filled(side);
      EXPECT_LE(mean_candidates(space, stray), 1.3 * tight);
      auto apart = blob;
      for (std::size_t i = 0; i < n; i += 2) apart[i] += vec<double, 3>::filled(side / 2);
      EXPECT_LE(mean_candidates(space, apart), 1.3 * tight);
    }
  }
}

/// One point per cell: a sheet or a line is a small part of any cube around it. Folded to a cube, they would have 70
/// and 750 candidates.
TEST(folding, sheets_and_lines_are_not_crowded) {
  constexpr std::size_t n = 8000;
  const double side = std::sqrt(8000.0);
  for (const double box : {8000.0, 1e6}) {
    const auto space = folded_cube(box, n, false);
    for (int axis = 0; axis < 3; ++axis) {
      SCOPED_TRACE(message("box ", box, ", axis ", axis));
      vec<double, 3> sheet = vec<double, 3>::filled(side), line = vec<double, 3>::filled(0.5);
      sheet[axis] = 0.5;
      line[axis] = 8000;
      EXPECT_LE(mean_candidates(space, filled(n, {}, sheet)), 26);
      EXPECT_LE(mean_candidates(space, filled(n, {}, line)), 16);
    }
  }
}

TEST(folding, refuses_what_is_no_reach) {
  const auto space = make_grid_for_cutoff(make_box<float, 2>({}, {1e4f, 1e4f}, {}), 1.0f, any_number_of_cells);
  for (const float reach : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    expect_words(error_of<argument_error>([&] {
                   static_cast<void>(folded(space, {10, reach}));
                 }),
                 {"the reach of a folded grid"});
  }
  const auto once = folded(space, {10, 1.0f});
  expect_words(error_of<argument_error>([&] { static_cast<void>(folded(once, {10, 1.0f})); }), {"folded already"});
}

}  // namespace quadrat::test
