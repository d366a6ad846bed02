// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

#include "nearest_support.hpp"
#include "quadrat/core/array.hpp"
#include "search/nearest/box.hpp"
#include "search/nearest/cuda/rows.hpp"
#include "search/nearest/points.hpp"
#include "search/nearest/rows.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

template <typename T>
struct rows_by_keys {
  std::vector<particle_id> neighbors;
  std::vector<T> squared;
  std::vector<vec<int, 3>> shifts;

  bool operator==(const rows_by_keys&) const = default;
};

template <typename T>
struct keyed_rows_problem {
  lattice<T, 3> box;
  std::vector<vec<T, 3>> points;
  std::size_t k;

  /// With keys as the search chooses them, or with wide ones.
  [[nodiscard]] rows_by_keys<T> rows(bool wide) const {
    const backend_context context;
    const nearest_options<T> options{.k = k, .shifts = true};
    detail::nearest_points<backend_context, T, 3> tree(context, detail::make_nearest_images(box, options), true);
    const auto device = to_device(context, points);
    tree.build(points_of(device));
    const std::size_t entries = points.size() * k;
    array<particle_id, backend_context> neighbors(context, entries);
    array<T, backend_context> squared(context, entries);
    array<vec<int, 3>, backend_context> shifts(context, entries);
    detail::nearest_search<T, 3> search{};
    search.tree = tree.tree();
    search.images = detail::images_for(tree.images(), points.size(), k);
    if (wide) search.images.bits = 32;
    EXPECT_EQ(keys_of(search), wide ? detail::nearest_keys::wide : detail::nearest_keys::numbered);
    search.sink = {neighbors.data(), squared.data(), shifts.data(), tree.boxes(), k};
    search.squared_cutoff = options.cutoff * options.cutoff;
    detail::find_nearest_rows(context, search, points.size());
    return {to_host(context, neighbors), to_host(context, squared), to_host(context, shifts)};
  }
};

template <typename T>
void expect_the_same_rows_by_all_keys(const lattice<T, 3>& box) {
  std::mt19937_64 generator(41);
  for (const std::size_t n : {std::size_t{1}, std::size_t{9}, std::size_t{70}, std::size_t{700}}) {
    std::vector<vec<T, 3>> anywhere(n), on_a_mesh(n);
    for (std::size_t i = 0; i < n; ++i) {
      vec<T, 3> fraction{};
      for (int axis = 0; axis < 3; ++axis) fraction[axis] = 3 * random_unit<T>(generator) - 1;
      for (int axis = 0; axis < 3; ++axis) {
        anywhere[i] += fraction[axis] * box.vectors[axis];
        on_a_mesh[i] += static_cast<T>(static_cast<int>(8 * fraction[axis])) / T(8) * box.vectors[axis];
      }
    }
    for (const std::size_t k : {std::size_t{3}, std::size_t{8}, std::size_t{16}, std::size_t{33}, std::size_t{64}}) {
      for (const auto& points : {anywhere, on_a_mesh}) {
        const keyed_rows_problem<T> problem{box, points, k};
        EXPECT_EQ(problem.rows(false), problem.rows(true)) << n << " points, k = " << k;
      }
    }
  }
}

template <typename T>
class nearest_keys_test : public testing::Test {};
using nearest_keys_types = testing::Types<float, double>;
TYPED_TEST_SUITE(nearest_keys_test, nearest_keys_types);

TYPED_TEST(nearest_keys_test, numbers_of_images_give_the_rows_of_wide_keys) {
  using T = TypeParam;
  for (const vec<T, 3>& upper : {vec<T, 3>{1, 1, 1}, vec<T, 3>{4, 1, 1}, vec<T, 3>{1, 5, 3}}) {
    expect_the_same_rows_by_all_keys(make_lattice(make_box(vec<T, 3>{}, upper, {true, true, true})));
    expect_the_same_rows_by_all_keys(make_lattice(make_box(vec<T, 3>{}, upper, {true, true, false})));
  }
  const vec<vec<T, 3>, 3> sheared{vec<T, 3>{2, 0, 0}, vec<T, 3>{T(0.9), 1, 0}, vec<T, 3>{T(-0.7), T(0.4), 1}};
  expect_the_same_rows_by_all_keys(make_lattice(vec<T, 3>{}, sheared, vec<bool, 3>{true, true, true}));
}

}  // namespace

}  // namespace quadrat::test
