// SPDX-License-Identifier: BSD-3-Clause
#include "search/tiles/select.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "support/random.hpp"

// Every variant that this CPU can run selects the same pairs in the same order, with the same bits.

namespace quadrat::test {

namespace {

template <typename T, int D>
[[nodiscard]] std::vector<T> selected_by(const detail::select_tiles<T, D>& select,
                                         const cluster_pair_view<T, D>& view) {
  std::vector<T> values;
  std::vector<detail::selected_pairs<T, D>> pairs(points_of_group);
  for (std::size_t group = 0; group < (view.points + points_of_group - 1) / points_of_group; ++group) {
    const std::size_t row = group / groups_of_row;
    const std::uint64_t last = view.offsets[row + 1];
    for (std::uint64_t tile = view.offsets[row]; tile < last;) {
      std::size_t counts[points_of_group] = {};
      const std::uint64_t next = select.run(view, group, tile, last, pairs.data(), counts);
      EXPECT_GT(next, tile);
      tile = next;
      for (std::size_t a = 0; a < points_of_group; ++a) {
        for (std::size_t k = 0; k < counts[a]; ++k) {
          values.push_back(static_cast<T>(pairs[a].j[k]));
          for (int axis = 0; axis < D; ++axis) values.push_back(pairs[a].separation[axis][k]);
          values.push_back(pairs[a].squared[k]);
        }
      }
    }
  }
  return values;
}

template <typename T, int D>
void expect_equal_selections() {
  std::mt19937_64 random(9);
  std::vector<vec<T, D>> points;
  for (int i = 0; i < 1203; ++i) points.push_back(make_vec<T, D>([&](int) { return 5 * random_unit<T>(random); }));
  const cpu_context context;
  const auto box = make_box<T, D>({}, vec<T, D>::filled(5), vec<bool, D>::filled(true));
  auto list = make_cluster_pair_list(context, box, {.cutoff = T(1.4), .skin = T(0.2)});
  list.build(points_of(points));
  const auto variants = detail::tile_selections<T, D>();
  const auto wanted = selected_by(variants.back(), list.view());
  EXPECT_GT(wanted.size(), 1203u);
  for (const auto& variant : variants) {
    const auto got = selected_by(variant, list.view());
    ASSERT_EQ(got.size(), wanted.size());
    EXPECT_EQ(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(T)), 0);
  }
}

}  // namespace

TEST(tile_selection, is_the_same_with_every_variant) {
  expect_equal_selections<float, 2>();
  expect_equal_selections<float, 3>();
  expect_equal_selections<double, 2>();
  expect_equal_selections<double, 3>();
}

}  // namespace quadrat::test
