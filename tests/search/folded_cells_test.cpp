// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "quadrat/core/error.hpp"
#include "search/cells.hpp"
#include "search/reduced_boxes.hpp"
#include "search/sweeps/walk.hpp"
#include "support/random.hpp"

// What a search looks at follows the points, however large the box is: candidates are counted.

namespace quadrat::test {

namespace {

template <typename T>
struct counted {
  std::size_t cells;
  double walked;  ///< candidates a point
  double swept;
};

/// Puts points into cells by `cell_of` and returns the offsets of cells.
template <typename T, typename F>
[[nodiscard]] std::vector<std::uint32_t> offsets_of_cells(const std::vector<vec<T, 3>>& points, std::size_t cells,
                                                          F&& cell_of) {
  std::vector<std::uint32_t> offsets(cells + 1, 0);
  for (const vec<T, 3>& point : points) ++offsets[cell_of(point) + 1];
  for (std::size_t cell = 1; cell < offsets.size(); ++cell) offsets[cell] += offsets[cell - 1];
  return offsets;
}

template <typename T>
[[nodiscard]] std::size_t walked_candidates(const std::vector<vec<T, 3>>& points, const lattice<T, 3>& box, T cutoff,
                                            bool anywhere, std::size_t& cells) {
  const std::size_t most = 64 + 4 * points.size();
  const auto systems =
      detail::make_search_systems<T, 3>(std::span(&box, 1), {vec<T, 3>::filled(cutoff), cutoff, most, anywhere});
  const detail::search_system<T, 3>& system = systems.front();
  cells = std::max(cells, detail::cell_count(systems));
  const auto offsets = offsets_of_cells(points, detail::cell_count(systems),
                                        [&](const vec<T, 3>& point) { return system.cell_of(point); });
  std::size_t sum = 0;
  for (const vec<T, 3>& point : points) {
    detail::for_each_image_run(
        system, system.reach(point, cutoff), {true, 1},
        [&](cell_id first, cell_id last, const vec<int, 3>&) { sum += offsets[last + 1] - offsets[first]; });
  }
  return sum;
}

template <typename T>
[[nodiscard]] std::size_t swept_candidates(const std::vector<vec<T, 3>>& points, const lattice<T, 3>& box, T cutoff,
                                           bool anywhere, std::size_t& cells) {
  const std::size_t most = 64 + 4 * points.size();
  const auto one_cell =
      detail::make_search_systems<T, 3>(std::span(&box, 1), {vec<T, 3>::filled(cutoff), cutoff, 1, false});
  const auto grids = detail::make_cuboid_grids<T, 3>(std::span(&box, 1), {cutoff, cutoff, most, anywhere});
  const detail::cuboid_grid<T, 3>& grid = grids.front();
  const std::size_t count = static_cast<std::size_t>(grid.cells.cells[0]) *
                            static_cast<std::size_t>(grid.cells.cells[1]) *
                            static_cast<std::size_t>(grid.cells.cells[2]);
  cells = std::max(cells, count);
  const auto offsets =
      offsets_of_cells(points, count, [&](const vec<T, 3>& point) { return grid.cells.cell_of(grid.place(point)); });
  std::size_t sum = 0;
  for (const vec<T, 3>& point : points) {
    detail::sweeps_target<T, 3> target{grid.bounds_of(point), {}};
    target.images =
        grid.folded ? detail::images_of_point(one_cell.front(), point, cutoff) : grid.images_near(target.bounds);
    detail::for_each_range(grid, offsets.data(), target, cutoff,
                           [&](std::uint32_t first, std::uint32_t last, const vec<int, 3>&) { sum += last - first; });
  }
  return sum;
}

/// Counts the candidates of each point: in cells of a cutoff, as `strips` walks them, and in the rows of `sweeps`.
template <typename T>
[[nodiscard]] counted<T> count_candidates(const std::vector<vec<T, 3>>& points, const lattice<T, 3>& box, T cutoff,
                                          bool anywhere) {
  std::vector<vec<T, 3>> wrapped;
  for (const vec<T, 3>& point : points) {
    vec<int, 3> boxes{};
    wrapped.push_back(box.wrap(point, boxes));
  }
  counted<T> result{};
  const auto count = static_cast<double>(points.size());
  result.walked = static_cast<double>(walked_candidates(wrapped, box, cutoff, anywhere, result.cells)) / count;
  result.swept = static_cast<double>(swept_candidates(wrapped, box, cutoff, anywhere, result.cells)) / count;
  return result;
}

/// `count` points, 40 of them within a cutoff of 1 of each.
template <typename T>
[[nodiscard]] std::vector<vec<T, 3>> blob(std::size_t count, const vec<T, 3>& center, std::mt19937_64& random) {
  const double side = std::cbrt(static_cast<double>(count) * 4.18879 / 40);
  std::vector<vec<T, 3>> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(center +
                     make_vec<T, 3>([&](int) { return static_cast<T>(side * (random_unit<double>(random) - 0.5)); }));
  }
  return points;
}

template <typename T>
[[nodiscard]] lattice<T, 3> box_around(const std::vector<vec<T, 3>>& points, bool periodic = false) {
  vec<T, 3> lower = points.front(), upper = points.front();
  for (const vec<T, 3>& point : points) {
    for (int axis = 0; axis < 3; ++axis) {
      lower[axis] = std::fmin(lower[axis], point[axis]);
      upper[axis] = std::fmax(upper[axis], point[axis]);
    }
  }
  return make_lattice(make_box<T, 3>(lower, upper, vec<bool, 3>::filled(periodic)));
}

}  // namespace

