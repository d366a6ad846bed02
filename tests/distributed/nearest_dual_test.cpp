// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/nearest.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_nearest_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_nearest_test, testing::Values(1, 2, 3, 4, 7));

TEST_P(distributed_nearest_test, rows_have_the_bits_of_one_rank) {
  const auto body = [](communicator& ranks) {
    check_nearest(ranks, static_cast<std::uint64_t>(ranks.size()) * 1000, size_or(120, 12));
  };
  EXPECT_NO_THROW(run_ranks(GetParam(), body));
}

/// Slabs along the first axis, of which some may be empty.
[[nodiscard]] ranked_points<double, 3> in_slabs(int ranks, const std::vector<vec<double, 3>>& points, double length) {
  ranked_points<double, 3> all;
  all.box = make_lattice(make_box<double, 3>({0, 0, 0}, {length, 1, 1}, {true, false, true}));
  all.points.resize(static_cast<std::size_t>(ranks));
  all.queries.resize(static_cast<std::size_t>(ranks));
  for (const auto& point : points) {
    all.points[std::min(static_cast<std::size_t>(point[0] / length * ranks), all.points.size() - 1)].push_back(point);
  }
  return all;
}
[[nodiscard]] std::vector<vec<double, 3>> uniform_points(std::size_t count, double from, double to) {
  std::mt19937_64 random(count);
  std::vector<vec<double, 3>> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(
        {from + (to - from) * random_unit<double>(random), random_unit<double>(random), random_unit<double>(random)});
  }
  return points;
}

/// The neighbors of a few points are on ranks beyond empty ones, and k exceeds the points of most ranks.
TEST_P(distributed_nearest_test, neighbors_are_found_on_ranks_far_apart) {
  for (const std::size_t k : {1u, 5u, 40u}) {
    const auto body = [k](communicator& ranks) {
      auto points = uniform_points(60, 0, 0.5);
      const auto few = uniform_points(3, 5, 5.25);
      points.insert(points.end(), few.begin(), few.end());
      nearest_options<double> options;
      options.k = k;
      options.shifts = true;
      check_nearest_of(ranks, in_slabs(ranks.size(), points, 8), options, message("k ", k));
      check_nearest_of(ranks, in_slabs(ranks.size(), few, 8), options, message("few points, k ", k));
      check_nearest_of(ranks, in_slabs(ranks.size(), {}, 8), options, "no points");
    };
    EXPECT_NO_THROW(run_ranks(GetParam(), body));
  }
}

TEST_P(distributed_nearest_test, what_is_sent_follows_the_points_near_others) {
  const std::size_t count = size_or(20'000, 4'000);
  const auto body = [count](communicator& ranks) {
    nearest_options<double> options;
    options.k = 8;
    const auto sent = check_nearest_of(ranks, in_slabs(ranks.size(), uniform_points(count, 0, 8), 8), options, "slabs");
    expect((sent > 0) == (ranks.size() > 1), sent, " copies were sent");
    // The 8th neighbor is at (8 * 8 / count * 3 / (4 pi))^(1/3) on average: a layer of that on both sides of each face.
    const double layer = std::cbrt(8.0 * 8 * 3 / (4 * 3.14159 * static_cast<double>(count)));
    const double most = 2.0 * 2 * ranks.size() * layer / 8 * static_cast<double>(count);
    expect(static_cast<double>(sent) < most, sent, " copies were sent; at most ", most, " are near faces");
  };
  EXPECT_NO_THROW(run_ranks(GetParam(), body));
}

TEST_P(distributed_nearest_test, all_ranks_name_a_bad_point_and_its_rank_and_later_calls_are_right) {
  const auto body = [](communicator& ranks) {
    const backend_context context = context_of_rank();
    const auto all = in_slabs(ranks.size(), uniform_points(100, 0, 8), 8);
    const auto good = to_device(context, all.points[static_cast<std::size_t>(ranks.rank())]);
    auto values = all.points[static_cast<std::size_t>(ranks.rank())];
    if (ranks.rank() == ranks.size() - 1) values[1][2] = std::numeric_limits<double>::quiet_NaN();
    const auto bad = to_device(context, values);
    nearest_options<double> options;
    options.k = 3;
    distributed_nearest_neighbors<backend_context, double, 3> nearest(context, ranks, all.box, options);
    expect_words(error_of<argument_error>([&] { nearest.search(); }), {"there are no points"});
    expect_words(error_of<data_error>([&] { nearest.build(points_of(bad)); }),
                 {"point 1", message("rank ", ranks.size() - 1)});
    expect_words(error_of<argument_error>([&] { nearest.search(); }), {"there are no points"});
    nearest.build(points_of(good));
    expect_words(error_of<argument_error>([&] { static_cast<void>(nearest.view()); }), {"there are no neighbors"});
    expect_words(error_of<data_error>([&] { nearest.search(points_of(bad)); }),
                 {"1", message("rank ", ranks.size() - 1)});
    nearest.search();
    EXPECT_EQ(nearest.view().rows, good.size());
  };
  EXPECT_NO_THROW(run_ranks(GetParam(), body));
}

}  // namespace

}  // namespace quadrat::test
