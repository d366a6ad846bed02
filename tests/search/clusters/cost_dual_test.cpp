// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "support.hpp"
#include "support/random.hpp"

// Points at which the work would be quadratic if pairs were compared one by one. The results are known without a
// reference.

namespace quadrat::test {

namespace {

using sizes_type = std::vector<std::uint32_t>;

class clusters_cost : public backend_test {
 protected:
  /// Points in a ball or on its surface.
  [[nodiscard]] std::vector<vec<float, 3>> ball(std::size_t count, const vec<float, 3>& center, float radius,
                                                bool surface = false) {
    std::vector<vec<float, 3>> points;
    while (points.size() < count) {
      auto r = make_vec<float, 3>([&](int) { return 2 * random_unit<float>(random_) - 1; });
      const float length = norm(r);
      if (!(length < 1 && length > 0.01f)) continue;
      if (surface) r /= length;
      points.push_back(center + radius * r);
    }
    return points;
  }
  static void append(std::vector<vec<float, 3>>& points, const std::vector<vec<float, 3>>& more) {
    points.insert(points.end(), more.begin(), more.end());
  }
  [[nodiscard]] found_clusters find(const lattice<float, 3>& box, std::uint32_t min_points,
                                    const std::vector<vec<float, 3>>& points, bool accept_outside = false) {
    return find_clusters(context_, box, {.cutoff = 1, .min_points = min_points, .accept_outside = accept_outside},
                         points);
  }

  const std::uint32_t count_ = static_cast<std::uint32_t>(size_or(96'000, 4000));
  const lattice<float, 3> box_ = box_of<float, 3>({10, 10, 10});
  const backend_context context_;
  std::mt19937_64 random_{5};
};

TEST_F(clusters_cost, equal_points) {
  std::vector<vec<float, 3>> points(count_, {5, 5, 5});
  for (const std::uint32_t min_points : {1u, 7u, count_}) {
    EXPECT_EQ(find(box_, min_points, points).sizes, (sizes_type{count_})) << min_points;
  }
  EXPECT_TRUE(find(box_, count_ + 1, points).sizes.empty());
  // Two places out of reach of each other in neighboring cells, and two places in reach.
  for (std::size_t i = 0; i < points.size(); i += 2) points[i][0] = 6.01f;
  EXPECT_EQ(find(box_, 10, points).sizes, (sizes_type{count_ / 2, count_ / 2}));
  for (std::size_t i = 0; i < points.size(); i += 2) points[i][0] = 5.99f;
  EXPECT_EQ(find(box_, count_, points).sizes, (sizes_type{count_}));
}

TEST_F(clusters_cost, two_surfaces_just_out_of_reach_of_each_other) {
  auto points = ball(count_ / 2, {3, 5, 5}, 0.8f, true);
  append(points, ball(count_ / 2, {5.61f, 5, 5}, 0.8f, true));
  for (const std::uint32_t min_points : {1u, 50u}) {
    EXPECT_EQ(find(box_, min_points, points).sizes, (sizes_type{count_ / 2, count_ / 2})) << min_points;
  }
}

TEST_F(clusters_cost, a_ball_of_some_cutoffs) {
  auto points = ball(count_, {5, 5, 5}, 3);
  EXPECT_EQ(find(box_, 1, points).sizes, (sizes_type{count_}));
  // More than there are within the cutoff, so that no point stops counting.
  points.resize(count_ / 4);
  EXPECT_TRUE(find(box_, count_ / 16, points).sizes.empty());
}

TEST_F(clusters_cost, points_around_a_crowded_cell) {
  // No core points around the ball, each of which asks for core points among many that are out of reach.
  auto points = ball(count_ - 64, {5, 5, 5}, 0.2f);
  append(points, ball(64, {5, 5, 5}, 1.3f, true));
  const found_clusters found = find(box_, 100, points);
  EXPECT_EQ(found.sizes, (sizes_type{count_ - 64}));
}

TEST_F(clusters_cost, stray_points_and_wide_boxes) {
  auto points = ball(count_, {5, 5, 5}, 4);
  const sizes_type all{count_}, with_stray{count_, 1};
  const auto wide = box_of<float, 3>({1e7f, 1e7f, 1e7f});
  EXPECT_EQ(find(wide, 1, points).sizes, all);
  EXPECT_EQ(find(box_of<float, 3>({1e5f, 1e5f, 1e5f}, {true, true, true}), 1, points).sizes, all);
  points.push_back({9.9e6f, 2e6f, 5e6f});
  EXPECT_EQ(find(wide, 1, points).sizes, with_stray);
  EXPECT_EQ(find(box_of<float, 3>({1, 1, 1}), 1, points, true).sizes, with_stray);
}

/// Far from the origin, floats are so far apart that cells cannot tell neighbors apart, and many points are equal.
TEST_F(clusters_cost, crowds_far_apart_in_a_wide_box) {
  std::vector<vec<float, 3>> points;
  for (int blob = 0; blob < 8; ++blob) {
    const float at = static_cast<float>(blob) * 1e6f;
    append(points, ball(count_ / 8, {at + 1, 1, at / 3 + 1}, 0.9f));
  }
  const found_clusters found = find(box_of<float, 3>({1e7f, 1e7f, 1e7f}), 1, points);
  EXPECT_EQ(found.sizes, sizes_type(8, count_ / 8));
}

}  // namespace

}  // namespace quadrat::test
