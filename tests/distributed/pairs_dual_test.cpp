// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/pairs.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_pair_counts_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_pair_counts_test, testing::Values(1, 2, 3, 4, 7));

TEST_P(distributed_pair_counts_test, counts_sums_and_means_have_the_bits_of_one_rank) {
  const auto body = [](communicator& ranks) {
    check_pairs(ranks, static_cast<std::uint64_t>(ranks.size()) * 1000, size_or(60, 6));
    check_pairs_in_boxes(ranks, static_cast<std::uint64_t>(ranks.size()) * 1000, size_or(60, 12));
    check_sky(ranks, size_or(300, 60));
  };
  EXPECT_NO_THROW(run_ranks(GetParam(), body));
}

/// A box of eight cells along the first axis, periodic along it.
[[nodiscard]] counted_points<double> row_of_points(std::size_t count, double length) {
  counted_points<double> all{
      make_grid(make_box<double, 3>({0, 0, 0}, {8, 1, 1}, {true, false, false}), {8, 1, 1}), {}, {}, {}, {}};
  std::mt19937_64 random(count);
  for (std::size_t i = 0; i < count; ++i) {
    all.points.push_back(
        {length * random_unit<double>(random), random_unit<double>(random), random_unit<double>(random)});
  }
  all.others = all.points;
  all.weights = some_weights<double>(count, 1);
  all.other_weights = some_weights<double>(count, 2);
  return all;
}

TEST_P(distributed_pair_counts_test, all_points_may_be_on_one_rank_or_in_one_spot) {
  const pair_counts_options options{pair_coordinates::r, {0, 0.1, 0.4, 1.5}, {}, true};
  const auto body = [&](communicator& ranks) {
    for (const double length : {8.0, 0.9, 0.0}) {
      const auto all = row_of_points(size_or(200, 40), length);
      check_pairs_of(ranks, all, even_decomposition(all.space, ranks.size()), options, true, message(length));
    }
  };
  EXPECT_NO_THROW(run_ranks(GetParam(), body));
}

TEST_P(distributed_pair_counts_test, bytes_follow_the_points_near_faces) {
  std::vector<std::uint64_t> bytes;
  const auto body = [&](communicator& ranks) {
    const auto all = row_of_points(4000, 8);
    const backend_context context = context_of_rank();
    const auto shares = even_decomposition(all.space, ranks.size());
    const auto points = to_device(context, chosen(all.points, all.own(shares, ranks.rank(), all.points)));
    distributed_pair_counts<backend_context, double, 3> counter(context, ranks, all.space,
                                                                {pair_coordinates::r, {0, 0.01}, {}});
    const std::uint64_t before = ranks.bytes_sent();
    static_cast<void>(counter.count(shares, points_of(points)));
    std::uint64_t numbers[2] = {ranks.bytes_sent() - before, counter.ghosts()};
    ranks.add_up(numbers, 2);
    if (ranks.rank() == 0) bytes = {numbers[0], numbers[1]};
  };
  run_ranks(GetParam(), body);
#if QUADRAT_BACKEND_CPU
  EXPECT_EQ(bytes[0], 24 * bytes[1]);  // GPUs write ghosts into the memory of others
#endif
  // Each of a rank's two faces has 0.01 of 8 of the points on either side.
  EXPECT_LT(bytes[1], 200u);
  EXPECT_EQ(bytes[1] > 0, GetParam() > 1);
}

TEST_P(distributed_pair_counts_test, all_ranks_name_a_bad_point_or_weight_and_its_rank) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto error = [&](int what) {
    const auto body = [nan, what](communicator& ranks) {
      auto all = row_of_points(80, 8);
      const backend_context context = context_of_rank();
      const auto shares = even_decomposition(all.space, ranks.size());
      auto own = chosen(all.points, all.own(shares, ranks.rank(), all.points));
      std::vector<double> weights(own.size(), 1.0);
      const bool last = ranks.rank() == ranks.size() - 1;
      if (last && what == 0) own[1][2] = nan;
      if (last && what == 1) own[1][2] = 1.5;
      if (last && what == 2) weights[1] = nan;
      if (last && what == 3) own[1][0] = 0.5;
      const auto points = to_device(context, own);
      const auto given = to_device(context, weights);
      distributed_pair_counts<backend_context, double, 3> counter(context, ranks, all.space,
                                                                  {pair_coordinates::r, {0, 0.5}, {}});
      static_cast<void>(counter.count(shares, points_of(points), what == 4 && last ? nullptr : given.data()));
    };
    return [body] { run_ranks(GetParam(), body); };
  };
  const std::string rank = message("rank ", GetParam() - 1);
  expect_words(error_of<data_error>(error(0)), {"point 1", rank, "not finite"});
  expect_words(error_of<data_error>(error(1)), {"point 1", rank, "1.5"});
  expect_words(error_of<data_error>(error(2)), {"weight", "point 1", rank, "nan"});
  if (GetParam() == 1) return;
  expect_words(error_of<data_error>(error(3)), {"point 1", rank, "in a cell of rank 0"});
  expect_words(error_of<argument_error>(error(4)), {"rank 0 gives weights", rank, "without"});
}

class distributed_pair_counts_options_test : public backend_test {};

TEST_F(distributed_pair_counts_options_test, a_sky_with_a_periodic_box_and_bad_edges_are_refused) {
  const auto make = [&](const pair_counts_options& options) {
    return [&, options] {
      run_ranks(2, [&](communicator& ranks) {
        static_cast<void>(distributed_pair_counts<backend_context, double, 3>(context_of_rank(), ranks,
                                                                              row_of_points(1, 1).space, options));
      });
    };
  };
  expect_words(error_of<argument_error>(make({pair_coordinates::theta, {0, 1}, {}})),
               {"periodic along axis 0", "theta"});
  expect_words(error_of<argument_error>(make({pair_coordinates::r, {1, 0}, {}})), {"edge"});
}

}  // namespace

}  // namespace quadrat::test
