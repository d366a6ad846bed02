// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "support.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

namespace quadrat::test {

namespace {

using labels_type = std::vector<std::int32_t>;
using sizes_type = std::vector<std::uint32_t>;
using points_2d = std::vector<vec<double, 2>>;

class cluster_finder_test : public backend_test {
 protected:
  [[nodiscard]] static std::vector<vec<float, 3>> uniform(std::size_t count, std::uint64_t seed, float edge = 1) {
    std::mt19937_64 random(seed);
    std::vector<vec<float, 3>> points(count);
    for (auto& point : points) point = make_vec<float, 3>([&](int) { return edge * random_unit<float>(random); });
    return points;
  }

  const backend_context context;
  const lattice<double, 2> square = box_of<double, 2>({8, 8});
};

TEST_F(cluster_finder_test, friends_of_friends_are_numbered_by_their_smallest_index) {
  const points_2d points{{6, 6}, {1, 1}, {6.5, 6}, {3, 3}, {1.5, 1.5}, {7, 6.5}};
  const found_clusters found = find_clusters(context, square, {.cutoff = 0.75}, points);
  EXPECT_EQ(found.labels, (labels_type{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(found.sizes, (sizes_type{3, 2, 1}));
}

TEST_F(cluster_finder_test, points_at_the_cutoff_are_not_linked) {
  const points_2d points{{1, 1}, {2, 1}};
  EXPECT_EQ(find_clusters(context, square, {.cutoff = 1}, points).sizes, (sizes_type{1, 1}));
  EXPECT_EQ(find_clusters(context, square, {.cutoff = std::nextafter(1.0, 2.0)}, points).sizes, (sizes_type{2}));
  // A core point counts itself.
  EXPECT_EQ(find_clusters(context, square, {.cutoff = 1, .min_points = 2}, points).labels, (labels_type{-1, -1}));
  EXPECT_EQ(find_clusters(context, square, {.cutoff = 1.01, .min_points = 2}, points).labels, (labels_type{0, 0}));
}

TEST_F(cluster_finder_test, a_border_point_belongs_to_the_smallest_label_that_it_is_linked_to) {
  // Two rows of core points, a point between their ends that is linked to both and is no core point, and noise.
  const points_2d points{{4, 4}, {6, 4},     {5.5, 4.2}, {5.5, 3.8}, {4.9, 4},
                         {2, 4}, {2.5, 4.2}, {2.5, 3.8}, {3.1, 4},   {7.5, 7.5}};
  const cluster_options<double> options{.cutoff = 0.95, .min_points = 4};
  EXPECT_EQ(find_clusters(context, square, options, points).labels, (labels_type{0, 0, 0, 0, 0, 1, 1, 1, 1, -1}));
  points_2d reversed(points.rbegin(), points.rend());
  EXPECT_EQ(find_clusters(context, square, options, reversed).labels, (labels_type{-1, 0, 0, 0, 0, 1, 1, 1, 1, 0}));
}

TEST_F(cluster_finder_test, a_border_point_joins_no_clusters) {
  // Two crosses of five points, whose centers alone are core points with 5; the point 4 belongs to both.
  const points_2d points{{2, 2}, {1.2, 2}, {2, 2.8}, {2, 1.2}, {2.8, 2}, {3.6, 2}, {4.4, 2}, {3.6, 2.8}, {3.6, 1.2}};
  EXPECT_EQ(find_clusters(context, square, {.cutoff = 0.9, .min_points = 5}, points).labels,
            (labels_type{0, 0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(find_clusters(context, square, {.cutoff = 0.9, .min_points = 3}, points).sizes, (sizes_type{9}))
      << "now it is a core point";
}

TEST_F(cluster_finder_test, clusters_cross_periodic_faces_only) {
  const points_2d points{{0.1, 4}, {7.9, 4}, {4, 0.1}, {4, 7.9}};
  EXPECT_EQ(find_clusters(context, box_of<double, 2>({8, 8}, {true, false}), {.cutoff = 0.5}, points).labels,
            (labels_type{0, 0, 1, 2}));
  const points_2d outside{{-7.9, 4}, {15.9, 4}, {4, 0.1}, {4, 7.9}};
  EXPECT_EQ(find_clusters(context, box_of<double, 2>({8, 8}, {true, true}), {.cutoff = 0.5}, outside).labels,
            (labels_type{0, 0, 1, 1}));
}

TEST_F(cluster_finder_test, no_points_one_point_and_sizes_around_a_block) {
  const auto box = box_of<float, 3>({1, 1, 1});
  auto finder = make_cluster_finder(context, box, {.cutoff = 0.01f});
  EXPECT_EQ(find_on(context, finder, uniform(0, 1)), found_clusters{});
  EXPECT_EQ(find_on(context, finder, uniform(1, 1)), (found_clusters{{0}, {1}}));
  for (const std::size_t count : {31u, 32u, 33u, 255u, 256u, 257u, 1000u}) {
    const auto points = uniform(count, count);
    const auto wanted = reference::clusters(box, points, finder.options());
    EXPECT_EQ(find_on(context, finder, points).labels, wanted.labels) << count;
  }
}

TEST_F(cluster_finder_test, all_threads_and_streams_find_the_same) {
  const auto points = uniform(size_or(200'000, 5000), 3);
  const auto box = box_of<float, 3>({1, 1, 1}, {true, true, true});
  for (const std::uint32_t min_points : {1u, 5u}) {
    const float cutoff = std::cbrt(3.0f / static_cast<float>(points.size()) / 4.19f);
    const cluster_options<float> options{.cutoff = cutoff, .min_points = min_points};
    const found_clusters wanted = find_clusters(context, box, options, points);
    EXPECT_GT(wanted.sizes.size(), 10u);
    EXPECT_EQ(std::accumulate(wanted.sizes.begin(), wanted.sizes.end(), std::size_t{0}) +
                  static_cast<std::size_t>(std::count(wanted.labels.begin(), wanted.labels.end(), noise_label)),
              points.size());
    for (const auto& each : all_contexts()) EXPECT_TRUE(find_clusters(each, box, options, points) == wanted);
  }
}

TEST_F(cluster_finder_test, results_belong_to_the_last_points_and_memory_is_kept) {
  counting_memory memory;
  const backend_context counted = memory.context(determinism::none);
  const auto box = box_of<float, 3>({1, 1, 1});
  auto finder = make_cluster_finder(counted, box, {.cutoff = 0.05f, .min_points = 3});
  const auto points = uniform(3000, 1), others = uniform(3000, 2), few = uniform(700, 3);
  const found_clusters first = find_on(counted, finder, points);
  EXPECT_EQ(find_on(counted, finder, few).labels, reference::clusters(box, few, finder.options()).labels);
  EXPECT_EQ(find_on(counted, finder, points), first);
  auto moved = std::move(finder);
  EXPECT_EQ(find_on(counted, moved, others).labels, reference::clusters(box, others, moved.options()).labels);
  const auto there = to_device(counted, points);
  moved.find(points_of(there));
  const auto before = memory.allocations();
  moved.find(points_of(there));
  EXPECT_EQ(memory.allocations(), before);
  EXPECT_GT(moved.bytes(), 3000u * 60);
}

/// Of a call that does not wait; on a CPU it throws by itself.
template <typename Error, typename Finder, typename Points>
std::string error_without_waiting(Finder& finder, const Points& points) {
  return error_of<Error>([&] {
    finder.find_async(points_of(points));
    finder.check();
  });
}

[[nodiscard]] found_clusters result_of(const backend_context& context, cluster_finder<backend_context, float, 3>& it) {
  const cluster_view view = it.view();
  return {to_host(context, view.labels, view.points), to_host(context, view.sizes, view.clusters)};
}

TEST_F(cluster_finder_test, finds_the_same_without_waiting_and_without_memory) {
  const auto box = box_of<float, 3>({1, 1, 1}, {true, true, false});
  constexpr std::size_t count = 3000;
  const auto sparse = uniform(count, 1);
  auto crowd = uniform(count, 2);
  for (std::size_t i = 0; i < count; i += 2) crowd[i] = 0.05f * crowd[i];
  for (const std::uint32_t min_points : {1u, 4u}) {
    const cluster_options<float> options{.cutoff = 0.04f, .min_points = min_points};
    const found_clusters wanted[2] = {find_clusters(context, box, options, sparse),
                                      find_clusters(context, box, options, crowd)};
    counting_memory memory;
    const backend_context counted = memory.context(determinism::none);
    const array<vec<float, 3>, backend_context> stored[2] = {to_device(counted, sparse), to_device(counted, crowd)};
    for (const int first : {0, 1}) {
      auto finder = make_cluster_finder(counted, box, options);
      expect_words(error_without_waiting<argument_error>(finder, stored[0]),
                   {"3000 points", "call find, then reserve"});
      finder.find(points_of(stored[first]));
      finder.reserve(count);
      const auto before = memory.allocations();
      for (const int next : {1 - first, first, 1 - first}) {
        finder.find_async(points_of(stored[next]));
        finder.check();
        EXPECT_EQ(memory.allocations(), before);
        EXPECT_EQ(result_of(counted, finder), wanted[next]) << next;
      }
      const cluster_members members = finder.members();
      EXPECT_EQ(to_host(counted, members.offsets + members.clusters, 1)[0],
                std::accumulate(wanted[1 - first].sizes.begin(), wanted[1 - first].sizes.end(), 0u));
    }
  }
}

TEST_F(cluster_finder_test, says_how_many_clusters_there_would_have_had_to_be_room_for) {
  const auto box = box_of<float, 3>({1, 1, 1});
  const auto apart = uniform(200, 4);
  const std::vector<vec<float, 3>> together(200, {0.5f, 0.5f, 0.5f});
  const auto stored_apart = to_device(context, apart), stored_together = to_device(context, together);
  const cluster_options<float> options{.cutoff = 0.01f};
  const found_clusters wanted = find_clusters(context, box, options, apart);
  auto finder = make_cluster_finder(context, box, options);
  expect_words(error_of<argument_error>([&] { finder.reserve(7); }), {"call find first"});
  finder.find(points_of(stored_together));
  finder.reserve(7);
  const std::string needed = std::to_string(wanted.sizes.size());
  expect_words(error_without_waiting<overflow_error>(finder, stored_apart), {needed + " clusters", "room for 7"});
  for (int k = 0; k < 2; ++k) {
    EXPECT_THROW(finder.check(), overflow_error);
    EXPECT_THROW(static_cast<void>(finder.view()), argument_error);
  }
  finder.find_async(points_of(stored_together));
  finder.check();
  EXPECT_EQ(finder.view().clusters, 1u);
  finder.reserve(wanted.sizes.size());
  finder.find_async(points_of(stored_apart));
  finder.check();
  EXPECT_EQ(result_of(context, finder), wanted);
}

TEST_F(cluster_finder_test, an_error_stays_until_the_next_call) {
  const auto box = box_of<float, 3>({1, 1, 1}, {true, false, false});
  const auto points = uniform(200, 4);
  const found_clusters wanted = find_clusters(context, box, {.cutoff = 0.1f}, points);
  const auto stored = to_device(context, points);
  for (const vec<float, 3>& bad : {vec<float, 3>{NAN, 0, 0}, {3e38f, 0, 0}, {0, 0, 3}}) {
    auto broken = points;
    broken[77] = broken[99] = bad;
    const auto stored_broken = to_device(context, broken);
    auto finder = make_cluster_finder(context, box, {.cutoff = 0.1f});
    finder.find(points_of(stored));
    finder.reserve(200);
    expect_words(error_without_waiting<data_error>(finder, stored_broken), {"point 77 "});
    for (int k = 0; k < 2; ++k) EXPECT_THROW(finder.check(), data_error);
    finder.find_async(points_of(stored));
    finder.check();
    EXPECT_EQ(result_of(context, finder), wanted);
    EXPECT_THROW(finder.find(points_of(stored_broken)), data_error);
    for (int k = 0; k < 2; ++k) EXPECT_THROW(finder.check(), data_error);
    finder.find(points_of(stored));
    finder.check();
    EXPECT_EQ(result_of(context, finder), wanted);
  }
}

#if QUADRAT_BACKEND_CUDA
TEST_F(cluster_finder_test, is_replayed_from_a_graph_with_points_that_have_moved) {
  const auto box = box_of<float, 3>({1, 1, 1}, {true, true, false});
  const cluster_options<float> options{.cutoff = 0.05f, .min_points = 3};
  auto stored = to_device(context, uniform(2000, 1));
  auto finder = make_cluster_finder(context, box, options);
  finder.find(points_of(stored));
  finder.reserve(2000);
  cuda_graph graph;
  graph.capture(context, [&] { finder.find_async(points_of(stored)); });
  const auto put = [&](const std::vector<vec<float, 3>>& points) {
    copy_bytes(context, points.data(), stored.data(), stored.bytes());
    context.synchronize();
    graph.launch(context);
  };
  for (const std::uint64_t seed : {2, 3}) {
    auto points = uniform(2000, seed);
    for (std::size_t i = 0; i < points.size() && seed == 3; i += 2) points[i] = 0.05f * points[i];
    put(points);
    finder.check();
    EXPECT_EQ(result_of(context, finder), find_clusters(context, box, options, points));
  }
  auto broken = uniform(2000, 4);
  broken[5][2] = NAN;
  put(broken);
  for (int k = 0; k < 2; ++k) EXPECT_THROW(finder.check(), data_error);
  put(uniform(2000, 5));
  finder.check();
  EXPECT_EQ(result_of(context, finder), find_clusters(context, box, options, uniform(2000, 5)));
}
#endif

TEST_F(cluster_finder_test, impossible_options_are_refused) {
  const auto box = box_of<float, 3>({1, 1, 1}, {true, false, false});
  const auto refusal = [&](const cluster_options<float>& options) {
    return error_of<argument_error>([&] { static_cast<void>(make_cluster_finder(context, box, options)); });
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  expect_words(refusal({.cutoff = 0}), {"cutoff is 0", "positive"});
  expect_words(refusal({.cutoff = -1}), {"cutoff is -1"});
  expect_words(refusal({.cutoff = infinity}), {"cutoff is inf"});
  expect_words(refusal({.cutoff = std::nanf("")}), {"cutoff is nan"});
  expect_words(refusal({.cutoff = 1e-30f}), {"1e-30", "square"});
  expect_words(refusal({.cutoff = 0.6f}), {"0.6", "half the periodic box along vector 0", "at most 0.5"});
  expect_words(refusal({.cutoff = 0.1f, .min_points = 0}), {"min_points is 0"});
}

TEST_F(cluster_finder_test, bad_points_are_named_and_leave_no_result) {
  auto finder = make_cluster_finder(context, square, {.cutoff = 1});
  expect_words(error_of<argument_error>([&] { static_cast<void>(finder.view()); }), {"find has not been called"});
  const auto refusal = [&](const points_2d& points) {
    const auto there = to_device(context, points);
    const std::string text = error_of<data_error>([&] { finder.find(points_of(there)); });
    expect_words(error_of<argument_error>([&] { static_cast<void>(finder.view()); }), {"no clusters"});
    return text;
  };
  EXPECT_EQ(find_on(context, finder, points_2d{{1, 1}}).labels, (labels_type{0}));
  expect_words(refusal({{1, 1}, {1, 9}, {std::nan(""), 1}}), {"point 1 at (1, 9)", "open box [0, 8] along axis 1"});
  expect_words(refusal({{1, 1}, {std::nan(""), 1}}), {"point 1 at", "not finite"});
  EXPECT_EQ(find_on(context, finder, points_2d{{1, 1}, {1, 1}}).labels, (labels_type{0, 0}));
  points_view<double, 2> nowhere{};
  nowhere.count = 3;
  expect_words(error_of<argument_error>([&] { finder.find(nowhere); }), {"pointer"});
}

}  // namespace

}  // namespace quadrat::test
