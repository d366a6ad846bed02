// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "nearest_support.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

class nearest_graph_test : public backend_test {};

std::vector<vec<float, 3>> random_places(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<vec<float, 3>> result;
  for (std::size_t i = 0; i < size_or(5000, 300); ++i) {
    result.push_back(make_vec<float, 3>([&](int) { return random_unit<float>(random); }));
  }
  return result;
}

TEST_F(nearest_graph_test, replays_a_search_for_queries_that_have_moved) {
  const cuda_context context;
  const auto points = to_device(context, random_places(1));
  auto queries = to_device(context, random_places(2));
  const auto box = make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, false});
  auto replayed = make_nearest_neighbors(context, box, {.k = 5, .shifts = true});
  auto usual = make_nearest_neighbors(context, box, {.k = 5, .shifts = true});
  replayed.build(points_of(points));
  usual.build(points_of(points));
  replayed.search(points_of(queries));
  cuda_graph graph;
  graph.capture(context, [&] { replayed.search_async(points_of(queries)); });
  const auto put = [&](const std::vector<vec<float, 3>>& places) {
    copy_bytes(context, places.data(), queries.data(), queries.bytes());
    context.synchronize();
    graph.launch(context);
  };
  for (const std::uint64_t seed : {3, 4}) {
    put(random_places(seed));
    replayed.check();
    usual.search(points_of(queries));
    EXPECT_EQ(rows_of(context, replayed), rows_of(context, usual));
  }
  auto faulty = random_places(5);
  faulty[77][1] = NAN;
  put(faulty);
  EXPECT_THROW(replayed.check(), data_error);
  put(random_places(6));
  replayed.check();
  usual.search(points_of(queries));
  EXPECT_EQ(rows_of(context, replayed), rows_of(context, usual));
}

TEST_F(nearest_graph_test, replays_a_build_and_a_search_of_points_that_have_moved) {
  const cuda_context context;
  auto points = to_device(context, random_places(1));
  const auto box = make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, false});
  auto replayed = make_nearest_neighbors(context, box, {.k = 5, .shifts = true});
  auto usual = make_nearest_neighbors(context, box, {.k = 5, .shifts = true});
  replayed.build(points_of(points));
  replayed.search();
  cuda_graph graph;
  graph.capture(context, [&] {
    replayed.build_async(points_of(points));
    replayed.search_async();
  });
  const auto put = [&](const std::vector<vec<float, 3>>& places) {
    copy_bytes(context, places.data(), points.data(), points.bytes());
    context.synchronize();
    graph.launch(context);
  };
  const auto expect_right = [&] {
    replayed.check();
    usual.build(points_of(points));
    usual.search();
    EXPECT_EQ(rows_of(context, replayed), rows_of(context, usual));
  };
  put(random_places(3));
  expect_right();
  auto faulty = random_places(5);
  faulty[77][1] = NAN;
  put(faulty);
  for (int k = 0; k < 2; ++k) EXPECT_THROW(replayed.check(), data_error);
  put(random_places(6));
  expect_right();
}

}  // namespace

}  // namespace quadrat::test
