// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/levels/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "contacts/levels/one_size.hpp"
#include "quadrat/core/error.hpp"
#include "support/random.hpp"

// Levels for given sizes of bodies: every body has a level, memory per body is bounded, a given bin size is kept.

namespace quadrat::test {

namespace {

using detail::level_plan;
using detail::size_histogram;

/// A histogram with `bodies_of_each` bodies of each half extent.
size_histogram<double> histogram_of(const std::vector<double>& half_extents, std::uint64_t bodies_of_each) {
  size_histogram<double> result;
  for (const double half : half_extents) {
    result.counts[static_cast<std::size_t>(detail::size_class(half))] += bodies_of_each;
    result.largest = std::max(result.largest, half);
  }
  return result;
}

/// Log-uniform from largest / ratio to largest.
std::vector<double> random_half_extents(std::mt19937_64& random, double ratio, double largest) {
  std::vector<double> result{largest, largest / ratio};
  for (int k = 0; k < 100; ++k) result.push_back(largest * std::pow(ratio, -random_unit<double>(random)));
  return result;
}

box<double, 3> open_domain(double x, double y, double z) {
  return make_box<double, 3>({-1, 2, 3}, {-1 + x, 2 + y, 3 + z}, {});
}

/// The number of cells of a level.
std::size_t cells_of(const level_plan<double>& plan, int level) {
  const vec<int, 3>& cells = plan.grids.cells[level].cells;
  return static_cast<std::size_t>(cells[0]) * static_cast<std::size_t>(cells[1]) * static_cast<std::size_t>(cells[2]);
}

/// Expects cells numbered without gaps, and for each size a wide enough level with cells.
void expect_levels_for(const level_plan<double>& plan, const std::vector<double>& half_extents) {
  const auto& grids = plan.grids;
  ASSERT_GE(grids.count, 1);
  ASSERT_LE(grids.count, detail::most_levels);
  EXPECT_EQ(grids.first_cell[0], 0u);
  for (int level = 0; level < grids.count; ++level) {
    EXPECT_EQ(grids.first_cell[level + 1] - grids.first_cell[level], cells_of(plan, level));
    if (level > 0) {
      EXPECT_GT(grids.widest[level], grids.widest[level - 1]);
    }
  }
  const box<double, 3>& domain = grids.domain;
  for (const double half : half_extents) {
    const int level = grids.level_of(half);
    EXPECT_GE(grids.widest[level], half);
    for (const double where : {-0.5, 0.0, 0.7, 1.0, 3.0}) {
      const cell_id cell = grids.cell_of(domain.lower + domain.length * where, half);
      EXPECT_GE(cell, grids.first_cell[level]);
      EXPECT_LT(cell, grids.first_cell[level + 1]);
    }
  }
}

TEST(level_plans, have_a_level_for_every_size_and_cells_within_what_bodies_may_cost) {
  std::mt19937_64 random(1);
  for (const double ratio : {1.0, 3.0, 10.0, 100.0, 1e4, 1e8}) {
    for (const std::uint64_t bodies_of_each : {1, 100, 20'000}) {
      for (const auto& domain : {open_domain(50, 50, 50), open_domain(1000, 1000, 1e-3), open_domain(1e6, 1e-4, 1)}) {
        SCOPED_TRACE(message("ratio ", ratio, ", ", bodies_of_each, " of each, ", domain.length[2], " thick"));
        const std::vector<double> half_extents = random_half_extents(random, ratio, 2.0);
        const auto plan = detail::plan_levels(domain, histogram_of(half_extents, bodies_of_each), 0.0);
        expect_levels_for(plan, half_extents);
        const std::size_t bodies = half_extents.size() * bodies_of_each;
        for (int level = 0; level < plan.grids.count; ++level) {
          EXPECT_LE(cells_of(plan, level), 16 * (bodies + 16));
        }
        EXPECT_GT(plan.finest_edge, 0.0);
        EXPECT_EQ(plan.reason.rfind("least expected work; ", 0), 0u) << plan.reason;
      }
    }
  }
}

TEST(level_plans, have_one_level_for_one_size_and_several_for_tiny_bodies_among_huge_ones) {
  const auto domain = open_domain(100, 100, 100);
  EXPECT_EQ(detail::plan_levels(domain, histogram_of_one_size(0.5, 1'000'000), 0.0).grids.count, 1);
  size_histogram<double> sizes = histogram_of({0.1}, 1'000'000);
  const auto huge = histogram_of({10.0}, 1000);
  for (std::size_t k = 0; k < sizes.counts.size(); ++k) sizes.counts[k] += huge.counts[k];
  sizes.largest = huge.largest;
  const auto plan = detail::plan_levels(domain, sizes, 0.0);
  EXPECT_EQ(plan.grids.count, 2);
  EXPECT_LT(plan.grids.widest[0], 0.13);
  EXPECT_EQ(plan.grids.widest[1], 10.0);
  expect_levels_for(plan, {0.1, 10.0});
}

/// Candidates per body: bodies in the cells that a body looks into.
double candidates_of(const std::vector<vec<double, 3>>& centers, const box<double, 3>& domain, double radius) {
  const auto plan = detail::plan_levels(domain, histogram_of_one_size(radius, centers.size()), 0.0);
  const auto& grids = plan.grids;
  EXPECT_LE(cells_of(plan, 0), 16 * (centers.size() + 16));
  std::vector<double> bodies(grids.first_cell[1], 0);
  for (const auto& center : centers) ++bodies[grids.cell_of(center, radius)];
  double sum = 0;
  for (const auto& center : centers) {
    const auto range = grids.reach(0, center, vec<double, 3>::filled(2 * radius));
    for (int z = range.along[2].first; z <= range.along[2].last; ++z) {
      for (int y = range.along[1].first; y <= range.along[1].last; ++y) {
        index_range x{};
        const cell_id row = grids.stored_row(0, range, y, z, x);
        const int n = grids.cells[0].cells[0];
        for (int k = x.first; k <= x.last; ++k) sum += bodies[row + static_cast<cell_id>((k + n) % n)];
      }
    }
  }
  return sum / static_cast<double>(centers.size());
}

TEST(level_plans, cost_what_bodies_cost_in_a_domain_much_larger_than_they_are) {
  std::mt19937_64 random(5);
  const double radius = 0.5, side = 22;  // as dense as loose grains
  std::vector<vec<double, 3>> centers;
  for (int k = 0; k < 10'000; ++k) {
    centers.push_back(make_vec<double, 3>([&](int) { return side * random_unit<double>(random); }));
  }
  const double tight = candidates_of(centers, make_box<double, 3>({}, vec<double, 3>::filled(side), {}), radius);
  for (const double width : {100.0, 700.0, 1e6, 1e12}) {
    for (const bool periodic : {false, true}) {
      SCOPED_TRACE(message("width ", width, periodic ? ", periodic" : ", open"));
      if (periodic && width > 1e9) continue;  // longer than cells along an axis can be told apart
      const auto domain = make_box<double, 3>(vec<double, 3>::filled(-width), vec<double, 3>::filled(width),
                                              vec<bool, 3>::filled(periodic));
      EXPECT_LE(candidates_of(centers, domain, radius), 1.3 * tight);
      auto apart = centers;
      for (std::size_t k = 0; k < apart.size() / 2; ++k) apart[k] += vec<double, 3>::filled(width / 3);
      EXPECT_LE(candidates_of(apart, domain, radius), 1.3 * tight);
    }
  }
}

TEST(level_plans, keep_to_a_bin_size_and_double_it_for_larger_bodies) {
  std::mt19937_64 random(2);
  const auto domain = open_domain(64, 64, 64);
  const std::vector<double> half_extents = random_half_extents(random, 16, 2.0);
  const auto plan = detail::plan_levels(domain, histogram_of(half_extents, 10), 0.5);
  expect_levels_for(plan, half_extents);
  EXPECT_EQ(plan.finest_edge, 0.5);
  EXPECT_EQ(plan.reason.rfind("bin size asked for; ", 0), 0u) << plan.reason;
  ASSERT_EQ(plan.grids.count, 4);  // 0.5 to 4, for half extents to 2
  for (int level = 0; level < plan.grids.count; ++level) {
    const double edge = 0.5 * std::pow(2.0, level);
    EXPECT_EQ(1 / plan.grids.cells[level].rate[0], edge / 2);
    EXPECT_EQ(1 / plan.grids.cells[level].rate[1], edge);
    EXPECT_EQ(1 / plan.grids.cells[level].rate[2], edge);
    EXPECT_LE(2 * plan.grids.widest[level], edge);
  }
}

TEST(level_plans, put_what_is_too_large_for_all_levels_on_the_last) {
  std::mt19937_64 random(3);
  const std::vector<double> half_extents = random_half_extents(random, 1e6, 1e4);
  const auto plan = detail::plan_levels(open_domain(2, 2, 2), histogram_of(half_extents, 10), 0.02);
  expect_levels_for(plan, half_extents);
  EXPECT_EQ(plan.grids.count, detail::most_levels);
}

TEST(level_plans, number_as_many_cells_along_an_axis_as_a_grid_tells_apart) {
  const auto plan = detail::plan_levels(open_domain(1.5e9, 1, 1), histogram_of({0.5}, 100), 1.5);
  expect_levels_for(plan, {0.5});
  EXPECT_EQ(plan.grids.cells[0].cells[0], 1'000'000'000);
  EXPECT_EQ(plan.grids.level_of(0.5), 0);
}

/// The message of plan_levels for a bin size.
std::string complaint_about(const box<double, 3>& domain, const size_histogram<double>& sizes, double bin_size) {
  try {
    static_cast<void>(detail::plan_levels(domain, sizes, bin_size));
  } catch (const argument_error& problem) {
    return problem.what();
  }
  return {};
}

TEST(level_plans, refuse_a_bin_size_of_too_many_cells_and_name_one_that_would_do) {
  const auto sizes = histogram_of({1e-7, 1e-6, 1e-2, 1}, 100);
  for (const auto& domain : {open_domain(100, 100, 100), open_domain(100, 100, 1e-6), open_domain(1e5, 1e-6, 1e-6)}) {
    SCOPED_TRACE(message(domain.length[1], ", ", domain.length[2]));
    const std::string text = complaint_about(domain, sizes, 1e-6);
    EXPECT_EQ(text.rfind("a bin size of 1e-06 needs ", 0), 0u) << text;
    const std::string before = " bins; at most 2147483647 are possible: ";
    const std::size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos) << text;
    const double enough = std::stod(text.substr(at + before.size()));
    EXPECT_GT(enough, 1e-6);
    EXPECT_EQ(complaint_about(domain, sizes, enough), "");
  }
}

}  // namespace

}  // namespace quadrat::test
