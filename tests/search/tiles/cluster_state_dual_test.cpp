// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "quadrat/search/make_neighbor_list.hpp"
#include "quadrat/search/visit_clusters.hpp"
#include "search/tiles/list.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Cluster pairs: equal to a neighbor list, reproducible, with a cost that follows the points; which points a result
// belongs to, and what is refused.

namespace quadrat::test {

namespace {

using force_sum = interaction<float, 3>;
using point_cloud = std::vector<vec<float, 3>>;

struct soft_repulsion {
  QUADRAT_HD force_sum operator()(particle_id, particle_id, const vec<float, 3>& r, float rr) const {
    const float s = 1 / (rr + 0.25f);
    return make_interaction(r, rr, s, -2 * s * s);
  }
};
struct one_for_each {
  QUADRAT_HD std::uint32_t operator()(particle_id, particle_id, const vec<float, 3>&, float) const { return 1; }
};

#if QUADRAT_BACKEND_CPU
/// Index: row.
struct count_row_visits {
  detail::tile_search<float, 3> search;
  std::uint32_t* visits;

  void operator()(std::size_t row) const {
    const auto ignore = [](const vec<float, 3>&, std::uint32_t) {};
    detail::tile_finder<float, 3, decltype(ignore)> finder(search, row, ignore);
    finder.find();
    visits[row] = static_cast<std::uint32_t>(finder.visits());
  }
};
#endif

/// Boxes and groups that are compared with the points of each row.
[[nodiscard]] std::vector<std::uint32_t> visits_of_rows(const backend_context& context,
                                                        detail::tile_search<float, 3> search, std::size_t rows) {
  array<std::uint32_t, backend_context> visits(context, rows);
#if QUADRAT_BACKEND_CPU
  for_each(context, "test.visits", rows, count_row_visits{search, visits.data()});
#else
  array<std::uint32_t, backend_context> counts(context, rows);
  search.visits = visits.data();
  detail::enqueue_tile_counts(context, search, rows, counts.data());
#endif
  return to_host(context, visits);
}

[[nodiscard]] point_cloud uniform_cloud(std::size_t count, float edge, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  point_cloud points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(make_vec<float, 3>([&](int) { return edge * random_unit<float>(random); }));
  }
  return points;
}

[[nodiscard]] box<float, 3> cube_box(float edge, bool periodic) {
  return make_box<float, 3>({}, vec<float, 3>::filled(edge), vec<bool, 3>::filled(periodic));
}

class cluster_state_test : public backend_test {
 protected:
  const backend_context context;
  const box<float, 3> domain = cube_box(12, true);

  [[nodiscard]] static std::vector<force_sum> forces(const backend_context& where, const point_cloud& host) {
    const auto points = to_device(where, host);
    auto list = make_cluster_pair_list(where, cube_box(12, true), {.cutoff = 1.5f, .skin = 0.2f});
    list.update(points_of(points));
    array<force_sum, backend_context> sums(where, host.size());
    accumulate_neighbors(list, sums.data(), soft_repulsion{});
    return to_host(where, sums);
  }
  /// Tiles per point.
  [[nodiscard]] double tiles_of(const point_cloud& host, const box<float, 3>& around) const {
    const auto points = to_device(context, host);
    auto list = make_cluster_pair_list(context, around, {.cutoff = 1});
    list.build(points_of(points));
    return static_cast<double>(list.tiles()) / static_cast<double>(host.size());
  }
};

TEST_F(cluster_state_test, sums_equal_those_of_a_neighbor_list) {
  const auto host = uniform_cloud(size_or(20'000, 3'000), 12, 1);
  const auto points = to_device(context, host);
  auto neighbors = make_neighbor_list(context, domain, {.cutoff = 1.5f, .skin = 0.2f});
  neighbors.update(points_of(points));
  array<force_sum, backend_context> sums(context, host.size());
  array<std::uint32_t, backend_context> counts(context, host.size()), counts_of_tiles(context, host.size());
  accumulate_neighbors(neighbors, sums.data(), soft_repulsion{});
  accumulate_neighbors(neighbors, counts.data(), one_for_each{});
  auto list = make_cluster_pair_list(context, domain, {.cutoff = 1.5f, .skin = 0.2f});
  list.update(points_of(points));
  accumulate_neighbors(list, counts_of_tiles.data(), one_for_each{});
  const auto wanted = to_host(context, sums);
  const auto got = forces(context, host);
  std::size_t different = 0;
  const auto expected = to_host(context, counts), found = to_host(context, counts_of_tiles);
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (expected[i] != found[i]) ++different;  // a pair at the cutoff, by rounding
    if (expected[i] != found[i]) continue;
    ASSERT_NEAR(got[i].energy, wanted[i].energy, 1e-3f * wanted[i].energy + 1e-3f) << i;
    for (int axis = 0; axis < 3; ++axis) ASSERT_NEAR(got[i].force[axis], wanted[i].force[axis], 2e-3f) << i;
  }
  EXPECT_LE(different, 2u);
}

TEST_F(cluster_state_test, sums_are_the_same_bits_in_every_run_and_for_any_number_of_threads) {
  const auto host = uniform_cloud(size_or(20'000, 3'000), 12, 2);
  const auto wanted = forces(context_at(determinism::run_to_run, 1), host);
  for (const int threads : {1, 2, 3, 7}) {
    const auto got = forces(context_at(determinism::run_to_run, threads), host);
    EXPECT_EQ(std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(force_sum)), 0) << threads;
  }
}

