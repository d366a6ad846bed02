// SPDX-License-Identifier: BSD-3-Clause
#include "search/levels/plan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "search/levels/sizes.hpp"

// Levels for radii: all points are on one, and each is searched for on every level once.

namespace quadrat::test {

namespace {

using class_counts = std::array<std::uint64_t, detail::radius_classes>;

void expect_sound(const detail::radius_plan& plan, const class_counts& counts) {
  const std::size_t levels = plan.levels.size();
  ASSERT_GE(levels, 1u);
  ASSERT_LE(levels, static_cast<std::size_t>(detail::most_radius_levels));
  ASSERT_EQ(plan.visited.size(), levels);
  ASSERT_EQ(plan.copied.size(), levels);
  std::uint64_t points = 0, finer = 0;
  for (std::size_t k = 0; k < levels; ++k) {
    if (k > 0) {
      EXPECT_GT(plan.levels[k].end, plan.levels[k - 1].end);
    }
    EXPECT_TRUE(plan.copied[k] == 0 || plan.copied[k] == finer);
    std::vector<int> found(levels, 0);  // how often a level is visited
    for (std::size_t layer = 0; layer < 2 * levels; ++layer) {
      if ((plan.visited[k] >> layer & 1) == 0) continue;
      if (layer < levels) {
        ++found[layer];
      } else {
        EXPECT_GT(plan.copied[layer - levels], 0u);
        for (std::size_t below = 0; below < layer - levels; ++below) ++found[below];
      }
    }
    EXPECT_EQ(found, std::vector<int>(levels, 1)) << "level " << k;
    finer += plan.levels[k].points;
  }
  for (const std::uint64_t count : counts) points += count;
  EXPECT_EQ(finer, points);
  for (int number = 0; number < detail::radius_classes; ++number) {
    if (counts[static_cast<std::size_t>(number)] == 0) continue;
    EXPECT_LE(detail::radius_class_end(number), plan.levels.back().end);
  }
}

}  // namespace

TEST(radius_plan_test, every_level_is_searched_once_from_every_other) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 400; ++round) {
    class_counts counts{};
    const std::size_t filled = random() % detail::radius_classes;
    for (std::size_t k = 0; k < filled; ++k) {
      counts[random() % detail::radius_classes] = random() % (std::uint64_t{1} << random() % 30);
    }
    for (const bool adds : {false, true}) {
      for (const int dimension : {2, 3}) expect_sound(detail::plan_radius_levels(counts, adds, dimension), counts);
    }
    if (HasFailure()) return;
  }
}

TEST(radius_plan_test, equal_radii_are_one_level) {
  for (const int number : {0, 17, 40, detail::radius_classes - 1}) {
    class_counts counts{};
    counts[static_cast<std::size_t>(number)] = 1'000'000;
    EXPECT_EQ(detail::plan_radius_levels(counts, true, 3).levels.size(), 1u);
  }
}

TEST(radius_plan_test, sizes_of_a_level_are_within_a_factor_of_two) {
  class_counts counts{};
  counts.fill(100'000);
  const auto plan = detail::plan_radius_levels(counts, true, 3);
  EXPECT_EQ(plan.levels.size(), static_cast<std::size_t>(detail::most_radius_levels));
  for (std::size_t k = 1; k < plan.levels.size(); ++k) {
    EXPECT_DOUBLE_EQ(plan.levels[k].end, 2 * plan.levels[k - 1].end);
  }
}

TEST(radius_plan_test, a_few_points_of_other_sizes_do_not_multiply_the_work) {
  class_counts counts{};
  counts[10] = 1'000'000;
  for (std::size_t k = 20; k < detail::radius_classes; k += 4) counts[k] = 2;
  const auto plan = detail::plan_radius_levels(counts, true, 3);
  EXPECT_LE(plan.levels.size(), 2u);
  EXPECT_LE(std::accumulate(plan.copied.begin(), plan.copied.end(), std::uint64_t{0}), 1'000'000u);
  counts = {};
  counts[50] = 1'000'000;
  for (std::size_t k = 0; k < 40; ++k) counts[k] = 5;
  EXPECT_EQ(detail::plan_radius_levels(counts, true, 3).levels.size(), 1u);
}

template <typename T>
class radius_levels_test : public testing::Test {};
using radius_types = testing::Types<float, double>;
TYPED_TEST_SUITE(radius_levels_test, radius_types);

/// Classes count the points of levels: both must agree about every radius, on their borders too.
TYPED_TEST(radius_levels_test, classes_and_levels_agree) {
  using T = TypeParam;
  class_counts counts{};
  counts.fill(100'000);
  const auto plan = detail::plan_radius_levels(counts, true, 3);
  for (const T cutoff : {T(1), T(0.37), T(3e-10), T(7e9)}) {
    for (const T skin : {T(0), cutoff / 8}) {
      for (const cutoff_rule rule : {cutoff_rule::sum_of_radii, cutoff_rule::larger_radius, cutoff_rule::own_radius}) {
        neighbor_options<T> options;
        options.cutoff = cutoff;
        options.skin = skin;
        options.rule = rule;
        detail::radius_levels<T> levels{static_cast<int>(plan.levels.size()), detail::sizes_of(options), {}};
        for (std::size_t k = 0; k < plan.levels.size(); ++k) levels.ends[k] = static_cast<T>(plan.levels[k].end);
        const T most = rule == cutoff_rule::sum_of_radii ? cutoff / 2 : cutoff;
        std::mt19937_64 random(1);
        for (int k = 0; k < 3000; ++k) {
          T radius = most * static_cast<T>(std::pow(2.0, -20 * static_cast<double>(random() % 1000) / 1000));
          if (k % 3 == 0) radius = most * static_cast<T>(detail::radius_class_end(k % detail::radius_classes));
          if (k % 7 == 0) radius = std::nextafter(radius, T(0));
          if (k == 5) radius = T(0);
          const int number = detail::radius_class(static_cast<double>(levels.sizes.part(radius)));
          const int level = levels.level_of(radius);
          const double end = plan.levels[static_cast<std::size_t>(level)].end;
          EXPECT_LE(detail::radius_class_end(number), end);
          if (level > 0) {
            EXPECT_GT(detail::radius_class_end(number), plan.levels[static_cast<std::size_t>(level) - 1].end);
          }
          EXPECT_LE(levels.sizes.of(radius),
                    static_cast<T>(end) * levels.sizes.largest * (1 + 4 * std::numeric_limits<T>::epsilon()));
        }
      }
    }
  }
}

}  // namespace quadrat::test