template <typename T>
class folded_cells : public testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(1);
    points = blob<T>(20'000, {}, random);
    tight = count_candidates<T>(points, box_around(points), 1, false);
  }
  void expect_no_more(const counted<T>& wide, double factor = 1.3) const {
    EXPECT_LE(wide.cells, 64 + 4 * points.size());
    EXPECT_LE(wide.walked, factor * tight.walked);
    EXPECT_LE(wide.swept, factor * tight.swept);
    EXPECT_GE(wide.swept, 40 * 0.8);
  }

  std::vector<vec<T, 3>> points;
  counted<T> tight;
};
using folded_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(folded_cells, folded_precisions);

TYPED_TEST(folded_cells, a_stray_point_costs_nothing) {
  using T = TypeParam;
  for (const T away : {T(100), T(1e4), T(1e6), T(1e9), T(1e15)}) {
    SCOPED_TRACE(away);
    auto all = this->points;
    all.push_back({away, away / 2, -away});
    this->expect_no_more(count_candidates<T>(all, box_around(all), 1, false));
  }
}

TYPED_TEST(folded_cells, a_box_much_wider_than_its_points_costs_nothing) {
  using T = TypeParam;
  for (const T wide : {T(30), T(1000), T(1e5)}) {
    SCOPED_TRACE(wide);
    const vec<T, 3> lower = vec<T, 3>::filled(T(-10) * wide), upper = vec<T, 3>::filled(T(10) * wide);
    for (const bool periodic : {false, true}) {
      const auto box = make_lattice(make_box<T, 3>(lower, upper, vec<bool, 3>::filled(periodic)));
      // Wrapped positions round by more than a cell along a million of them in float.
      if (periodic && sizeof(T) == 4 && wide > 1000) continue;
      this->expect_no_more(count_candidates<T>(this->points, box, 1, false));
    }
  }
}

TYPED_TEST(folded_cells, points_outside_of_the_box_cost_nothing) {
  using T = TypeParam;
  const auto box = make_lattice(make_box<T, 3>({}, {1, 1, 1}, {false, false, false}));
  this->expect_no_more(count_candidates<T>(this->points, box, 1, true));
}

TYPED_TEST(folded_cells, many_clusters_far_apart_cost_what_they_cost_alone) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  for (const std::size_t clusters : {2, 10, 64}) {
    for (const double apart : {1e3, 16384.0, 1e6}) {
      SCOPED_TRACE(std::to_string(clusters) + " clusters, " + std::to_string(apart) + " apart");
      std::vector<vec<T, 3>> all;
      for (std::size_t k = 0; k < clusters; ++k) {
        const auto center = make_vec<T, 3>([&](int) { return static_cast<T>(apart * random_unit<double>(random)); });
        const auto more = blob<T>(20'000 / clusters, center, random);
        all.insert(all.end(), more.begin(), more.end());
      }
      // A position of a million has three binary digits for a fraction in float.
      const bool coarse = sizeof(T) == 4 && apart > 1e5;
      this->expect_no_more(count_candidates<T>(all, box_around(all), 1, false), coarse ? 2 : 1.3);
    }
  }
}

