// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "cells/every_list.hpp"
#include "cells/random_scene.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "support/backend.hpp"

// build_async, captured in a graph and launched with points that have moved.

namespace quadrat::test {

namespace {

/// Points in the unit box, other ones for each seed.
[[nodiscard]] scene<float, 3> scattered(std::size_t count, std::uint64_t seed) {
  scene<float, 3> it{};
  it.space = make_grid(make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {false, true, true}), {8, 8, 8});
  it.cutoff = 0.125f;
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    it.points.push_back(make_vec<float, 3>([&](int) { return random_unit<float>(random); }));
  }
  return it;
}

/// The particles of each cell, whatever their order.
template <typename View>
[[nodiscard]] std::vector<std::vector<particle_id>> sorted_contents(const cuda_context& context, const View& view) {
  auto cells = contents(context, view);
  for (auto& cell : cells) std::ranges::sort(cell);
  return cells;
}

template <typename Method>
void expect_launches(determinism level, std::size_t count) {
  const cuda_context context = context_at(level);
  const scene<float, 3> first = scattered(count, 1);
  auto stored = to_device(context, first.points);
  const auto points = points_of(stored.data(), count);
  const auto put = [&](const std::vector<vec<float, 3>>& next) {
    copy_bytes(context, next.data(), stored.data(), stored.bytes());
    context.synchronize();
  };
  auto list = make_list<Method>(context, first);
  list.build(points);
  cuda_graph graph;
  graph.capture(context, [&] { list.build_async(points); });
  for (const std::uint64_t seed : {2, 3, 4}) {
    const scene<float, 3> next = scattered(count, seed);
    put(next.points);
    graph.launch(context);
    EXPECT_NO_THROW(list.check());
    auto fresh = make_list<Method>(context, next);
    fresh.build(points);
    EXPECT_EQ(sorted_contents(context, list.view()), sorted_contents(context, fresh.view()));
  }

  std::vector<vec<float, 3>> bad = first.points;
  bad[5][0] = std::numeric_limits<float>::quiet_NaN();
  put(bad);
  graph.launch(context);
  for (int call = 0; call < 2; ++call) EXPECT_THROW(list.check(), data_error);
  EXPECT_THROW(static_cast<void>(list.view()), argument_error);
  put(first.points);
  list.build(points);
  graph.launch(context);
  EXPECT_NO_THROW(list.check());
  EXPECT_NO_THROW(static_cast<void>(list.view()));
}

}  // namespace

template <typename Method>
class build_graph_test : public backend_test {};
TYPED_TEST_SUITE(build_graph_test, every_cell_list, method_names);

TYPED_TEST(build_graph_test, builds_the_points_of_each_launch) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    expect_launches<TypeParam>(level, 500);
  }
}

using partition_graph_test = backend_test;

TEST_F(partition_graph_test, counts_in_two_levels) {
  // Enough points for two levels.
  expect_launches<cell_methods::counting>(determinism::none, size_or(300'000, 5000));
}

}  // namespace quadrat::test