TEST_F(cluster_state_test, tiles_follow_the_points_and_not_the_box) {
  auto host = uniform_cloud(size_or(8'000, 2'000), 12, 3);
  const double tight = tiles_of(host, cube_box(12, false));
  EXPECT_LT(tight, 6);
  EXPECT_LE(tiles_of(host, cube_box(12'000, false)), 1.1 * tight);
  host.push_back({1e6f, -1e6f, 3e5f});
  EXPECT_LE(tiles_of(host, cube_box(12, false)), 1.3 * tight);
}

/// The most boxes that the points of a row are compared with, without images.
TEST_F(cluster_state_test, no_row_searches_everything_because_of_stray_points) {
  auto host = uniform_cloud(size_or(8'000, 2'000), 12, 8);
  const auto visits = [&](const point_cloud& cloud) {
    const auto shape = make_lattice(cube_box(12, false));
    detail::nearest_points<backend_context, float, 3> tree(
        context, detail::images_in_reach(shape, cluster_pair_options<float>{.cutoff = 1}), false);
    const auto points = to_device(context, cloud);
    tree.build(points_of(points));
    const std::size_t rows = (cloud.size() + 31) / 32;
    const auto found = visits_of_rows(context, {tree.tree(), tree.images(), 1, 1.0001f, nullptr}, rows);
    return *std::max_element(found.begin(), found.end());
  };
  const auto without = visits(host);
  // Some come before all others in the order and some after: the boxes of the first and the last row contain
  // everything.
  for (int corner = 0; corner < 8; ++corner) {
    host[static_cast<std::size_t>(corner)] =
        make_vec<float, 3>([&](int axis) { return (corner >> axis & 1) != 0 ? 1e6f : -1e6f; });
  }
  EXPECT_LE(visits(host), 3 * without);
}

TEST_F(cluster_state_test, results_belong_to_the_points_of_the_last_update) {
  auto host = uniform_cloud(1000, 12, 4);
  auto points = to_device(context, host);
  auto list = make_cluster_pair_list(context, domain, {.cutoff = 1.5f, .skin = 0.4f});
  EXPECT_TRUE(list.update(points_of(points)));
  array<force_sum, backend_context> before(context, host.size()), after(context, host.size());
  accumulate_neighbors(list, before.data(), soft_repulsion{});
  for (auto& point : host) point += vec<float, 3>{0.1f, -0.05f, 24};
  const auto shifted = to_device(context, host);
  fill_bytes(context, points.data(), 0, points.bytes());  // has no effect
  accumulate_neighbors(list, after, soft_repulsion{});
  const auto first = to_host(context, before), second = to_host(context, after);
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(force_sum)), 0);
  EXPECT_FALSE(list.update(points_of(shifted))) << "moved by less than half of the skin, and by whole boxes";
  accumulate_neighbors(list, after.data(), soft_repulsion{});
  const auto third = to_host(context, after);
  for (std::size_t i = 0; i < host.size(); ++i) ASSERT_NEAR(third[i].energy, first[i].energy, 1e-2f) << i;
  host[7][0] += 0.3f;
  const auto moved = to_device(context, host);
  EXPECT_TRUE(list.update(points_of(moved)));
  host.pop_back();
  const auto fewer = to_device(context, host);
  EXPECT_TRUE(list.update(points_of(fewer)));
  EXPECT_EQ(list.view().points, 999u);
}

TEST_F(cluster_state_test, a_second_build_of_the_same_size_allocates_nothing) {
  const auto points = to_device(context, uniform_cloud(3000, 12, 5));
  auto list = make_cluster_pair_list(context, domain, {.cutoff = 1});
  list.build(points_of(points));
  const std::size_t bytes = list.bytes();
  list.build(points_of(points));
  EXPECT_EQ(list.bytes(), bytes);
}

TEST_F(cluster_state_test, refuses_impossible_options) {
  const auto error = [&](const cluster_pair_options<float>& options, const box<float, 3>& around) {
    return error_of<argument_error>([&] { static_cast<void>(make_cluster_pair_list(context, around, options)); });
  };
  expect_words(error({.cutoff = 0}, domain), {"cutoff is 0", "positive"});
  expect_words(error({.cutoff = std::numeric_limits<float>::infinity()}, domain), {"cutoff is inf", "finite"});
  expect_words(error({.cutoff = 1, .skin = -1}, domain), {"skin is -1", "not negative"});
  expect_words(error({.cutoff = 1e-30f}, domain), {"squares"});
  expect_words(error({.cutoff = 40}, cube_box(1, true)), {"cutoff with the skin, 40", "33 periods", "larger box"});
}

TEST_F(cluster_state_test, names_the_first_point_at_fault_and_is_unusable_then) {
  auto list = make_cluster_pair_list(context, domain, {.cutoff = 1, .skin = 0.1f});
  expect_words(error_of<argument_error>([&] { static_cast<void>(list.view()); }), {"build has not been called"});
  auto host = uniform_cloud(100, 12, 6);
  const auto good = to_device(context, host);
  list.build(points_of(good));
  host[41][1] = std::nanf("");
  host[63][1] = 1e9f;
  const auto bad = to_device(context, host);
  expect_words(error_of<data_error>([&] { static_cast<void>(list.update(points_of(bad))); }),
               {"point 41 at", "not finite"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(list.view()); }), {"last build failed"});
  array<force_sum, backend_context> sums(context, host.size());
  EXPECT_THROW(accumulate_neighbors(list, sums.data(), soft_repulsion{}), argument_error);
  EXPECT_TRUE(list.update(points_of(good)));
  EXPECT_THROW(accumulate_neighbors(list, static_cast<force_sum*>(nullptr), soft_repulsion{}), argument_error);
  auto without_skin = make_cluster_pair_list(context, domain, {.cutoff = 1});
  expect_words(error_of<argument_error>([&] { static_cast<void>(without_skin.update(points_of(good))); }),
               {"needs a skin"});
}

}  // namespace

}  // namespace quadrat::test
