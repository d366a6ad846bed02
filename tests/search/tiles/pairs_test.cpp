// SPDX-License-Identifier: BSD-3-Clause
#include "search/tiles/pairs.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "support/random.hpp"

// Every variant that this CPU can run finds the pairs of a plain loop.

namespace quadrat::test {

namespace {

template <typename T, int D>
[[nodiscard]] point_group<T, D> random_group(std::mt19937_64& random, std::size_t used) {
  point_group<T, D> group{};
  for (int axis = 0; axis < D; ++axis) {
    for (std::size_t b = 0; b < points_of_group; ++b) {
      group.at[axis][b] = b < used ? random_unit<T>(random) : std::numeric_limits<T>::infinity();
    }
  }
  return group;
}

template <typename T, int D>
[[nodiscard]] std::uint64_t reference(const point_group<T, D>& from, const point_group<T, D>& to,
                                      const vec<T, D>& translation, T squared_reach) {
  std::uint64_t bits = 0;
  for (std::size_t bit = 0; bit < points_of_group * points_of_group; ++bit) {
    const std::size_t a = bit / points_of_group, b = bit % points_of_group;
    T squared = 0;
    for (int axis = 0; axis < D; ++axis) {
      const T r = (to.at[axis][b] - from.at[axis][a]) + translation[axis];
      squared += r * r;
    }
    if (squared < squared_reach) bits |= std::uint64_t{1} << bit;
  }
  return bits;
}

template <typename T, int D>
void expect_equal_pairs() {
  std::mt19937_64 random(3);
  std::uint64_t any = 0, all = ~std::uint64_t{0};
  for (int round = 0; round < 500; ++round) {
    const auto from = random_group<T, D>(random, points_of_group - round % 9);
    const auto to = random_group<T, D>(random, points_of_group - round / 9 % 9);
    auto translation = make_vec<T, D>([&](int) { return round % 2 == 0 ? T(0) : random_unit<T>(random) - T(0.5); });
    T reach = T(0.3);
    // As far as a pair is: it is not nearer.
    if (round % 5 == 0) reach = squared_norm((to.position(0) - from.position(0)) + translation);
    const std::uint64_t expected = reference(from, to, translation, reach);
    for (const auto& pairs : detail::pairs_of_groups_functions<T, D>()) {
      ASSERT_EQ(pairs(from, to, translation, reach), expected) << round;
    }
    any |= expected;
    all &= expected;
  }
  EXPECT_EQ(any, ~std::uint64_t{0});
  EXPECT_EQ(all, 0u);
}

}  // namespace

TEST(pairs_of_groups, are_those_of_a_plain_loop) {
  expect_equal_pairs<float, 2>();
  expect_equal_pairs<float, 3>();
  expect_equal_pairs<double, 2>();
  expect_equal_pairs<double, 3>();
}

}  // namespace quadrat::test
