// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/search/lattice/image_rows.hpp"
#include "search/cells.hpp"
#include "search/levels/layer_rows.hpp"
#include "search/request.hpp"
#include "search/sweeps/walk.hpp"
#include "support/distributions.hpp"
#include "support/random.hpp"

// What a search looks at follows the points, however large the box is: candidates are counted.

namespace quadrat::test {

namespace {

/// The walks of all methods: by the cells of the box as `strips` and `levels` take them, and by those of a cuboid
/// around it, of one point as on GPUs and of points together as `sweeps` does.
enum walk { by_cells, by_layers, by_image_rows, by_sweeps, walk_count };
constexpr const char* name_of_walk[] = {"cells", "layers", "image rows", "sweeps"};

struct counted {
  std::size_t cells;
  std::array<double, walk_count> candidates;  ///< a point
};

/// Puts points into cells by `cell_of` and returns the offsets of cells.
template <typename T, int D, typename F>
[[nodiscard]] std::vector<std::uint32_t> offsets_of_cells(const std::vector<vec<T, D>>& points, std::size_t cells,
                                                          F&& cell_of) {
  std::vector<std::uint32_t> offsets(cells + 1, 0);
  for (const vec<T, D>& point : points) ++offsets[cell_of(point) + 1];
  for (std::size_t cell = 1; cell < offsets.size(); ++cell) offsets[cell] += offsets[cell - 1];
  return offsets;
}

/// A search of wrapped points in one box.
template <typename T, int D>
struct counted_search {
  std::vector<vec<T, D>> points;
  lattice<T, D> box;
  T cutoff;
  bool anywhere;
  counted found{};

  counted_search(const std::vector<vec<T, D>>& given, const lattice<T, D>& shape, T distance, bool any)
      : box(shape), cutoff(distance), anywhere(any) {
    for (const vec<T, D>& point : given) {
      vec<int, D> boxes{};
      points.push_back(box.wrap(point, boxes));
    }
    in_cells_of_box(by_cells, cutoff, [&](const auto& system, const auto& point, auto&& add) {
      detail::for_each_image_run(system, system.reach(point, cutoff), {true, 1},
                                 [&](cell_id first, cell_id last, const vec<int, D>&) { add(first, last); });
    });
    in_cells_of_box(by_layers, cutoff / detail::trimmed_cells_along_first_axis,
                    [&](const auto& system, const auto& point, auto&& add) {
                      const detail::layer_rows<T, D> rows(system, point, cutoff);
                      for (std::uint64_t k = 0; k < rows.count(); ++k) {
                        const detail::cell_run<D> run = rows[k];
                        if (run.first <= run.last) add(static_cast<cell_id>(run.first), static_cast<cell_id>(run.last));
                      }
                    });
    in_cells_of_cuboid();
  }

 private:
  [[nodiscard]] std::size_t most() const { return detail::most_cells(points.size()); }

  void note(walk which, std::uint64_t sum, std::size_t cells) {
    found.candidates[which] = static_cast<double>(sum) / static_cast<double>(points.size());
    found.cells = std::max(found.cells, cells);
  }

  template <typename F>
  void in_cells_of_box(walk which, T edge_along_x, F&& for_each_range_of) {
    vec<T, D> edges = vec<T, D>::filled(cutoff);
    edges[0] = edge_along_x;
    const auto systems = detail::make_search_systems<T, D>(std::span(&box, 1), {edges, cutoff, most(), anywhere});
    const detail::search_system<T, D>& system = systems.front();
    const auto offsets = offsets_of_cells(points, detail::cell_count(systems),
                                          [&](const vec<T, D>& point) { return system.cell_of(point); });
    std::uint64_t sum = 0;
    const auto add = [&](cell_id first, cell_id last) { sum += offsets[last + 1] - offsets[first]; };
    for (const vec<T, D>& point : points) for_each_range_of(system, point, add);
    note(which, sum, detail::cell_count(systems));
  }

  void in_cells_of_cuboid() {
    const auto one_cell =
        detail::make_search_systems<T, D>(std::span(&box, 1), {vec<T, D>::filled(cutoff), cutoff, 1, false});
    const auto grids = detail::make_cuboid_grids<T, D>(std::span(&box, 1), {cutoff, cutoff, most(), anywhere});
    const detail::cuboid_grid<T, D>& grid = grids.front();
    const auto offsets = offsets_of_cells(
        points, grid.cell_count(), [&](const vec<T, D>& point) { return grid.cells.cell_of(grid.place(point)); });
    std::uint64_t swept = 0, by_rows = 0;
    for (const vec<T, D>& point : points) {
      detail::sweeps_target<T, D> target{grid.bounds_of(point), {}};
      target.images =
          grid.folded ? detail::images_of_point(one_cell.front(), point, cutoff) : grid.images_near(target.bounds);
      detail::for_each_range(
          grid, offsets.data(), target, cutoff,
          [&](std::uint32_t first, std::uint32_t last, const vec<int, D>&) { swept += last - first; });
      const detail::image_rows<T, D> rows(grid, offsets.data(), point, cutoff);
      rows.for_each_image([&](const vec<int, D>& image) {
        rows.for_each_range(image, [&](const detail::row_range<D>& range) { by_rows += range.last - range.first; });
      });
    }
    note(by_sweeps, swept, grid.cell_count());
    note(by_image_rows, by_rows, grid.cell_count());
  }
};

template <typename T, int D>
[[nodiscard]] counted count_candidates(const std::vector<vec<T, D>>& points, const lattice<T, D>& box, T cutoff,
                                       bool anywhere) {
  return counted_search<T, D>(points, box, cutoff, anywhere).found;
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
    tight = count_candidates<T, 3>(points, box_around(points), 1, false);
  }
  void expect_no_more(const counted& wide, double factor = 1.3) const {
    EXPECT_LE(wide.cells, 64 + 4 * points.size());
    for (int which = 0; which < walk_count; ++which) {
      EXPECT_LE(wide.candidates[which], factor * tight.candidates[which]) << name_of_walk[which];
      EXPECT_GE(wide.candidates[which], 40 * 0.8) << name_of_walk[which];
    }
  }

