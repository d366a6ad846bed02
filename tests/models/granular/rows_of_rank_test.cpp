// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/ranks/rows_of_rank.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "models/granular/setup.hpp"
#include "models/granular/support.hpp"
#include "models/ranks/exchange.hpp"
#include "quadrat/cells/counting.hpp"

// Rows of near grains of a rank, against all pairs.

namespace quadrat::test {

namespace {

constexpr double diameter = 1.0 / 16;
constexpr double half_skin = detail::kept_rows<double>::skin * diameter / 2;
constexpr std::size_t many_steps = 1000;

/// Grains of which the first are own ones, and their rows.
struct rank_of_grains {
  cpu_context context{{.threads = 2}};
  detail::granular_setup<double> setup;
  std::size_t own;
  std::vector<packed_record<double, 3>> positions{};
  std::vector<detail::velocity_record<double>> velocities{};
  detail::rows_of_rank<double> rows;

  rank_of_grains(const points& places, std::size_t mine) : setup(setup_for(places.size())), own(mine), rows(setup) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      positions.push_back({places[i], no_particle});
      // Ids in another order than places.
      velocities.push_back({{}, static_cast<particle_id>(places.size() - i)});
    }
  }

  [[nodiscard]] static detail::granular_setup<double> setup_for(std::size_t count) {
    granular_options options;
    options.parameters.radius = diameter / 2;
    options.cells = {32, 32, 32};
    return detail::make_granular_setup<double>(options, count);
  }

  /// By a new cell list.
  [[nodiscard]] bool make() {
    using cell_list = cell_methods::counting::type<cpu_context, double, 3>;
    cell_list cells(context, setup.space, {.fold_reach = rows.reach(setup)});
    cells.build(detail::points_of_records<double, 3>(positions.data(), positions.size()));
    return rows.make(context, cells.view(), {positions.data(), velocities.data()}, own, positions.size());
  }
  [[nodiscard]] bool serve(double move) { return rows.serve(context, positions.data(), positions.size(), move); }
  [[nodiscard]] bool worth_when_slow() const { return rows.worth(0, many_steps); }
};

TEST(rows_of_rank, have_all_near_grains_and_ghosts_in_order_of_ids) {
  for (const std::size_t own : {900u, 1u, 0u}) {
    rank_of_grains rank(scattered(1200, 3, 0.2, 0.6), own);
    ASSERT_TRUE(rank.make());
    for (std::uint32_t i = 0; i < own; ++i) {
      std::vector<std::uint32_t> expected;
      // Ids fall with places.
      for (std::uint32_t j = 1200; j-- > 0;) {
        const double reach = (1 + detail::kept_rows<double>::skin) * diameter;
        const bool near = squared_norm(rank.positions[j].position - rank.positions[i].position) < reach * reach;
        if (near && j != i) expected.push_back(j);
      }
      const detail::kept_row row = rank.rows.view().rows[i];
      ASSERT_EQ(std::vector(row.first, row.first + row.count), expected) << i;
    }
  }
}

TEST(rows_of_rank, serve_until_a_grain_or_a_ghost_has_moved_by_half_of_the_skin) {
  rank_of_grains rank(scattered(300, 4), 200);
  EXPECT_FALSE(rank.serve(0));
  for (const std::size_t moved : {7u, 250u}) {
    ASSERT_TRUE(rank.make());
    double& x = rank.positions[moved].position[0];
    for (int step = 0; step < 4; ++step) {
      EXPECT_TRUE(rank.serve(half_skin / 5)) << moved;
      x += half_skin / 5;
    }
    x += half_skin / 5;
    EXPECT_FALSE(rank.serve(2 * half_skin / 5)) << moved;
    // Until they are made again.
    x -= half_skin;
    EXPECT_FALSE(rank.serve(half_skin)) << moved;
  }
}

TEST(rows_of_rank, serve_grains_that_move_to_and_fro) {
  rank_of_grains rank(scattered(300, 5), 200);
  ASSERT_TRUE(rank.make());
  for (int step = 0; step < 40; ++step) {
    for (auto& one : rank.positions) one.position[1] += (step % 2 == 0 ? 0.4 : -0.4) * half_skin;
    EXPECT_TRUE(rank.serve(0.4 * half_skin)) << step;
  }
}

TEST(rows_of_rank, are_worth_it_where_they_last) {
  rank_of_grains rank(scattered(10, 6), 10);
  EXPECT_TRUE(rank.rows.worth(0, many_steps));
  EXPECT_TRUE(rank.rows.worth(half_skin / 10, 10));
  EXPECT_FALSE(rank.rows.worth(half_skin, many_steps));
  EXPECT_FALSE(rank.rows.worth(0, 1));
}

TEST(rows_of_rank, of_crowds_are_not_tried_again_until_grains_are_others) {
  rank_of_grains rank(points(1200, {0.01, 0.02, 0.03}), 1200);
  EXPECT_FALSE(rank.make());
  EXPECT_FALSE(rank.serve(0));
  EXPECT_FALSE(rank.worth_when_slow());
  rank.rows.forget();
  EXPECT_TRUE(rank.worth_when_slow());
  EXPECT_FALSE(rank.serve(0));
}

TEST(rows_of_rank, are_forgotten_with_their_grains) {
  rank_of_grains rank(scattered(100, 7), 60);
  ASSERT_TRUE(rank.make());
  EXPECT_TRUE(rank.serve(0));
  rank.rows.forget();
  EXPECT_FALSE(rank.serve(0));
}

}  // namespace

}  // namespace quadrat::test
