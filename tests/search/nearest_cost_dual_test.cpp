// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "nearest_support.hpp"
#include "search/nearest/box.hpp"
#include "search/nearest/points.hpp"
#include "search/nearest/rows.hpp"

// The cost of a search follows the number of points, not where they are: nodes and leaves are counted.

namespace quadrat::test {

namespace {

template <typename T>
using cloud = std::vector<vec<T, 3>>;

template <typename T>
struct count_visits {
  detail::nearest_search<T, 3> search;
  std::uint64_t* visits;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto& leaf = search.tree.leaves[i / detail::nearest_width];
    const std::size_t place = i % detail::nearest_width;
    detail::nearest_row<T, 3, 16, true> row(search, leaf.position(place), leaf.id[place]);
    row.find();
    visits[i] = row.visits();
  }
};

/// Nodes and leaves tested per point for 16 neighbors, images included.
template <typename T>
[[nodiscard]] double visits_per_point(const cloud<T>& host, const lattice<T, 3>& box) {
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
  array<std::uint64_t, backend_context> visits(context, host.size());
  for_each(context, "test.visits", host.size(), count_visits<T>{search, visits.data()});
  double sum = 0;
  for (const std::uint64_t count : to_host(context, visits)) sum += static_cast<double>(count);
  return sum / static_cast<double>(host.size());
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
  const double usual = visits_per_point<T>(some, cube_of(T(1), false));
};
using nearest_cost_types = testing::Types<float, double>;
TYPED_TEST_SUITE(nearest_cost_test, nearest_cost_types);

TYPED_TEST(nearest_cost_test, the_usual_cost_is_small) {
  EXPECT_GT(this->usual, 10);
  EXPECT_LT(this->usual, 100);
}

TYPED_TEST(nearest_cost_test, stray_points_and_empty_space_add_nothing) {
  using T = TypeParam;
  for (const double far : {1e3, 1e6, 1e9, sizeof(T) == 4 ? 1e15 : 1e100}) {
    auto points = this->some;
    points[0] = vec<T, 3>::filled(static_cast<T>(far));
    points[1] = vec<T, 3>{static_cast<T>(-far), 0, 0};
    EXPECT_LT(visits_per_point<T>(points, cube_of(T(1), false)), 1.8 * this->usual) << far;
  }
  EXPECT_LT(visits_per_point<T>(this->some, cube_of(T(1e6), true)), 1.8 * this->usual);
  EXPECT_LT(visits_per_point<T>(this->some, cube_of(T(1), true)), 2 * this->usual);
}

TYPED_TEST(nearest_cost_test, equal_points_cost_no_more_than_others) {
  using T = TypeParam;
  cloud<T> points(this->n, vec<T, 3>{T(0.5), T(0.25), T(0.125)});
  EXPECT_LT(visits_per_point<T>(points, cube_of(T(1), false)), 1.8 * this->usual);
  EXPECT_LT(visits_per_point<T>(points, cube_of(T(1), true)), 2 * this->usual);
  for (std::size_t i = 0; i < points.size(); ++i) points[i][0] += static_cast<T>(i % 3);
  EXPECT_LT(visits_per_point<T>(points, cube_of(T(4), false)), 1.8 * this->usual);
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
  EXPECT_LT(visits_per_point<T>(clusters, cube_of(T(1), false)), 3 * this->usual);
  EXPECT_LT(visits_per_point<T>(plane, cube_of(T(1), false)), 1.8 * this->usual);
  EXPECT_LT(visits_per_point<T>(noisy, cube_of(T(1), false)), 1.8 * this->usual);
  EXPECT_LT(visits_per_point<T>(line, cube_of(T(1), false)), 1.8 * this->usual);
}

}  // namespace quadrat::test
