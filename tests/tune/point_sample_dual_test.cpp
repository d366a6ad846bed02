// SPDX-License-Identifier: BSD-3-Clause
#include "tune/point_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "quadrat/core/array.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// One sampling pass over points: what it says of their distribution and their order.

namespace quadrat::test {

namespace {

[[nodiscard]] box<float, 3> unit_box(bool periodic) {
  return make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {periodic, periodic, periodic});
}

[[nodiscard]] detail::point_sample sample_of(const std::vector<vec<float, 3>>& points, double edge,
                                             bool periodic = false) {
  const backend_context context = backend_context();
  const auto on_device = to_device(context, points);
  workspace<backend_context> scratch;
  return detail::sample_points(context, points_of(on_device), detail::cells_for_sample(unit_box(periodic), edge),
                               scratch);
}

class point_sample_test : public backend_test {};

[[nodiscard]] std::vector<vec<float, 3>> uniform_points(std::size_t n, float side = 1) {
  std::vector<vec<float, 3>> points(n);
  std::mt19937_64 random(11);
  for (auto& point : points) {
    for (int axis = 0; axis < 3; ++axis) point[axis] = side * random_unit<float>(random);
  }
  return points;
}

TEST_F(point_sample_test, uniform_points_have_the_occupancy_of_their_density) {
  for (const std::size_t n : {2000u, 50000u}) {
    const detail::point_sample sample = sample_of(uniform_points(n), 0.1);
    EXPECT_EQ(sample.cells, 1000);
    EXPECT_NEAR(sample.occupancy, static_cast<double>(n) / 1000, 0.3 * static_cast<double>(n) / 1000) << n;
    EXPECT_NEAR(sample.distance, 1, 0.1);
    EXPECT_LT(sample.same, 0.02);
    EXPECT_NEAR(sample.occupied, -std::expm1(-static_cast<double>(n) / 1000), 0.1) << n;
    EXPECT_NEAR(sample.crowding(static_cast<double>(n)), 1, 0.35);
  }
}

TEST_F(point_sample_test, points_sorted_by_cell_have_the_occupancy_of_their_density) {
  for (const float side : {1.0F, 0.5F}) {
    auto points = uniform_points(50'000, side);
    const auto cell = [](const vec<float, 3>& x) {
      return (static_cast<int>(10 * x[2]) * 10 + static_cast<int>(10 * x[1])) * 10 + static_cast<int>(10 * x[0]);
    };
    std::sort(points.begin(), points.end(), [&](const auto& a, const auto& b) { return cell(a) < cell(b); });
    const detail::point_sample sample = sample_of(points, 0.1);
    // By the few ends of runs that the stretches have.
    const double share = side * side * side, others = 50 / share;
    EXPECT_GT(sample.occupancy, 0.25 * others) << side;
    EXPECT_LT(sample.occupancy, 4 * others) << side;
    EXPECT_GT(sample.fullest, sample.occupancy);
    EXPECT_LT(sample.occupied, 4 * share) << side;
  }
}

/// Bits of three cell numbers, interleaved.
[[nodiscard]] std::uint32_t morton_code(const vec<float, 3>& x) {
  std::uint32_t code = 0;
  for (std::uint32_t bit = 0; bit < 7; ++bit) {
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      code |= (static_cast<std::uint32_t>(x[static_cast<int>(axis)] * 128) >> bit & 1u) << (3 * bit + axis);
    }
  }
  return code;
}

TEST_F(point_sample_test, points_in_morton_order_have_the_occupancy_of_their_density) {
  // A cell has several stretches of memory, which lie far apart.
  for (const std::size_t n : {5000u, 50000u, 400000u}) {
    auto points = uniform_points(n);
    std::sort(points.begin(), points.end(),
              [](const auto& a, const auto& b) { return morton_code(a) < morton_code(b); });
    const detail::point_sample sample = sample_of(points, 0.1);
    const double others = static_cast<double>(n) / 1000;
    EXPECT_GT(sample.occupancy, others / 2) << n;
    EXPECT_LT(sample.occupancy, others * 2) << n;
    EXPECT_GT(sample.fullest, sample.occupancy);
  }
}

TEST_F(point_sample_test, of_few_points_all_are_counted) {
  const auto points = uniform_points(1500);
  std::vector<double> cells(1000, 0);
  for (const auto& x : points) {
    ++cells[static_cast<std::size_t>((static_cast<int>(10 * x[2]) * 10 + static_cast<int>(10 * x[1])) * 10 +
                                     static_cast<int>(10 * x[0]))];
  }
  double others = 0, fullest = 0;
  for (const double count : cells) {
    others += count * (count - 1) / 1500;
    fullest = std::max(fullest, count);
  }
  const detail::point_sample sample = sample_of(points, 0.1);
  EXPECT_NEAR(sample.occupancy, others, 0.01 * others);
  EXPECT_NEAR(sample.fullest, fullest, 1);
}

TEST_F(point_sample_test, windows_of_a_sample_lie_apart_and_within_the_points) {
  for (const std::size_t points : {2049u, 2080u, 3000u, 65535u, 10'000'000u}) {
    const detail::point_sample_layout layout(points);
    EXPECT_EQ(layout.taken, 2048u);
    for (std::size_t s = 1; s < layout.taken; ++s) EXPECT_LT(layout.point(s - 1), layout.point(s)) << points;
    EXPECT_LT(layout.point(layout.taken - 1), points);
  }
}

TEST_F(point_sample_test, points_in_a_corner_have_more_occupancy_and_fill_fewer_cells) {
  const detail::point_sample sample = sample_of(uniform_points(20000, 0.2F), 0.1);
  EXPECT_NEAR(sample.occupancy, 20000 / 8.0, 300);
  EXPECT_NEAR(sample.occupied, 8 / 1000.0, 0.002);
  EXPECT_GT(sample.crowding(20000), 50);
}

/// Most of the cells that have points are seen by no point of the sample.
TEST_F(point_sample_test, cells_of_lone_points_around_a_crowd_are_not_forgotten) {
  auto points = uniform_points(20000);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (int axis = 0; i % 10 != 0 && axis < 3; ++axis) points[i][axis] *= 0.05F;
  }
  std::shuffle(points.begin(), points.end(), std::mt19937_64(3));
  EXPECT_NEAR(sample_of(points, 0.1).occupied, -std::expm1(-2.0), 0.2);
}

