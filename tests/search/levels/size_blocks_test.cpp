// SPDX-License-Identifier: BSD-3-Clause
#include "search/levels/size_blocks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "support/random.hpp"

// The sizes noted around a point are at least those of everything in reach of it, and 0 where there is nothing.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct problem {
  std::vector<lattice<T, D>> boxes;
  std::vector<detail::search_system<T, D>> systems;
  T reach;
};

/// Open and periodic axes of all lengths, folded or not.
template <typename T, int D>
[[nodiscard]] problem<T, D> random_problem(std::mt19937_64& random) {
  problem<T, D> result;
  const auto origin = make_vec<T, D>([&](int) { return 10 * random_unit<T>(random) - 5; });
  const auto length = make_vec<T, D>([&](int) { return std::pow(T(40), random_unit<T>(random)); });
  const auto periodic = make_vec<bool, D>([&](int) { return random() % 2 == 0; });
  result.reach = T(0.2) + random_unit<T>(random);
  result.boxes = {make_lattice(make_box<T, D>(origin, origin + length, periodic))};
  auto edges = vec<T, D>::filled(result.reach * (T(0.4) + random_unit<T>(random)));
  edges[0] /= 4;
  const std::size_t most_cells = random() % 2 == 0 ? 1 << 20 : 200;
  result.systems = detail::make_search_systems<T, D>(result.boxes, {edges, result.reach, most_cells, false});
  return result;
}

template <typename T, int D>
[[nodiscard]] vec<T, D> random_point(const lattice<T, D>& shape, std::mt19937_64& random) {
  return make_vec<T, D>(
      [&](int axis) { return shape.origin[axis] + random_unit<T>(random) * shape.vectors[axis][axis]; });
}

/// From a point to one at most `reach` away, wrapped; returns whether it is in the box.
template <typename T, int D>
[[nodiscard]] bool step(const lattice<T, D>& shape, vec<T, D>& point, T reach, std::mt19937_64& random) {
  vec<T, D> away{};
  do {
    for (int axis = 0; axis < D; ++axis) away[axis] = 2 * random_unit<T>(random) - 1;
  } while (!(squared_norm(away) < 1));
  // Often as far as possible, and often along one axis.
  if (random() % 2 == 0) away = away / std::sqrt(squared_norm(away));
  if (random() % 4 == 0) {
    const auto only = static_cast<int>(random() % D);
    away = {};
    away[only] = random() % 2 == 0 ? T(1) : T(-1);
  }
  vec<int, D> boxes{};
  point = shape.wrap(point + T(0.999999) * reach * away, boxes);
  for (int axis = 0; axis < D; ++axis) {
    const T offset = point[axis] - shape.origin[axis];
    if (!shape.periodic[axis] && !(offset >= 0 && offset <= shape.vectors[axis][axis])) return false;
  }
  return true;
}

template <typename T, int D>
void expect_sizes_around(const problem<T, D>& what, std::mt19937_64& random) {
  const detail::search_system<T, D>& cells = what.systems[0];
  const detail::radius_sizes<T> sizes{cutoff_rule::sum_of_radii, T(0), what.reach / 2, 2 / what.reach};
  const detail::size_blocks<D> blocks = detail::make_size_blocks(cells, what.reach, 0);
  std::vector<std::uint32_t> own(blocks.size()), largest(blocks.size());
  const vec<T, D> point = random_point(what.boxes[0], random);
  const T radius = sizes.largest * random_unit<T>(random);
  own[blocks.block_of(cells, point)] = detail::word_of_size(sizes, radius);
  const detail::widen_size_blocks<D> widen{&blocks, own.data(), largest.data()};
  for (std::size_t block = 0; block < blocks.size(); ++block) widen(block);
  for (int k = 0; k < 40; ++k) {
    vec<T, D> near = point;
    if (!step(what.boxes[0], near, what.reach, random)) continue;
    const std::uint32_t word = largest[blocks.block_of(cells, near)];
    ASSERT_NE(word, 0u);
    EXPECT_GE(detail::size_of_word(sizes, word), sizes.of(radius));
    EXPECT_LE(detail::size_of_word(sizes, word), sizes.of(radius) * T(1.00001));
  }
}

template <typename T, int D>
void expect_sizes_in_random_boxes() {
  std::mt19937_64 random(D);
  for (int round = 0; round < 400 && !testing::Test::HasFailure(); ++round) {
    const problem<T, D> what = random_problem<T, D>(random);
    expect_sizes_around(what, random);
  }
}

}  // namespace

TEST(size_blocks_test, sizes_in_reach_are_known_in_float) {
  expect_sizes_in_random_boxes<float, 2>();
  expect_sizes_in_random_boxes<float, 3>();
}

TEST(size_blocks_test, sizes_in_reach_are_known_in_double) {
  expect_sizes_in_random_boxes<double, 2>();
  expect_sizes_in_random_boxes<double, 3>();
}

TEST(size_blocks_test, far_from_all_points_nothing_is_noted) {
  const std::vector<lattice<float, 2>> boxes{make_lattice(make_box<float, 2>({0, 0}, {16, 16}, {false, false}))};
  const auto systems = detail::make_search_systems<float, 2>(boxes, {{0.25f, 1.0f}, 1.0f, 10'000, false});
  const detail::size_blocks<2> blocks = detail::make_size_blocks(systems[0], 0.9f, 0);
  const detail::radius_sizes<float> sizes{cutoff_rule::own_radius, 0, 1, 1};
  std::vector<std::uint32_t> own(blocks.size()), largest(blocks.size());
  own[blocks.block_of(systems[0], vec<float, 2>{8, 8})] = detail::word_of_size(sizes, 0.0f);
  const detail::widen_size_blocks<2> widen{&blocks, own.data(), largest.data()};
  for (std::size_t block = 0; block < blocks.size(); ++block) widen(block);
  EXPECT_EQ(largest[blocks.block_of(systems[0], vec<float, 2>{4, 8})], 0u);
  EXPECT_EQ(largest[blocks.block_of(systems[0], vec<float, 2>{8, 12})], 0u);
  EXPECT_NE(largest[blocks.block_of(systems[0], vec<float, 2>{8.9f, 7.1f})], 0u);
}

}  // namespace quadrat::test
