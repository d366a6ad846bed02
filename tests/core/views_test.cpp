// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/views.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "quadrat/core/array.hpp"

namespace quadrat::test {

namespace {

class points_view_test : public testing::Test {
 protected:
  void SetUp() override { std::iota(values_.begin(), values_.end(), 0.0f); }
  std::vector<float> values_ = std::vector<float>(24);
};

TEST_F(points_view_test, reads_packed_rows) {
  const auto view = strided_points<3>(values_.data(), 8);
  EXPECT_EQ(view.size(), 8u);
  EXPECT_EQ(view[0], (vec<float, 3>{0, 1, 2}));
  EXPECT_EQ(view[7], (vec<float, 3>{21, 22, 23}));
}

TEST_F(points_view_test, reads_rows_with_anything_between) {
  const auto view = strided_points<3>(values_.data(), 6, 4);
  EXPECT_EQ(view[1], (vec<float, 3>{4, 5, 6}));
  EXPECT_EQ(view[5], (vec<float, 3>{20, 21, 22}));
  const auto columns_three_and_four = strided_points<2>(values_.data() + 3, 4, 6);
  EXPECT_EQ(columns_three_and_four[2], (vec<float, 2>{15, 16}));
}

TEST_F(points_view_test, reads_one_array_per_component) {
  const float* first = values_.data();
  const auto view = component_points<float, 3>({first, first + 8, first + 16}, 8);
  EXPECT_EQ(view.size(), 8u);
  EXPECT_EQ(view[0], (vec<float, 3>{0, 8, 16}));
  EXPECT_EQ(view[7], (vec<float, 3>{7, 15, 23}));
}

TEST_F(points_view_test, reads_vectors) {
  const std::vector<vec<double, 2>> points{{1, 2}, {3, 4}, {5, 6}};
  const auto view = points_of(points.data(), points.size());
  EXPECT_EQ(view.size(), 3u);
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(view[i], points[i]);
}

template <typename Container>
concept can_be_viewed = requires(Container&& points) { points_of(std::forward<Container>(points)); };

TEST_F(points_view_test, reads_containers_that_outlive_it) {
  using points_type = std::vector<vec<double, 2>>;
  const points_type points{{1, 2}, {3, 4}};
  EXPECT_EQ(points_of(points).component[0], points[0].component);
  EXPECT_EQ(points_of(points).size(), 2u);
  EXPECT_EQ(points_of(std::span(points).subspan(1))[0], (vec<double, 2>{3, 4}));
  const cpu_context context;
  const auto copy = to_device(context, points);
  EXPECT_EQ(points_of(copy)[1], (vec<double, 2>{3, 4}));
  EXPECT_TRUE(can_be_viewed<const points_type&>);
  EXPECT_FALSE(can_be_viewed<points_type>);
  EXPECT_FALSE((can_be_viewed<array<vec<double, 2>, cpu_context>>));
  EXPECT_FALSE(can_be_viewed<const std::vector<double>&>);
}

TEST_F(points_view_test, sees_changes_of_the_memory_it_looks_at) {
  const auto view = strided_points<3>(values_.data(), 8);
  values_[4] = 99.0f;
  EXPECT_EQ(view[1], (vec<float, 3>{3, 99, 5}));
}

TEST_F(points_view_test, may_be_empty) {
  EXPECT_EQ(strided_points<3>(static_cast<const float*>(nullptr), 0).size(), 0u);
  EXPECT_EQ(points_of(static_cast<const vec<float, 3>*>(nullptr), 0).size(), 0u);
}

}  // namespace

}  // namespace quadrat::test
