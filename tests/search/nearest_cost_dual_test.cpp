// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "nearest_support.hpp"
#include "search/nearest/box.hpp"
#include "search/nearest/cuda/rows.hpp"
#include "search/nearest/points.hpp"
#include "search/nearest/rows.hpp"

// The cost of a search follows the number of points, not where they are: nodes and leaves are counted.

namespace quadrat::test {

namespace {

template <typename T>
using cloud = std::vector<vec<T, 3>>;

#if QUADRAT_BACKEND_CPU
constexpr double most_usual = 100;

template <typename T>
struct count_visits {
  detail::nearest_search<T, 3> search;
  std::uint64_t* visits;

  void operator()(std::size_t i) const {
    const auto& leaf = search.tree.leaves[i / detail::nearest_width];
    const std::size_t place = i % detail::nearest_width;
    detail::nearest_row<T, 3, 16, true> row(search, leaf.position(place), leaf.id[place]);
    row.find();
    visits[i] = row.visits();
  }
};

template <typename T>
[[nodiscard]] std::vector<std::uint64_t> visits_of_searches(const backend_context& context,
                                                            const detail::nearest_search<T, 3>& search,
                                                            std::size_t points) {
  std::vector<std::uint64_t> visits(points);
  for_each(context, "test.visits", points, count_visits<T>{search, visits.data()});
  return visits;
}
#else
constexpr double most_usual = 250;

/// Those of warps, which find 32 rows together.
template <typename T>
[[nodiscard]] std::vector<std::uint32_t> visits_of_searches(const backend_context& context,
                                                            detail::nearest_search<T, 3> search, std::size_t points) {
  array<std::uint32_t, backend_context> visits(context, (points + 31) / 32);
  array<particle_id, backend_context> neighbors(context, points * search.sink.k);
  array<T, backend_context> squared(context, points * search.sink.k);
  search.visits = visits.data();
  search.sink.neighbors = neighbors.data();
  search.sink.squared_distances = squared.data();
  detail::find_nearest_rows(context, search, points);
  return to_host(context, visits);
}
#endif

/// Nodes and leaves tested by a search for 16 neighbors, images included: on average, and at most.
struct search_visits {
  double mean;
  double most;
};
template <typename T>
[[nodiscard]] search_visits visits_among(const cloud<T>& host, const lattice<T, 3>& box) {
  const backend_context context;
  const nearest_options<T> options{.k = 16};
  detail::nearest_points<backend_context, T, 3> points(context, detail::make_nearest_images(box, options), false);
  const auto device = to_device(context, host);
  points.build(points_of(device));
  detail::nearest_search<T, 3> search{};
  search.tree = points.tree();
  search.images = points.images();
  search.sink.k = options.k;
  search.squared_cutoff = options.cutoff;
  double sum = 0, most = 0;
  const auto visits = visits_of_searches(context, search, host.size());
  for (const auto count : visits) {
    sum += static_cast<double>(count);
    most = std::fmax(most, static_cast<double>(count));
  }
  return {sum / static_cast<double>(visits.size()), most};
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
  /// At most `times` the usual visits. Those of one search are bounded, too: of a warp, as if its rows were searched
  /// one after another.
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

TYPED_TEST(nearest_cost_test, clusters_and_flat_sets_cost_no_more_than_others) {
  using T = TypeParam;
  auto clusters = this->some, plane = this->some, line = this->some, noisy = this->some;
  for (std::size_t i = 0; i < this->n; ++i) {
    const T scale = static_cast<T>(std::pow(10.0, -static_cast<double>(i % 8)));
    clusters[i] = clusters[i] * scale;
    plane[i][2] = T(0.5);
    line[i][1] = line[i][2] = T(0.5);
    noisy[i][2] *= T(1e-5);
  }
  this->expect_cheap(clusters, cube_of(T(1), false), 3);
  this->expect_cheap(plane, cube_of(T(1), false), 1.8);
  this->expect_cheap(noisy, cube_of(T(1), false), 1.8);
  this->expect_cheap(line, cube_of(T(1), false), 1.8);
}

}  // namespace quadrat::test
