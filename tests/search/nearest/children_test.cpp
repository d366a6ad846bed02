// SPDX-License-Identifier: BSD-3-Clause
#include "search/nearest/children.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

namespace quadrat::test {

namespace {

template <typename T>
class likely_children_test : public testing::Test {
 protected:
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  /// A node with `children` random boxes, some of which are points or equal to others.
  [[nodiscard]] detail::nearest_node<T, 3> random_node(std::size_t children) {
    detail::nearest_node<T, 3> node{};
    for (std::size_t child = 0; child < detail::nearest_width; ++child) {
      for (int axis = 0; axis < 3; ++axis) {
        const T low = static_cast<T>(random_() % 5) / 4, size = static_cast<T>(random_() % 3) / 4;
        node.low[axis][child] = child < children ? low : infinity;
        node.high[axis][child] = child < children ? low + size : -infinity;
      }
    }
    return node;
  }
  /// Up to eight positions in a box, each with a reach.
  [[nodiscard]] detail::nearest_target<T, 3> random_target(std::size_t positions) {
    detail::nearest_target<T, 3> target{};
    for (std::size_t k = 0; k < detail::nearest_width; ++k) {
      target.worst[k] = k >= positions ? T(-1) : random_() % 7 == 0 ? infinity : static_cast<T>(random_() % 5) / 8;
    }
    for (int axis = 0; axis < 3; ++axis) {
      target.first[axis] = static_cast<T>(random_() % 9) / 4;
      target.last[axis] = target.first[axis] + static_cast<T>(random_() % 2) / 4;
      target.middle[axis] = target.first[axis] + (target.last[axis] - target.first[axis]) / 2;
      target.translation[axis] = static_cast<T>(random_() % 3) - 1;
      for (std::size_t k = 0; k < detail::nearest_width; ++k) {
        target.at[axis][k] = random_() % 2 == 0 ? target.first[axis] : target.last[axis];
      }
    }
    return target;
  }

  std::mt19937_64 random_{2};
};

}  // namespace

using likely_children_types = testing::Types<float, double>;
TYPED_TEST_SUITE(likely_children_test, likely_children_types);

TYPED_TEST(likely_children_test, every_variant_finds_the_children_in_reach_of_some_position_the_nearest_first) {
  using T = TypeParam;
  for (const auto function : detail::likely_children_functions<T, 3>()) {
    for (int turn = 0; turn < 500; ++turn) {
      const auto node = this->random_node(static_cast<std::size_t>(turn % 9));
      const auto target = this->random_target(static_cast<std::size_t>(turn % 8) + 1);
      std::vector<std::tuple<T, T, unsigned>> wanted;
      for (unsigned child = 0; child < detail::nearest_width; ++child) {
        bool reached = false;
        for (std::size_t k = 0; k < detail::nearest_width; ++k) {
          const auto at = make_vec<T, 3>([&](int axis) { return target.at[axis][k]; });
          reached |= squared_distance_to(node, child, at, at, target.translation) <= target.worst[k];
        }
        const T squared = squared_distance_to(node, child, target.first, target.last, target.translation);
        if (!reached || squared == this->infinity) continue;
        wanted.emplace_back(squared, squared_distance_to_corner(node, child, target.middle, target.translation), child);
      }
      std::sort(wanted.begin(), wanted.end());
      detail::likely_children<T> found{};
      ASSERT_EQ(function(node, target, found), wanted.size());
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        ASSERT_EQ(found.child[k], std::get<2>(wanted[k]));
        ASSERT_EQ(found.squared[found.child[k]], std::get<0>(wanted[k]));
      }
    }
  }
}

}  // namespace quadrat::test