TEST_F(point_sample_test, points_outside_an_endless_axis_are_no_crowd) {
  const backend_context context = backend_context();
  const auto points = uniform_points(50000);
  const auto on_device = to_device(context, points);
  workspace<backend_context> scratch;
  const box<float, 3> half = make_box<float, 3>({0, 0, 0}, {1, 1, 0.5F}, {true, true, false});
  const auto sample = [&](bool outside) {
    detail::sampled_cells cells = detail::cells_for_sample(half, 0.1);
    cells.endless = outside;
    return detail::sample_points(context, points_of(on_device), cells, scratch);
  };
  EXPECT_GT(sample(false).occupancy, 150);  // half of the points are in one layer
  EXPECT_NEAR(sample(true).occupancy, 50, 15);
  EXPECT_NEAR(sample(true).distance, 1, 0.1);
  EXPECT_EQ(sample(true).cells, 1000);
}

TEST_F(point_sample_test, two_grids_at_once_give_what_each_gives_alone) {
  const backend_context context = backend_context();
  workspace<backend_context> scratch;
  for (const std::size_t count : {0u, 1u, 31u, 2048u, 2049u, 30'000u}) {
    const auto on_device = to_device(context, uniform_points(count, 0.7F));
    const auto cells = [](double edge) { return detail::cells_for_sample(unit_box(true), edge); };
    const std::array<detail::sampled_cells, 2> grids{cells(0.3), cells(0.04)};
    const auto together = detail::sample_points(context, points_of(on_device), grids, scratch);
    ASSERT_EQ(together.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto alone = detail::sample_points(context, points_of(on_device), grids[k], scratch);
      EXPECT_EQ(together[k].occupancy, alone.occupancy) << count;
      EXPECT_EQ(together[k].fullest, alone.fullest) << count;
      EXPECT_EQ(together[k].occupied, alone.occupied) << count;
      EXPECT_EQ(together[k].distance, alone.distance) << count;
    }
  }
}

TEST_F(point_sample_test, points_in_one_place_are_all_in_the_fullest_cell) {
  const detail::point_sample sample = sample_of(std::vector<vec<float, 3>>(10000, {0.5F, 0.5F, 0.5F}), 0.01);
  EXPECT_NEAR(sample.fullest, 10000, 1);
  EXPECT_NEAR(sample.occupancy, 9999, 1);
  EXPECT_EQ(sample.same, 1);
  EXPECT_EQ(sample.distance, 0);
}

TEST_F(point_sample_test, stored_in_order_neighbors_in_memory_are_near) {
  auto points = uniform_points(40000);
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a[2] < b[2]; });
  EXPECT_LT(sample_of(points, 0.1).distance, 0.2);
}

TEST_F(point_sample_test, takes_any_input) {
  EXPECT_EQ(sample_of({}, 0.1).seen, 0);
  const detail::point_sample one = sample_of({{0.5F, 0.5F, 0.5F}}, 0.1);
  EXPECT_EQ(one.seen, 1);
  EXPECT_EQ(one.occupancy, 0);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const bool periodic : {false, true}) {
    const detail::point_sample odd =
        sample_of({{nan, infinity, -infinity}, {1e30F, -1e30F, 0}, {-0.5F, 1.5F, 1}}, 1e-9, periodic);
    EXPECT_EQ(odd.seen, 3);
    EXPECT_TRUE(std::isfinite(odd.occupancy) && std::isfinite(odd.distance));
  }
}

}  // namespace

}  // namespace quadrat::test
