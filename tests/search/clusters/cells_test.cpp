// SPDX-License-Identifier: BSD-3-Clause
#include "search/clusters/cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"
#include "support/random.hpp"

// Buckets of hashed cells.

namespace quadrat::test {

template <typename Shape>
class cluster_cells_test : public testing::Test {};
template <typename Precision, int Dimension>
struct cluster_cells_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using cluster_cells_shapes = testing::Types<cluster_cells_shape<float, 2>, cluster_cells_shape<float, 3>,
                                            cluster_cells_shape<double, 2>, cluster_cells_shape<double, 3>>;
TYPED_TEST_SUITE(cluster_cells_test, cluster_cells_shapes);

/// In few buckets, where chance alone would let cells share one.
TYPED_TEST(cluster_cells_test, a_search_meets_each_bucket_of_an_image_once_and_that_of_each_near_point) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  std::mt19937_64 random(3);
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random));
  };
  for (int trial = 0; trial < 400; ++trial) {
    SCOPED_TRACE(message("trial ", trial));
    vec<vec<T, D>, D> vectors{};
    for (int axis = 0; axis < D; ++axis) {
      vectors[axis][axis] = between(2, 500);
      for (int k = 0; k < axis && trial % 2 == 1; ++k) vectors[axis][k] = between(-1, 1);
    }
    const auto periodic = make_vec<bool, D>([&](int) { return random() % 2 == 0; });
    const auto box = make_lattice(vec<T, D>{}, vectors, periodic);
    const bool outside = random() % 4 == 0;
    const auto cells = detail::make_cluster_cells(box, T(1), outside, 1);
    vec<T, D> point{}, near{};
    for (int axis = 0; axis < D; ++axis) {
      point += (outside && !periodic[axis] ? between(-3, 4) : between(0.001, 0.999)) * vectors[axis];
      near[axis] = between(-0.5, 0.5);
    }
    vec<int, D> boxes{};
    point = box.wrap(point, boxes);
    near = box.wrap(point + near, boxes);
    const std::uint32_t bucket = cells.bucket_at(cells.coordinates(near));
    std::vector<std::pair<std::uint32_t, vec<int, D>>> met;
    bool met_near = false;
    cells.for_each_run(point, [&](std::uint32_t first, std::uint32_t last, const vec<int, D>& shift) {
      for (std::uint32_t k = first; k <= last; ++k) {
        ASSERT_LT(k, cells.buckets);
        const bool again = std::any_of(met.begin(), met.end(),
                                       [&](const auto& each) { return each.first == k && each.second == shift; });
        EXPECT_FALSE(again);
        met.emplace_back(k, shift);
        met_near = met_near || k == bucket;
      }
    });
    EXPECT_TRUE(met_near);
    EXPECT_LE(met.size(), D == 2 ? 16u : 64u);
  }
}

}  // namespace quadrat::test