/// Points uniform in a box, 40 of them within a cutoff of 1.
template <typename T>
[[nodiscard]] std::vector<vec<T, 3>> points_in(const lattice<T, 3>& box, std::mt19937_64& random) {
  const auto& v = box.vectors;
  const double volume = std::fabs(static_cast<double>(v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                                                      v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                                                      v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0])));
  std::vector<vec<T, 3>> points;
  for (std::size_t i = 0; i < static_cast<std::size_t>(volume * 40 / 4.18879); ++i) {
    vec<T, 3> point{};
    for (int k = 0; k < 3; ++k) point += random_unit<T>(random) * box.vectors[k];
    points.push_back(point);
  }
  return points;
}

TYPED_TEST(folded_cells, a_tilted_box_costs_what_an_upright_one_does) {
  using T = TypeParam;
  const auto candidates = [](const vec<vec<T, 3>, 3>& vectors) {
    std::mt19937_64 random(3);
    const auto box = make_lattice<T, 3>({}, vectors, vec<bool, 3>::filled(true));
    return count_candidates<T>(points_in(box, random), box, 1, false).swept;
  };
  const double upright = candidates({{{{12, 0, 0}}, {{0, 12, 0}}, {{0, 0, 12}}}});
  EXPECT_LE(candidates({{{{12, 0, 0}}, {{4, 12, 0}}, {{-5, 3, 12}}}}), 1.05 * upright);
  EXPECT_LE(candidates({{{{0, 12, 12}}, {{12, 0, 12}}, {{12, 12, 0}}}}), 1.05 * upright);
  EXPECT_LE(candidates({{{{12, 0, 0}}, {{30, 12, 0}}, {{30, 30, 12}}}}), 1.15 * upright);
}

/// Whether the box is smaller than two cutoffs or many times larger.
TYPED_TEST(folded_cells, shear_costs_nothing) {
  using T = TypeParam;
  const auto counted_in = [](double edge, double by) {
    std::mt19937_64 random(5);
    const auto e = static_cast<T>(edge);
    const auto given = make_lattice<T, 3>({}, {{{{e, 0, 0}}, {{0, e, 0}}, {{static_cast<T>(by) * e, 0, e}}}},
                                          vec<bool, 3>::filled(true));
    std::vector<detail::shift_map<3>> maps;
    const auto box = detail::searched_boxes<T, 3>(std::span(&given, 1), maps).front();
    return count_candidates<T>(points_in(box, random), box, 1, false);
  };
  for (const double edge : {1.5, 12.0}) {
    for (const double by : {1.0, 2.5, -7.3, 30.0, -300.0}) {
      SCOPED_TRACE(message("edge ", edge, ", sheared by ", by));
      const auto sheared = counted_in(edge, by);
      const auto shortest = counted_in(edge, std::remainder(by, 1));  // the same images
      // Of two cuboids around a box that are equally large, rounding chooses one.
      EXPECT_LE(sheared.walked, 1.1 * shortest.walked);
      EXPECT_LE(sheared.swept, 1.1 * shortest.swept);
    }
  }
}

/// In cells along the axes of coordinates it would fill a diagonal of a cube that is mostly empty.
TYPED_TEST(folded_cells, a_needle_in_any_direction_costs_what_an_upright_one_does) {
  using T = TypeParam;
  const auto candidates = [](const vec<vec<T, 3>, 3>& vectors) {
    std::mt19937_64 random(4);
    const auto box = make_lattice<T, 3>({}, vectors, vec<bool, 3>::filled(true));
    return count_candidates<T>(points_in(box, random), box, 1, false).swept;
  };
  const double upright = candidates({{{{3, 0, 0}}, {{0, 3, 0}}, {{0, 0, 600}}}});
  EXPECT_LE(candidates({{{{346, 346, 346}}, {{T(2.15), T(-2.15), 0}}, {{T(1.25), T(1.25), T(-2.5)}}}}), 1.1 * upright);
  EXPECT_LE(candidates({{{{T(2.15), T(-2.15), 0}}, {{346, 346, 346}}, {{T(1.25), T(1.25), T(-2.5)}}}}), 1.1 * upright);
}

}  // namespace quadrat::test
