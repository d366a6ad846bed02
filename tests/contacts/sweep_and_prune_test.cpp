// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/sweep_and_prune/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "support/random.hpp"

// The pairs visited by the rows of a sweep, counted on the host.

namespace quadrat::test {

namespace {

using detail::placed_body;

struct visited {
  std::set<std::pair<particle_id, particle_id>> pairs;
  std::size_t longest_row = 0;
  std::size_t rows = 0;
  int axis = 0;
};

visited visit_all(const std::vector<placed_body<double>>& bodies, const box<double, 3>& domain) {
  const cpu_context context;
  detail::search_control<cpu_context> control(context);
  const detail::size_histogram<double> sizes{};
  const detail::placed_bodies<cpu_context, double> placed{bodies.data(), bodies.size(), &sizes, domain, &control};
  detail::sweep_engine<cpu_context, double> engine(context);
  static_cast<void>(engine.plan(placed, {}));
  engine.insert(placed);
  const auto search = engine.search();
  visited result;
  result.rows = engine.rows();
  result.axis = engine.axis();
  for (std::size_t row = 0; row < engine.rows(); ++row) {
    std::size_t met = 0;
    search.visit(row, [&](const placed_body<double>& p, const placed_body<double>& q) {
      EXPECT_TRUE(result.pairs.emplace(std::min(p.id, q.id), std::max(p.id, q.id)).second) << p.id << ", " << q.id;
      ++met;
      return true;
    });
    result.longest_row = std::max(result.longest_row, met);
  }
  return result;
}

/// Boxes of half extents up to `largest`.
std::vector<placed_body<double>> random_boxes(std::size_t count, const vec<double, 3>& lengths, double largest) {
  std::mt19937_64 random(count);
  std::vector<placed_body<double>> bodies(count);
  for (std::size_t k = 0; k < count; ++k) {
    bodies[k].id = static_cast<particle_id>(k);
    for (int axis = 0; axis < 3; ++axis) {
      bodies[k].center[axis] = lengths[axis] * random_unit<double>(random);
      bodies[k].half[axis] = largest * random_unit<double>(random);
    }
  }
  return bodies;
}

TEST(sweep_search, visits_those_pairs_once_that_overlap_along_the_axis_and_no_others) {
  const vec<double, 3> lengths{30, 10, 10};
  const auto bodies = random_boxes(700, lengths, 2);
  for (const bool periodic : {false, true}) {
    const box<double, 3> domain = make_box<double, 3>({}, lengths, {periodic, periodic, periodic});
    const visited found = visit_all(bodies, domain);
    ASSERT_EQ(found.axis, 0);
    std::set<std::pair<particle_id, particle_id>> wanted;
    for (const auto& a : bodies) {
      for (const auto& b : bodies) {
        const double apart = std::fabs(domain.separation(a.center, b.center)[0]);
        if (a.id < b.id && apart <= a.half[0] + b.half[0]) wanted.emplace(a.id, b.id);
      }
    }
    EXPECT_EQ(found.pairs, wanted) << periodic;
    EXPECT_GT(wanted.size(), 10'000u);
  }
}

TEST(sweep_search, no_row_is_much_longer_than_the_others_where_one_body_meets_all) {
  auto bodies = random_boxes(20'000, {1e5, 1, 1}, 1e-3);
  bodies[77].half = {1e5, 1, 1};
  const visited found = visit_all(bodies, make_box<double, 3>({}, {1e5, 1, 1}, {false, false, false}));
  EXPECT_EQ(found.axis, 0);
  EXPECT_GE(found.pairs.size(), bodies.size() - 1);
  EXPECT_LE(found.longest_row, 32u);
}

TEST(sweep_search, has_no_more_rows_than_memory_allows_where_all_bodies_meet) {
  const auto bodies = random_boxes(5000, {0, 0, 0}, 1);
  const cpu_context context;
  detail::search_control<cpu_context> control(context);
  const detail::size_histogram<double> sizes{};
  const box<double, 3> domain = make_box<double, 3>({-2, -2, -2}, {2, 2, 2}, {false, false, false});
  detail::sweep_engine<cpu_context, double> engine(context);
  const detail::placed_bodies<cpu_context, double> placed{bodies.data(), bodies.size(), &sizes, domain, &control};
  static_cast<void>(engine.plan(placed, {}));
  engine.insert(placed);
  EXPECT_LE(engine.rows(), std::size_t{1} << 18);
  EXPECT_EQ(engine.search().offsets[bodies.size()], std::uint64_t{5000} * 5001 / 2);
}

}  // namespace

}  // namespace quadrat::test
