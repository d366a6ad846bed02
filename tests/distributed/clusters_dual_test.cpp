// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/clusters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_clusters_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_clusters_test, testing::Values(1, 2, 3, 4, 7));

TEST_P(distributed_clusters_test, labels_are_those_of_one_rank) {
  const auto body = [](communicator& ranks) {
    check_clusters(ranks, static_cast<std::uint64_t>(ranks.size()) * 1000, size_or(400, 20));
    check_clusters_in_boxes(ranks, static_cast<std::uint64_t>(ranks.size()) * 1000, size_or(400, 36));
    check_chains(ranks);
  };
  EXPECT_NO_THROW(run_ranks(GetParam(), body));
}

/// Uniform points of which each has about `neighbors` neighbors within 0.1.
[[nodiscard]] clustered_points<double, 2> gas_of(int cells, double neighbors, double length) {
  clustered_points<double, 2> all{row_of_cells(cells, true), {}};
  std::mt19937_64 random(static_cast<std::uint64_t>(100 * neighbors));
  const auto count = static_cast<std::size_t>(neighbors * cells / 0.0314);
  for (std::size_t i = 0; i < count; ++i) {
    all.points.push_back({length * random_unit<double>(random), random_unit<double>(random)});
  }
  return all;
}

TEST_P(distributed_clusters_test, points_may_be_crowded_on_one_rank_in_one_spot_or_on_faces) {
  const auto body = [](communicator& ranks) {
    for (const double neighbors : {1.0, 3.0, 4.5}) {
      for (const std::uint32_t min_points : {1u, 4u, 8u}) {
        auto all = gas_of(8, neighbors, 8);
        const auto shares = even_decomposition(all.space, ranks.size());
        check_clusters_of(ranks, all, shares, {0.1, min_points}, "a gas");
        for (auto& point : all.points) point[0] = std::floor(point[0]);
        check_clusters_of(ranks, all, shares, {0.1, min_points}, "points on faces");
        for (auto& point : all.points) point[0] = 0.01 * point[1];
        check_clusters_of(ranks, all, shares, {0.1, min_points}, "one rank");
        for (auto& point : all.points) point = all.points.front();
        check_clusters_of(ranks, all, shares, {0.1, min_points}, "a spot");
      }
    }
  };
  EXPECT_NO_THROW(run_ranks(GetParam(), body));
}

class distributed_clusters_cost_test : public backend_test {};

/// The blocks of ranks in another order.
[[nodiscard]] decomposition<2> shuffled_ranks(const decomposition<2>& shares, std::uint64_t seed) {
  std::vector<int> places(shares.blocks.size());
  std::iota(places.begin(), places.end(), 0);
  std::mt19937_64 random(seed);
  std::shuffle(places.begin(), places.end(), random);
  decomposition<2> result = shares;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    result.blocks[static_cast<std::size_t>(places[rank])] = shares.blocks[rank];
  }
  for (rank_cut& cut : result.cuts) {
    for (int* const child : {&cut.below, &cut.above}) {
      if (*child < 0) *child = -1 - places[static_cast<std::size_t>(-1 - *child)];
    }
  }
  return result;
}

/// Of a chain over many ranks, in order of rank or in another one.
[[nodiscard]] int rounds_of_chain(int ranks, std::uint64_t shuffled) {
  int rounds = 0;
  run_ranks(ranks, [&](communicator& group) {
    const auto all = chain_of_points(ranks, false, false);
    auto shares = even_decomposition(all.space, ranks);
    if (shuffled > 0) shares = shuffled_ranks(shares, shuffled);
    const cluster_costs costs = check_clusters_of(group, all, shares, {0.07, 1}, "a chain");
    if (group.rank() == 0) rounds = costs.rounds;
  });
  return rounds;
}

TEST_F(distributed_clusters_cost_test, rounds_that_unite_a_chain_grow_with_the_logarithm_of_the_ranks) {
  for (const std::uint64_t shuffled : {0u, 1u, 2u}) {
    const int few = rounds_of_chain(4, shuffled), many = rounds_of_chain(64, shuffled);
    EXPECT_GT(few, 0);
    EXPECT_LE(many, few + 5 * 4) << shuffled;  // 16 times as many ranks: four doublings
  }
}

