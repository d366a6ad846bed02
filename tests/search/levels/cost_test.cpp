// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/backend.hpp"
#include "search/levels/engine.hpp"
#include "search/levels/long_rows.hpp"
#include "support/random.hpp"

// What a search by radii looks at follows the pairs, whatever the ratio of the radii is: candidates are counted, and
// the steps of the warps of a GPU, which wait for the longest row of their threads.

namespace quadrat::test {

namespace {

using point3 = vec<float, 3>;

struct cloud {
  std::vector<point3> points;
  std::vector<float> radii;
  float edge;  ///< of the open box around the origin
};

/// The candidates and the pairs of all points of a cloud.
struct work {
  double candidates = 0;
  double pairs = 0;
  double warp_steps = 0;  ///< of a GPU: a warp takes as long as the longest row of its threads

  [[nodiscard]] double by_pair() const { return candidates / pairs; }
  [[nodiscard]] double steps_by_pair() const { return warp_steps / pairs; }
};

/// Steps that a thread takes for a row of cells, in tests of a candidate: about 90 and 14 instructions.
constexpr double steps_of_cell_row = 6;

/// Of one row: candidates and rows of cells, as a thread of a GPU meets them.
struct row_work {
  double candidates = 0;
  double cell_rows = 0;
};

[[nodiscard]] row_work row_of_slot(const detail::levels_search<float, 3>& walk, std::size_t slot) {
  row_work row;
  walk.for_each_layer(walk.query_of(slot), slot, [&](const auto& layer, const detail::layer_rows<float, 3>& rows) {
    for (std::uint64_t number = 0; number < rows.count(); ++number) {
      const detail::cell_run<3> run = rows[number];
      ++row.cell_rows;
      if (run.first <= run.last) row.candidates += static_cast<double>(layer.end(run) - layer.begin(run));
    }
  });
  return row;
}

/// A thread gives a row up when it has taken as many candidates as it may; warps then share them, 32 at a time, and
/// count, then search again.
[[nodiscard]] double steps_of_warps(const detail::levels_search<float, 3>& walk, std::size_t points) {
  constexpr double most = detail::most_candidates_of_thread, most_cell_rows = detail::most_cell_rows_of_thread;
  double steps = 0;
  for (std::size_t warp = 0; warp < points; warp += 32) {
    double longest = 0;
    for (std::size_t slot = warp; slot < std::min(warp + 32, points); ++slot) {
      const row_work row = row_of_slot(walk, slot);
      const double walked = std::min(row.cell_rows, most_cell_rows) * steps_of_cell_row;
      longest = std::max(longest, walked + std::min(row.candidates, most));
      if (row.candidates > most || row.cell_rows > most_cell_rows) {
        const double length = std::max(static_cast<double>(detail::least_candidates_of_part),
                                       detail::least_candidates_a_cell_row * row.cell_rows);
        const double parts = std::ceil(row.candidates / length);
        steps += 2 * (row.candidates + parts * row.cell_rows * steps_of_cell_row) / 32;
      }
    }
    steps += longest;
  }
  return steps;
}

[[nodiscard]] work count_work(const cloud& what, cutoff_rule rule) {
  const cpu_context context;
  const auto half = point3::filled(what.edge / 2);
  const std::vector<lattice<float, 3>> boxes{make_lattice(make_box<float, 3>(half * -1.0f, half, {}))};
  neighbor_options<float> options;
  options.rule = rule;
  options.cutoff = *std::max_element(what.radii.begin(), what.radii.end());
  if (rule == cutoff_rule::sum_of_radii) options.cutoff *= 2;
  neighbor_input<float, 3> input;
  input.points = points_of(what.points);
  input.boxes = boxes;
  input.radii = what.radii.data();
  const auto systems =
      detail::make_search_systems<float, 3>(boxes, {point3::filled(options.cutoff), options.cutoff, 1, false});
  std::uint64_t fault_words[2] = {~std::uint64_t{0}, 0};
  detail::neighbor_search<float, 3> search{};
  search.points = input.points;
  search.systems = systems.data();
  search.system_count = 1;
  search.reach = options.cutoff;
  search.rule = rule;
  search.radii = input.radii;
  detail::level_cells<cpu_context, float, 3, detail::walked_grids<float, 3>> cells;
  cells.prepare(context, {input, what.points.size(), 1, false, false, true, false, nullptr, 0}, options, {true, 0});
  const detail::search_key<float, 3> key{search, false, {fault_words, fault_words + 1}};
  cells.fill(context, key, options.cutoff);
  EXPECT_EQ(fault_words[0], ~std::uint64_t{0});
  const detail::levels_search<float, 3> walk{search, cells.layers(), cells.slots()};
  work sum;
  for (std::size_t slot = 0; slot < what.points.size(); ++slot) {
    const auto query = walk.query_of(slot);
    walk.for_each_run(query, slot, [&](const auto&, std::size_t first, std::size_t last, const vec<int, 3>&) {
      sum.candidates += static_cast<double>(last - first);
    });
    walk.for_each_hit(query, slot, [&](auto&&...) { ++sum.pairs; });
  }
  sum.warp_steps = steps_of_warps(walk, what.points.size());
  return sum;
}

constexpr std::size_t cloud_points = 20'000;
/// With which points of one density 1 have about 40 neighbors.
constexpr float radius_of_40 = 1.06f;

[[nodiscard]] cloud uniform_cloud(float edge = 27.14f) {
  cloud result{{}, std::vector<float>(cloud_points, radius_of_40), edge};
  std::mt19937_64 random(1);
  const auto coordinate = [&](int) { return 27.14f * (random_unit<float>(random) - 0.5f); };
  for (std::size_t i = 0; i < cloud_points; ++i) result.points.push_back(make_vec<float, 3>(coordinate));
  return result;
}

}  // namespace

class radius_cost_test : public testing::TestWithParam<cutoff_rule> {
 protected:
  void SetUp() override {
    usual = count_work(for_rule(uniform_cloud()), GetParam());
    EXPECT_GT(usual.pairs, 30.0 * cloud_points);
  }
  /// Radii are those for sums; the other rules take twice as large ones.
  [[nodiscard]] static cloud for_rule(cloud what) {
    if (GetParam() != cutoff_rule::sum_of_radii) {
      for (float& radius : what.radii) radius *= 2;
    }
    return what;
  }
  /// Of candidates by pair.
  void expect_no_more(const cloud& what, double factor) const {
    const work found = count_work(for_rule(what), GetParam());
    EXPECT_GT(found.pairs, static_cast<double>(cloud_points));
    EXPECT_LE(found.by_pair(), factor * usual.by_pair())
        << usual.by_pair() << " candidates a pair where radii are equal";
    EXPECT_LE(found.steps_by_pair(), 1.5 * factor * usual.steps_by_pair())
        << usual.steps_by_pair() << " steps of warps a pair where radii are equal";
  }