  std::vector<vec<T, 3>> points;
  counted tight;
};
using folded_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(folded_cells, folded_precisions);

TYPED_TEST(folded_cells, a_stray_point_costs_nothing) {
  using T = TypeParam;
  for (const T away : {T(100), T(1e4), T(1e6), T(1e9), T(1e15)}) {
    SCOPED_TRACE(away);
    auto all = this->points;
    all.push_back({away, away / 2, -away});
    this->expect_no_more(count_candidates<T, 3>(all, box_around(all), 1, false));
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
      this->expect_no_more(count_candidates<T, 3>(this->points, box, 1, false));
    }
  }
}

TYPED_TEST(folded_cells, points_outside_of_the_box_cost_nothing) {
  using T = TypeParam;
  const auto box = make_lattice(make_box<T, 3>({}, {1, 1, 1}, {false, false, false}));
  this->expect_no_more(count_candidates<T, 3>(this->points, box, 1, true));
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
      this->expect_no_more(count_candidates<T, 3>(all, box_around(all), 1, false), coarse ? 2 : 1.3);
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
    return count_candidates<T, 3>(points_in(box, random), box, 1, false).candidates[by_sweeps];
  };
  const double upright = candidates({{{{12, 0, 0}}, {{0, 12, 0}}, {{0, 0, 12}}}});
  EXPECT_LE(candidates({{{{12, 0, 0}}, {{4, 12, 0}}, {{-5, 3, 12}}}}), 1.05 * upright);
  EXPECT_LE(candidates({{{{0, 12, 12}}, {{12, 0, 12}}, {{12, 12, 0}}}}), 1.05 * upright);
  EXPECT_LE(candidates({{{{12, 0, 0}}, {{30, 12, 0}}, {{30, 30, 12}}}}), 1.15 * upright);
}

/// In cells along the axes of coordinates it would fill a diagonal of a cube that is mostly empty.
TYPED_TEST(folded_cells, a_needle_in_any_direction_costs_what_an_upright_one_does) {
  using T = TypeParam;
  const auto candidates = [](const vec<vec<T, 3>, 3>& vectors) {
    std::mt19937_64 random(4);
    const auto box = make_lattice<T, 3>({}, vectors, vec<bool, 3>::filled(true));
    return count_candidates<T, 3>(points_in(box, random), box, 1, false).candidates[by_sweeps];
  };
  const double upright = candidates({{{{3, 0, 0}}, {{0, 3, 0}}, {{0, 0, 600}}}});
  EXPECT_LE(candidates({{{{346, 346, 346}}, {{T(2.15), T(-2.15), 0}}, {{T(1.25), T(1.25), T(-2.5)}}}}), 1.1 * upright);
  EXPECT_LE(candidates({{{{T(2.15), T(-2.15), 0}}, {{346, 346, 346}}, {{T(1.25), T(1.25), T(-2.5)}}}}), 1.1 * upright);
}

/// Of every distribution with the same number of neighbors on average, or, where many points are equal, for each pair.
template <typename T, int D>
void expect_every_distribution_cheap(bool periodic, bool anywhere) {
  constexpr double neighbors = 40;
  const std::size_t count = 10'000;
  const auto box = make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(1)), vec<bool, D>::filled(periodic)));
  counted usual{};
  for (const auto& [which, name] : all_distributions) {
    SCOPED_TRACE(message(name, ", periodic: ", periodic, ", anywhere: ", anywhere));
    const auto points = points_of<T, D>(which, count, 1);
    const T cutoff = std::fmax(distance_of_neighbors(points, neighbors), T(1e-9));
    // Positions that round by a good part of a cell have more of them in reach.
    if (32 * std::numeric_limits<T>::epsilon() > cutoff) continue;
    const double pairs = std::fmax(mean_neighbors(points, cutoff), neighbors);
    const counted found = count_candidates<T, D>(points, box, cutoff, anywhere);
    if (which == distribution::uniform) usual = found;
    EXPECT_LE(found.cells, 64 + 4 * count);
    for (int walk = 0; walk < walk_count; ++walk) {
      EXPECT_LE(found.candidates[walk], 1.75 * usual.candidates[walk] * pairs / neighbors) << name_of_walk[walk];
    }
  }
}

TYPED_TEST(folded_cells, every_distribution_costs_about_what_uniform_points_do) {
  using T = TypeParam;
  for (const bool periodic : {false, true}) {
    expect_every_distribution_cheap<T, 2>(periodic, false);
    expect_every_distribution_cheap<T, 3>(periodic, false);
  }
  expect_every_distribution_cheap<T, 2>(false, true);
  expect_every_distribution_cheap<T, 3>(false, true);
}

}  // namespace quadrat::test
