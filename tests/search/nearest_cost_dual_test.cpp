// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "nearest_support.hpp"
#include "search/nearest/box.hpp"
#include "search/nearest/cuda/rows.hpp"
#include "search/nearest/points.hpp"
#include "search/nearest/rows.hpp"
#include "support/distributions.hpp"

// The cost of a search follows the number of points, not where they are: nodes and leaves are counted.

namespace quadrat::test {

namespace {

template <typename T>
using cloud = std::vector<vec<T, 3>>;

#if QUADRAT_BACKEND_CPU
constexpr double most_usual = 100;
/// Of the visits for uniform points and queries.
constexpr double most_for_points = 1.5, most_for_queries = 2.5;
constexpr std::size_t points_of_walk = detail::nearest_width, queries_of_walk = 1;
#else
constexpr double most_usual = 250;
constexpr double most_for_points = 3, most_for_queries = 3;
constexpr std::size_t points_of_walk = 32, queries_of_walk = 32;
#endif

/// Nodes and leaves tested by a walk, images included: on average, and at most.
struct search_visits {
  double mean;
  double most;
};
/// By a search for the neighbors of points or, if there are some, of queries.
template <typename T>
[[nodiscard]] search_visits visits_among(const cloud<T>& host, const lattice<T, 3>& box, std::size_t k = 16,
                                         const cloud<T>& queries = {}) {
  const backend_context context;
  const nearest_options<T> options{.k = k};
  detail::nearest_points<backend_context, T, 3> points(context, detail::make_nearest_images(box, options), false);
  const auto device = to_device(context, host), asked = to_device(context, queries);
  points.build(points_of(device));
  const std::size_t rows = queries.empty() ? host.size() : queries.size();
  const std::size_t walk = queries.empty() ? points_of_walk : queries_of_walk;
  array<std::uint32_t, backend_context> visits(context, (rows + walk - 1) / walk);
  array<particle_id, backend_context> neighbors(context, rows * k);
  array<T, backend_context> squared(context, rows * k);
  detail::nearest_search<T, 3> search{};
  search.tree = points.tree();
  search.images = detail::images_for(points.images(), host.size(), k);
  search.sink.neighbors = neighbors.data();
  search.sink.squared_distances = squared.data();
  search.sink.k = k;
  search.squared_cutoff = options.cutoff;
  search.visits = visits.data();
  if (!queries.empty()) {
    search.queries = points_of(asked);
    search.order = points.enqueue_query_order(search.queries);
  }
  detail::find_nearest_rows(context, search, rows);
  double sum = 0, most = 0;
  for (const auto count : to_host(context, visits)) {
    sum += static_cast<double>(count);
    most = std::fmax(most, static_cast<double>(count));
  }
  return {sum / static_cast<double>(visits.size()), most};
}

/// Distances of all scales: half of the range of numbers whose squares are numbers.
template <typename T>
[[nodiscard]] cloud<T> points_of_all_scales(std::size_t count, std::uint64_t seed) {
  constexpr double octaves = -std::numeric_limits<T>::min_exponent / 2.3;
  std::mt19937_64 random(seed);
  cloud<T> points(count);
  for (auto& point : points) {
    const double scale = std::exp2(-octaves * random_unit<double>(random));
    for (int axis = 0; axis < 3; ++axis) point[axis] = static_cast<T>(scale * random_unit<double>(random));
  }
  return points;
}

template <typename T>
[[nodiscard]] lattice<T, 3> cube_of(T edge, bool periodic) {
  return make_lattice(make_box<T, 3>({}, vec<T, 3>::filled(edge), vec<bool, 3>::filled(periodic)));
}

}  // namespace

template <typename T>
class nearest_cost_test : public backend_test {
 protected:
  const std::size_t n = size_or(8000, 2000);
  [[nodiscard]] cloud<T> uniform(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    cloud<T> result;
    for (std::size_t i = 0; i < n; ++i) {
      result.push_back({random_unit<T>(random), random_unit<T>(random), random_unit<T>(random)});
    }
    return result;
  }
  const cloud<T> some = uniform(1);
  /// At most `times` the usual visits. Those of one walk are bounded, too: of a warp, as if its rows were searched one
  /// after another.
  void expect_cheap(const cloud<T>& points, const lattice<T, 3>& box, double times) const {
    const search_visits found = visits_among<T>(points, box);
    EXPECT_LT(found.mean, times * usual);
    EXPECT_LT(found.most, 32 * times * usual);
  }
  const double usual = visits_among<T>(some, cube_of(T(1), false)).mean;
};
using nearest_cost_types = testing::Types<float, double>;
TYPED_TEST_SUITE(nearest_cost_test, nearest_cost_types);

TYPED_TEST(nearest_cost_test, the_usual_cost_is_small) {
  EXPECT_GT(this->usual, 10);
  EXPECT_LT(this->usual, most_usual);
}

TYPED_TEST(nearest_cost_test, stray_points_and_empty_space_add_nothing) {
  using T = TypeParam;
  for (const double far : {1e3, 1e6, 1e9, sizeof(T) == 4 ? 1e15 : 1e100}) {
    auto points = this->some;
    points[0] = vec<T, 3>::filled(static_cast<T>(far));
    points[1] = vec<T, 3>{static_cast<T>(-far), 0, 0};
    SCOPED_TRACE(far);
    this->expect_cheap(points, cube_of(T(1), false), 1.8);
  }
  this->expect_cheap(this->some, cube_of(T(1e6), true), 1.8);
  this->expect_cheap(this->some, cube_of(T(1), true), 2);
}

TYPED_TEST(nearest_cost_test, equal_points_cost_no_more_than_others) {
  using T = TypeParam;
  cloud<T> points(this->n, vec<T, 3>{T(0.5), T(0.25), T(0.125)});
  this->expect_cheap(points, cube_of(T(1), false), 1.8);
  this->expect_cheap(points, cube_of(T(1), true), 2);
  for (std::size_t i = 0; i < points.size(); ++i) points[i][0] += static_cast<T>(i % 3);
  this->expect_cheap(points, cube_of(T(4), false), 1.8);
}

TYPED_TEST(nearest_cost_test, every_distribution_costs_about_what_uniform_points_do) {
  using T = TypeParam;
  constexpr std::pair<std::size_t, bool> searches[] = {{1, false}, {8, false}, {32, false}, {8, true}};
  for (const auto& [k, periodic] : searches) {
    SCOPED_TRACE(message(k, " neighbors, periodic: ", periodic));
    const auto box = cube_of(T(1), periodic);
    const double of_points = visits_among(this->some, box, k).mean;
    const double of_queries = visits_among(this->some, box, k, this->uniform(2)).mean;
    const auto expect_usual = [&](std::string_view name, const cloud<T>& points, const cloud<T>& queries) {
      EXPECT_LT(visits_among(points, box, k).mean, most_for_points * of_points) << name;
      EXPECT_LT(visits_among(points, box, k, queries).mean, most_for_queries * of_queries) << name;
    };
    for (const auto& [which, name] : all_distributions) {
      expect_usual(name, points_of<T, 3>(which, this->n, 1), points_of<T, 3>(which, this->n, 2));
    }
    expect_usual("all scales", points_of_all_scales<T>(this->n, 1), points_of_all_scales<T>(this->n, 2));
  }
}

}  // namespace quadrat::test
