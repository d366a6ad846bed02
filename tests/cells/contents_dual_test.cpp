// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cells/every_list.hpp"
#include "cells/random_scene.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/array.hpp"
#include "reference/buckets.hpp"
#include "support/backend.hpp"
#include "support/counting_memory.hpp"

// The contents of cells, their order, and the memory used.

namespace quadrat::test {

namespace {

/// The cell of each point, as the backend's own compiler computes it.
template <typename View>
struct expected_cell {
  View view;
  points_view<typename View::value_type, View::dimension> points;
  std::uint32_t* cells;
  QUADRAT_HD void operator()(std::size_t i) const {
    cells[i] = view.numbering.id(view.space.cell_of(view.anchored(points[i])));
  }
};

template <typename Method, typename T, int D>
[[nodiscard]] std::vector<std::vector<particle_id>> built_contents(const backend_context& context,
                                                                   const scene<T, D>& it) {
  const auto stored = to_device(context, it.points);
  auto list = make_list<Method>(context, it);
  list.build(points_of(stored.data(), it.points.size()));
  return contents(context, list.view());
}

template <typename View, typename T, int D>
[[nodiscard]] std::vector<std::vector<particle_id>> expected_contents(const backend_context& context, const View& view,
                                                                      const points_view<T, D>& points) {
  array<std::uint32_t, backend_context> cells(context, points.size());
  for_each(context, "cells", points.size(), expected_cell<View>{view, points, cells.data()});
  return reference::buckets(to_host(context, cells), view.numbering.bound());
}

/// Many points in one scene, a third of them in one cell.
[[nodiscard]] scene<float, 3> crowded_scene(std::size_t count) {
  scene<float, 3> it{};
  it.space = make_grid(make_box<float, 3>({0, 0, 0}, {4, 4, 2}, {false, true, false}), {8, 8, 4});
  it.cutoff = 0.5f;
  std::mt19937_64 random(3);
  it.points.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      it.points[i][axis] = random_unit<float>(random) * (i % 3 == 0 ? 0.5f : it.space.domain.length[axis]);
    }
  }
  return it;
}

}  // namespace

template <typename Method>
class contents_test : public backend_test {};
TYPED_TEST_SUITE(contents_test, every_cell_list, method_names);

TYPED_TEST(contents_test, every_particle_is_in_its_cell) {
  if constexpr (!is_tight<TypeParam>) {
    for (const determinism level : {determinism::none, determinism::run_to_run}) {
      const backend_context context = context_at(level);
      for_each_shape([&]<typename T, int D>() {
        for (std::size_t seed = 0; seed < size_or(40, 5); ++seed) {
          const scene<T, D> it = scene_maker<T, D>(seed + 5000).make();
          SCOPED_TRACE(describe(it));
          const auto stored = to_device(context, it.points);
          const auto points = points_of(stored.data(), it.points.size());
          auto list = make_list<TypeParam>(context, it);
          list.build(points);
          auto got = contents(context, list.view());
          if (level == determinism::none) std::ranges::for_each(got, [](auto& cell) { std::ranges::sort(cell); });
          ASSERT_EQ(got, expected_contents(context, list.view(), points));
        }
      });
    }
  }
}

TYPED_TEST(contents_test, is_ordered_and_the_same_every_time_when_asked) {
  const scene<float, 3> it = crowded_scene(size_or(6000, 600));
  const auto expected = built_contents<TypeParam>(context_at(determinism::run_to_run, 1), it);
  for (const auto& cell : expected) EXPECT_TRUE(std::ranges::is_sorted(cell, std::less_equal<>()));
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(built_contents<TypeParam>(context_at(determinism::run_to_run, threads), it), expected);
    EXPECT_EQ(built_contents<TypeParam>(context_at(determinism::canonical, threads), it), expected);
    auto unordered = built_contents<TypeParam>(context_at(determinism::none, threads), it);
    std::ranges::for_each(unordered, [](auto& cell) { std::ranges::sort(cell); });
    EXPECT_EQ(unordered, expected);
  }
}

TYPED_TEST(contents_test, all_particles_in_one_cell) {
  scene<double, 2> it{};
  it.space = make_grid(make_box<double, 2>({0, 0}, {1, 1}, {true, true}), {4, 4});
  it.cutoff = 0.25;
  it.points.assign(size_or(4000, 400), {0.625, 0.625});
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    auto got = built_contents<TypeParam>(context_at(level), it);
    std::size_t filled = 0;
    for (auto& cell : got) {
      filled += cell.empty() ? 0 : 1;
      std::ranges::sort(cell);
      for (std::size_t i = 0; i < cell.size(); ++i) ASSERT_EQ(cell[i], i);
    }
    // The bounding box in linked_tight ends on a face along each axis and touches the next cell, too.
    EXPECT_EQ(filled, is_tight<TypeParam> ? 4u : 1u);
  }
}

