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
#include "search/reduced_boxes.hpp"
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

  [[nodiscard]] std::size_t counted_points() const { return std::min<std::size_t>(points.size(), 3001); }
  template <typename F>
  void for_some_points(F&& f) const {
    for (std::size_t i = 0; i < counted_points(); ++i) f(points[i * points.size() / counted_points()]);
  }

  void note(walk which, std::uint64_t sum, std::size_t cells) {
    found.candidates[which] = static_cast<double>(sum) / static_cast<double>(counted_points());
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
    for_some_points([&](const vec<T, D>& point) { for_each_range_of(system, point, add); });
    note(which, sum, detail::cell_count(systems));
  }

  void in_cells_of_cuboid() {
    const auto grids = detail::make_cuboid_grids<T, D>(std::span(&box, 1), {cutoff, cutoff, most(), anywhere});
    const detail::cuboid_grid<T, D>& grid = grids.front();
    const auto offsets = offsets_of_cells(
        points, grid.cell_count(), [&](const vec<T, D>& point) { return grid.cells.cell_of(grid.place(point)); });
    std::uint64_t swept = 0, by_rows = 0;
    for_some_points([&](const vec<T, D>& point) {
      const vec<T, D> at = grid.coordinates(point);
      const detail::cuboid_bounds<T, D> bounds{at, at, grid.slack_at(point, at)};
      detail::for_each_range(
          grid, offsets.data(), detail::sweeps_target<T, D>{bounds, grid.images_near(bounds)}, cutoff,
          [&](std::uint32_t first, std::uint32_t last, const vec<int, D>&) { swept += last - first; });
      const detail::image_rows<T, D> rows(grid, offsets.data(), point, cutoff);
      rows.for_each_image([&](const vec<int, D>& image) {
        rows.for_each_range(image, [&](const detail::row_range<D>& range) { by_rows += range.last - range.first; });
      });
    });
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

/// Whether the box is smaller than two cutoffs or many times larger.
TYPED_TEST(folded_cells, shear_costs_nothing) {
  using T = TypeParam;
  const auto candidates = [](double edge, double by) {
    std::mt19937_64 random(5);
    const auto e = static_cast<T>(edge);
    const auto given = make_lattice<T, 3>({}, {{{{e, 0, 0}}, {{0, e, 0}}, {{static_cast<T>(by) * e, 0, e}}}},
                                          vec<bool, 3>::filled(true));
    std::vector<detail::shift_map<3>> maps;
    const auto box = detail::searched_boxes<T, 3>(std::span(&given, 1), maps).front();
    return count_candidates<T, 3>(points_in(box, random), box, 1, false).candidates;
  };
  for (const double edge : {1.5, 12.0}) {
    for (const double by : {1.0, 2.5, -7.3, 30.0, -300.0}) {
      SCOPED_TRACE(message("edge ", edge, ", sheared by ", by));
      const auto sheared = candidates(edge, by);
      const auto shortest = candidates(edge, std::remainder(by, 1));  // the same images
      for (int which = 0; which < walk_count; ++which) {
        // Of two cuboids around a box that are equally large, rounding chooses one.
        EXPECT_LE(sheared[which], 1.1 * shortest[which]) << name_of_walk[which];
      }
    }
  }
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

/// Shapes of points, 40 of which are within a cutoff of 1 of each, much smaller than their box, in the middle of it.
template <typename T, int D>
struct points_of_shape {
  static constexpr double on_line = 20, on_sheet = 40 / 3.14159, in_volume = D == 3 ? 40 / 4.18879 : on_sheet;
  std::size_t count;
  std::mt19937_64 random{6};

  /// A component from -1/2 to 1/2 of the length.
  [[nodiscard]] double along(double length) { return length * (random_unit<double>(random) - 0.5); }
  [[nodiscard]] static vec<double, D> unit(const vec<double, 3>& direction) {
    const auto v = make_vec<double, D>([&](int axis) { return direction[axis]; });
    return v / std::sqrt(squared_norm(v));
  }
  [[nodiscard]] vec<double, D> in_spot(double points) {
    const double edge = std::pow(points / in_volume, 1.0 / D);
    return make_vec<double, D>([&](int) { return along(edge); });
  }
  [[nodiscard]] vec<double, D> on_line_along(const vec<double, 3>& direction, double points) {
    return along(points / on_line) * unit(direction);
  }
  /// Spanned by two directions at right angles; in 2D it is a spot.
  [[nodiscard]] vec<double, D> on_sheet_along(const vec<double, 3>& a, const vec<double, 3>& b) {
    if (D == 2) return in_spot(static_cast<double>(count));
    const double edge = std::sqrt(static_cast<double>(count) / on_sheet);
    return along(edge) * unit(a) + along(edge) * unit(b);
  }
  [[nodiscard]] vec<double, D> on_helix() {
    const double length = static_cast<double>(count) / on_line, radius = length / 100, angle = along(length) / radius;
    vec<double, D> point{};
    point[0] = radius * std::cos(angle);
    point[1] = radius * std::sin(angle);
    point[D - 1] += radius / 2 * angle;
    return point;
  }
  [[nodiscard]] vec<double, D> point(std::size_t shape, std::size_t i) {
    const auto all = static_cast<double>(count);
    switch (shape) {
      case 0:
        return in_spot(all);
      case 1:
        return on_line_along({1, 0, 0}, all);
      case 2:
        return on_line_along({0, 1, 0}, all);
      case 3:
        return on_line_along({0, D == 2 ? 1.0 : 0.0, 1}, all);
      case 4:
        return on_line_along({1, 1, 1}, all);
      case 5:
        return on_line_along({3, -1, 2}, all);
      case 6:
        return on_sheet_along({1, 0, 0}, {0, 1, 0});
      case 7:
        return on_sheet_along({1, 0, 0}, {0, 0, 1});
      case 8:
        return on_sheet_along({0, 1, 0}, {0, 0, 1});
      case 9:
        return on_sheet_along({1, 2, 0}, {2, -1, 3});
      case 10:
        return on_helix();
      case 11: {
        vec<double, 3> axis{};
        axis[static_cast<int>(i % D)] = 1;
        return on_line_along(axis, all / D);
      }
      default:
        return in_spot(all / 2) + vec<double, D>::filled(i % 2 == 0 ? 0 : 345.6);
    }
  }
  [[nodiscard]] std::vector<vec<T, D>> operator()(std::size_t shape, double middle) {
    std::vector<vec<T, D>> points;
    for (std::size_t i = 0; i < count; ++i) {
      points.push_back(cast<T>(point(shape, i) + vec<double, D>::filled(middle)));
    }
    return points;
  }
};
constexpr const char* name_of_shape[] = {"spot",        "line along x", "line along y", "line along the last axis",
                                         "diagonal",    "tilted line",  "sheet xy",     "sheet xz",
                                         "sheet yz",    "tilted sheet", "helix",        "cross",
                                         "two clusters"};

/// For numbers of points with which few and with which many cells are stored for each.
template <typename T, int D>
void expect_every_shape_cheap(std::size_t count) {
  points_of_shape<T, D> make{count};
  const auto spot = make(0, 0);
  vec<T, D> half = vec<T, D>::filled(static_cast<T>(std::pow(static_cast<double>(count) / make.in_volume, 1.0 / D)));
  const auto tight = make_lattice(make_box<T, D>(half / T(-2), half / T(2), {}));
  const counted usual = count_candidates<T, D>(spot, tight, 1, false);
  for (std::size_t shape = 0; shape < std::size(name_of_shape); ++shape) {
    const auto points = make(shape, 12345.6);
    for (const int kind : {0, 1, 2}) {
      SCOPED_TRACE(message(name_of_shape[shape], " of ", count, ", ", D, "D, box ", kind));
      const auto box = make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(24691.2)), vec<bool, D>::filled(kind == 1)));
      const counted found = count_candidates<T, D>(points, box, 1, kind == 2);
      EXPECT_LE(found.cells, 64 + 4 * count);
      // Positions of 10^4 are rounded by 10^-3 in float, and those in a periodic box by that of its length.
      const double most = sizeof(T) == 4 && kind == 1 ? 2 : 1.3;
      for (int walk = 0; walk < walk_count; ++walk) {
        EXPECT_LE(found.candidates[walk], most * usual.candidates[walk]) << name_of_walk[walk];
        EXPECT_GE(found.candidates[walk], 40 * 0.8) << name_of_walk[walk];
      }
    }
  }
}

TYPED_TEST(folded_cells, every_shape_in_a_large_box_costs_what_a_spot_in_a_tight_one_does) {
  using T = TypeParam;
  for (const std::size_t count : {16'000, 20'000, 100'000}) {
    expect_every_shape_cheap<T, 2>(count);
    expect_every_shape_cheap<T, 3>(count);
  }
}

}  // namespace quadrat::test