  work usual;
};
INSTANTIATE_TEST_SUITE_P(rules, radius_cost_test,
                         testing::Values(cutoff_rule::sum_of_radii, cutoff_rule::larger_radius,
                                         cutoff_rule::own_radius));

/// Smoothed particles: radii follow the distances of points, over a ratio of 1:100.
TEST_P(radius_cost_test, radii_that_follow_the_density) {
  cloud what{{}, {}, 2.0f};
  std::mt19937_64 random(2);
  for (std::size_t i = 0; i < cloud_points; ++i) {
    point3 direction{};
    do {
      direction = make_vec<float, 3>([&](int) { return 2 * random_unit<float>(random) - 1; });
    } while (!(squared_norm(direction) < 1 && squared_norm(direction) > 0.01f));
    const float distance = std::pow(0.1587f + 0.8413f * random_unit<float>(random), 3.0f);
    what.points.push_back(distance / std::sqrt(squared_norm(direction)) * direction);
    const float density = static_cast<float>(cloud_points) / (0.8413f * 37.7f * std::pow(distance, 8.0f / 3));
    what.radii.push_back(radius_of_40 / std::cbrt(density));
  }
  expect_no_more(what, 5);
}

TEST_P(radius_cost_test, radii_of_any_ratio_among_each_other) {
  cloud what = uniform_cloud();
  std::mt19937_64 random(3);
  for (float& radius : what.radii) {
    radius = std::fmin(0.3f * std::pow(random_unit<float>(random) + 1e-6f, -0.4f), 30.0f);
  }
  expect_no_more(what, 4);
}

TEST_P(radius_cost_test, one_large_radius) {
  cloud what = uniform_cloud();
  what.radii[7] = 100;
  expect_no_more(what, 1.3);
}

TEST_P(radius_cost_test, a_few_large_radii_of_all_sizes) {
  cloud what = uniform_cloud();
  for (std::size_t k = 0; k < 40; ++k) what.radii[400 * k] = std::pow(1.12f, static_cast<float>(k));
  expect_no_more(what, 1.5);
}

TEST_P(radius_cost_test, one_stray_point_and_a_wide_box) {
  cloud what = uniform_cloud(1e6f);
  expect_no_more(what, 1.3);
  what.points[3] = {4e5f, -4e5f, 4e5f};
  what.radii[3] = 1e4f;
  expect_no_more(what, 1.3);
}

/// A clump of small points inside of large ones.
TEST_P(radius_cost_test, small_points_close_together) {
  cloud what = uniform_cloud();
  for (std::size_t i = 0; i < cloud_points; i += 2) {
    what.points[i] = 0.01f * what.points[i];
    what.radii[i] = 0.01f;
  }
  expect_no_more(what, 2);
}

}  // namespace quadrat::test