TYPED_TEST(contents_test, no_particles_and_other_sizes_in_turn) {
  const backend_context context;
  scene<float, 3> it = crowded_scene(1000);
  auto list = make_list<TypeParam>(context, it);
  const auto stored = to_device(context, it.points);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{31}, std::size_t{0}}) {
    list.build(points_of(stored.data(), count));
    std::vector<particle_id> found;
    for (const auto& cell : contents(context, list.view())) found.insert(found.end(), cell.begin(), cell.end());
    std::ranges::sort(found);
    found.erase(std::ranges::unique(found).begin(), found.end());
    EXPECT_EQ(found.size(), count);
    EXPECT_TRUE(found.empty() || found.back() == count - 1);
  }
}

TYPED_TEST(contents_test, takes_points_in_any_layout) {
  const backend_context context;
  const scene<float, 3> it = crowded_scene(500);
  const std::size_t n = it.points.size();
  std::vector<float> rows(5 * n, -1.0f), columns(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      rows[5 * i + axis] = columns[axis * n + i] = it.points[i][static_cast<int>(axis)];
    }
  }
  const auto packed = to_device(context, it.points);
  const auto strided = to_device(context, rows);
  const auto separate = to_device(context, columns);
  const float* x = separate.data();
  auto list = make_list<TypeParam>(context_at(determinism::run_to_run), it);
  const backend_context ordered = context_at(determinism::run_to_run);
  list.build(points_of(packed.data(), n));
  const auto expected = contents(ordered, list.view());
  list.build(strided_points<3>(strided.data(), n, 5));
  EXPECT_EQ(contents(ordered, list.view()), expected);
  list.build(component_points(std::array<const float*, 3>{x, x + n, x + 2 * n}, n));
  EXPECT_EQ(contents(ordered, list.view()), expected);
}

TYPED_TEST(contents_test, a_second_build_allocates_nothing) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    counting_memory memory;
    const backend_context context = memory.context(level);
    const scene<float, 3> it = crowded_scene(3000);
    const backend_context usual;
    const auto stored = to_device(usual, it.points);
    {
      auto list = make_list<TypeParam>(context, it);
      list.build(points_of(stored.data(), it.points.size()));
      EXPECT_EQ(memory.live_bytes(), list.bytes());
      const std::size_t before = memory.allocations();
      list.build(points_of(stored.data(), it.points.size()));
      list.build(points_of(stored.data(), it.points.size() - 7));
      EXPECT_EQ(memory.allocations(), before);
    }
    EXPECT_EQ(memory.live_bytes(), 0u);
  }
}

TYPED_TEST(contents_test, moves) {
  const backend_context context = context_at(determinism::run_to_run);
  const scene<float, 3> it = crowded_scene(100);
  const auto stored = to_device(context, it.points);
  auto list = make_list<TypeParam>(context, it);
  list.build(points_of(stored.data(), it.points.size()));
  const auto expected = contents(context, list.view());
  auto moved = std::move(list);
  EXPECT_EQ(contents(context, moved.view()), expected);
}

using tight_test = backend_test;

TEST_F(tight_test, stores_a_particle_in_its_own_cell_and_in_neighbors_only) {
  const backend_context context;
  for_each_shape([&]<typename T, int D>() {
    for (std::size_t seed = 0; seed < size_or(60, 5); ++seed) {
      const scene<T, D> it = scene_maker<T, D>(seed + 9000).make();
      SCOPED_TRACE(describe(it));
      const auto stored = to_device(context, it.points);
      const auto points = points_of(stored.data(), it.points.size());
      auto list = make_list<cell_methods::linked_tight>(context, it);
      list.build(points);
      const auto cells = contents(context, list.view());
      std::vector<std::size_t> entries(it.points.size(), 0);
      for (std::size_t id = 0; id < cells.size(); ++id) {
        for (const particle_id i : cells[id]) {
          ++entries[i];
          const vec<int, D> cell = list.view().numbering.cell(static_cast<cell_id>(id));
          const vec<int, D> own = list.space().cell_of(it.space.domain.wrap(it.points[i]));
          for (int axis = 0; axis < D; ++axis) {
            const int apart = std::abs(cell[axis] - own[axis]);
            const bool round = it.space.domain.periodic[axis] && apart == list.space().cells[axis] - 1;
            EXPECT_TRUE(apart <= 1 || round);
          }
        }
      }
      for (const std::size_t count : entries) EXPECT_TRUE(count >= 1 && count <= (1u << D));
    }
  });
}

}  // namespace quadrat::test
