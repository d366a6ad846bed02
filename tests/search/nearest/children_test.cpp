// SPDX-License-Identifier: BSD-3-Clause
#include "search/nearest/children.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
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
  [[nodiscard]] detail::nearest_target<T, 3> random_target() {
    detail::nearest_target<T, 3> target{};
    for (int axis = 0; axis < 3; ++axis) {
      target.first[axis] = static_cast<T>(random_() % 9) / 4;
      target.last[axis] = target.first[axis] + static_cast<T>(random_() % 2) / 4;
      target.middle[axis] = target.first[axis] + (target.last[axis] - target.first[axis]) / 2;
      target.translation[axis] = static_cast<T>(random_() % 3) - 1;
    }
    return target;
  }

  std::mt19937_64 random_{2};
};

}  // namespace

using likely_children_types = testing::Types<float, double>;
TYPED_TEST_SUITE(likely_children_test, likely_children_types);

TYPED_TEST(likely_children_test, every_variant_finds_the_children_in_reach_by_their_farthest_corners) {
  using T = TypeParam;
  for (const auto function : detail::likely_children_functions<T, 3>()) {
    for (int turn = 0; turn < 500; ++turn) {
      const auto node = this->random_node(static_cast<std::size_t>(turn % 9));
      const auto target = this->random_target();
      const T worst = turn % 7 == 0 ? this->infinity : static_cast<T>(turn % 5) / 8;
      std::vector<std::pair<T, unsigned>> wanted;
      for (unsigned child = 0; child < detail::nearest_width; ++child) {
        const T squared = squared_distance_to(node, child, target.first, target.last, target.translation);
        if (!(squared <= worst) || squared == this->infinity) continue;
        wanted.emplace_back(squared_distance_to_corner(node, child, target.middle, target.translation), child);
      }
      std::sort(wanted.begin(), wanted.end());
      detail::likely_children<T> found{};
      ASSERT_EQ(function(node, target, worst, found), wanted.size());
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        const unsigned child = found.child[k];
        ASSERT_EQ(child, wanted[k].second);
        ASSERT_EQ(found.squared[child],
                  squared_distance_to(node, child, target.first, target.last, target.translation));
      }
    }
  }
}

}  // namespace quadrat::test
