// SPDX-License-Identifier: BSD-3-Clause
#include "search/tiles/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "support/random.hpp"

// Every variant that this CPU can run selects the same pairs in the same order, with the same bits.

namespace quadrat::test {

namespace {

template <typename T, int D>
[[nodiscard]] std::vector<T> selected_by(const detail::select_tiles<T, D>& select,
                                         const cluster_pair_list<cpu_context, T, D>& list) {
  const cluster_pair_view<T, D> view = list.view();
  std::vector<T> values;
  detail::row_stage<T> stage;
  detail::selected_pairs<T, 3> pairs;
  for (std::size_t place = 0; place < view.points; ++place) {
    const std::size_t row = place / points_of_row;
    const detail::staged_places places = detail::tile_access::places(list);
    const std::uint16_t* numbers = places.numbers + places.offsets[row];
    vec<T, 3> from{};
    const vec<T, D> position = view.groups[place / points_of_group].position(place % points_of_group);
    for (int axis = 0; axis < D; ++axis) from[axis] = position[axis];
    const std::uint64_t last = view.offsets[row + 1];
    for (std::uint64_t tile = view.offsets[row]; tile < last; tile += detail::tiles_of_stage) {
      select.stage(view, tile, std::min<std::uint64_t>(last, tile + detail::tiles_of_stage), stage);
      for (std::size_t p = 0; p < points_of_row; ++p) {
        const std::size_t listed = *numbers++;
        for (std::size_t first = 0; p == place % points_of_row && first < listed; first += pairs.most) {
          const std::size_t some = std::min(listed - first, pairs.most);
          const std::size_t count = select.select(stage, from, view.cutoff * view.cutoff, numbers + first, some, pairs);
          for (std::size_t k = 0; k < count; ++k) {
            values.push_back(static_cast<T>(pairs.j[k]));
            for (int axis = 0; axis < D; ++axis) values.push_back(pairs.separation[axis][k]);
            values.push_back(pairs.squared[k]);
          }
        }
        numbers += listed;
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
  auto list = make_cluster_pair_list(context, box, {.cutoff = T(2), .skin = T(0.3)});
  list.build(points_of(points));
  EXPECT_TRUE(D == 2 || list.view().offsets[1] > detail::tiles_of_stage) << "no row has more than one stage";
  const auto variants = detail::tile_selections<T, D>();
  const auto wanted = selected_by(variants.back(), list);
  std::vector<T> visited;
  for (std::size_t place = 0; place < points.size(); ++place) {
    list.view().for_each_neighbor(place, [&](particle_id j, const vec<T, D>& r, T squared) {
      visited.push_back(static_cast<T>(j));
      for (int axis = 0; axis < D; ++axis) visited.push_back(r[axis]);
      visited.push_back(squared);
    });
  }
  EXPECT_TRUE(wanted == visited);
  for (const auto& variant : variants) {
    const auto got = selected_by(variant, list);
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