TEST_F(distributed_clusters_cost_test, bytes_that_unite_clusters_follow_faces_and_fragments_there) {
  cluster_costs costs{}, denser{};
  run_ranks(4, [&](communicator& ranks) {
    const auto body = [&](double neighbors) {
      const auto all = gas_of(40, neighbors, 40);
      return check_clusters_of(ranks, all, even_decomposition(all.space, ranks.size()), {0.1, 1}, "a gas");
    };
    const cluster_costs first = body(8), second = body(16);
    if (ranks.rank() == 0) costs = first, denser = second;
  });
  // Nearly all points are one cluster, and a few at faces travel: 16 bytes of positions and 4 of fragments each.
  for (const cluster_costs& each : {costs, denser}) {
    EXPECT_LT(each.fragments, 40u);
    EXPECT_LE(each.bytes, 20 * each.ghosts + 32 * each.fragments * static_cast<std::uint64_t>(each.rounds + 2));
  }
  EXPECT_LT(costs.ghosts, 1600u);
}

TEST_P(distributed_clusters_test, all_ranks_name_a_bad_point_and_its_rank) {
  const auto error = [](int what) {
    return [what] {
      run_ranks(GetParam(), [what](communicator& ranks) {
        const backend_context context = context_of_rank();
        const auto all = chain_of_points(ranks.size(), true, false);
        const auto shares = even_decomposition(all.space, ranks.size());
        std::vector<vec<double, 2>> own;
        for (const auto& point : all.points) {
          if (shares.view().owner(all.space.unfolded_cell_of(point)) == ranks.rank()) own.push_back(point);
        }
        const bool last = ranks.rank() == ranks.size() - 1;
        if (last && what == 0) own.back()[0] = std::numeric_limits<double>::quiet_NaN();
        if (last && what == 1) own.back()[1] = 1.5;
        if (last && what == 2) own.back()[0] = 0.5;
        const auto points = to_device(context, own);
        distributed_cluster_finder<backend_context, double, 2> finder(context, ranks, all.space, {0.07, 2});
        try {
          finder.find(shares, points_of(points));
        } catch (const data_error&) {
          expect_words(error_of<argument_error>([&] { static_cast<void>(finder.view()); }), {"failed"});
          throw;
        }
      });
    };
  };
  const std::string rank = message("rank ", GetParam() - 1);
  expect_words(error_of<data_error>(error(0)), {"point 31", rank, "not finite"});
  expect_words(error_of<data_error>(error(1)), {"point 31", rank, "1.5"});
  if (GetParam() > 1) expect_words(error_of<data_error>(error(2)), {"point 31", rank, "in a cell of rank 0"});
}

TEST_F(distributed_clusters_cost_test, options_that_one_rank_refuses_are_refused) {
  const auto make = [](const cluster_options<double>& options) {
    return [options] {
      run_ranks(2, [&](communicator& ranks) {
        static_cast<void>(distributed_cluster_finder<backend_context, double, 2>(context_of_rank(), ranks,
                                                                                 row_of_cells(4, true), options));
      });
    };
  };
  expect_words(error_of<argument_error>(make({2.5, 1})), {"cutoff", "2.5"});
  expect_words(error_of<argument_error>(make({0.1, 0})), {"min_points"});
}

TEST_F(distributed_clusters_cost_test,
       a_finder_without_a_grid_takes_no_decomposition_and_one_with_a_grid_does_without) {
  const auto body = [](communicator& ranks) {
    const backend_context context = context_of_rank();
    const auto all = chain_of_points(ranks.size(), true, false);
    const auto shares = even_decomposition(all.space, ranks.size());
    std::vector<vec<double, 2>> own;
    for (const auto& point : all.points) {
      if (shares.view().owner(all.space.unfolded_cell_of(point)) == ranks.rank()) own.push_back(point);
    }
    const auto points = to_device(context, own);
    const cluster_options<double> options{0.07, 1};
    distributed_cluster_finder<backend_context, double, 2> with(context, ranks, all.space, options),
        without(context, ranks, make_lattice(all.space.domain), options);
    expect_words(error_of<argument_error>([&] { without.find(shares, points_of(points)); }), {"without a grid"});
    without.find(points_of(points));
    with.find(points_of(points));
    expect(with.view().clusters == 1 && without.view().clusters == 1, "a chain is one cluster");
    expect(without.ghosts() > 0 && without.ghosts() < 8, "there are ", without.ghosts(), " ghosts at two faces");
  };
  EXPECT_NO_THROW(run_ranks(3, body));
}

}  // namespace

}  // namespace quadrat::test
