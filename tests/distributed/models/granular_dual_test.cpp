// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "distributed/models/granular.hpp"
#include "models/ranks/fitted_cells.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/neighborhood.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class granular_ranks_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, granular_ranks_test, testing::Values(1, 2, 3, 4, 8));

const std::vector<vec<double, 3>> no_grains;

TEST_P(granular_ranks_test, canonical_runs_have_the_bits_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_granular(ranks, size_or(1500, 300)); }));
}

using fitted_list = detail::fitted_cells<backend_context, double, 3>;
constexpr double near = 0.05;

struct count_near {
  fitted_list::view_type view;
  points_view<double, 3> points;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t count = 0;
    for_each_candidate(view, points[i], near,
                       [&](particle_id j) { count += squared_norm(points[j] - points[i]) < near * near ? 1 : 0; });
    counts[i] = count;
  }
};

class fitted_cells_test : public backend_test {
 protected:
  /// Builds the list, and compares how many points are near each with all pairs.
  static void check(const backend_context& context, fitted_list& cells, const std::vector<vec<double, 3>>& points,
                    bool fit) {
    const auto there = to_device(context, points);
    const auto view = points_of(there.data(), points.size());
    if (fit) cells.fit(context, view);
    cells.build_async(view);
    array<std::uint32_t, backend_context> counts(context, points.size());
    for_each(context, "test.near", points.size(), count_near{cells.view(), view, counts.data()});
    std::vector<std::uint32_t> expected(points.size(), 0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (const auto& other : points) expected[i] += squared_norm(other - points[i]) < near * near ? 1 : 0;
    }
    EXPECT_EQ(to_host(context, counts), expected);
  }
};

TEST_F(fitted_cells_test, walks_find_all_points_where_they_are_and_where_they_have_moved) {
  const auto domain = make_box(vec<double, 3>{}, vec<double, 3>{1, 20, 1}, {true, false, false});
  const backend_context context = context_of_rank();
  fitted_list cells(context, make_grid_for_cutoff(domain, near), near);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> draw(0, 0.3);
  std::vector<vec<double, 3>> points(400);
  for (auto& point : points) point = {draw(random), 7 + draw(random), 0.4 + draw(random)};
  check(context, cells, points, true);
  EXPECT_LE(cells.view().space.size(), 20u * 8u * 8u);
  // To places outside of those cells, and of the box.
  for (auto& point : points) point[1] += 3 * draw(random) - 0.4;
  points[7][2] = 1.5;
  check(context, cells, points, false);
  points[8] = {0.5, 19.9, 0};
  check(context, cells, points, true);
  check(context, cells, {}, true);
  check(context, cells, {points[0]}, true);
  EXPECT_EQ(cells.view().space.size(), 20u);
}

/// The state of a scene after some steps, as rank 0 has it.
template <typename T>
[[nodiscard]] granular_state<T> state_after(int count, std::size_t steps, const granular_scene_of_ranks& scene,
                                            determinism level, const granular_state<T>* start = nullptr) {
  granular_state<T> result;
  run_ranks(count, [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_granular<backend_context, T> model(context_of_rank(level), ranks, scene.options,
                                                   root ? scene.positions : no_grains,
                                                   root ? scene.velocities : no_grains);
    if (start != nullptr) model.restore(root ? *start : granular_state<T>());
    model.advance(steps);
    auto state = model.state();
    if (root) result = std::move(state);
  });
  return result;
}

TEST_P(granular_ranks_test, a_state_of_some_ranks_continues_on_others) {
  const granular_scene_of_ranks scene(400, 11, {0.5, 0.5, 1});
  const auto whole = state_after<float>(GetParam(), 40, scene, determinism::canonical);
  const auto half = state_after<float>(GetParam(), 20, scene, determinism::canonical);
  for (const int others : {1, 3, 4}) {
    const auto end = state_after<float>(others, 20, scene, determinism::canonical, &half);
    EXPECT_EQ(end.step, 40u);
    EXPECT_TRUE(equal_bits(end.positions, whole.positions) && equal_bits(end.velocities, whole.velocities)) << others;
  }
  granular<backend_context, float> alone(context_of_rank(determinism::canonical), scene.options, scene.positions);
  alone.restore(half);
  alone.advance(20);
  EXPECT_TRUE(equal_bits(alone.positions(), whole.positions));
}

TEST_P(granular_ranks_test, shares_hold_consecutive_ids_and_are_restored_on_others) {
  const granular_scene_of_ranks scene(403, 21, {0.5, 0.5, 1});
  const auto whole = state_after<double>(GetParam(), 40, scene, determinism::canonical);
  const auto half = state_after<double>(GetParam(), 20, scene, determinism::canonical);
  for (const int others : {1, 3, 8}) {
    run_ranks(others, [&](communicator& ranks) {
      const key_share ids = keys_of_rank(403, ranks.rank(), ranks.size());
      const auto first = static_cast<std::ptrdiff_t>(ids.first), end = static_cast<std::ptrdiff_t>(ids.end);
      // Every rank brings its grains, at first with what is not theirs.
      distributed_granular<backend_context, double> model(
          context_of_rank(determinism::canonical), ranks, scene.options,
          std::span(scene.positions).subspan(ids.first, ids.end - ids.first));
      granular_state<double> mine{half.step,
                                  {half.positions.begin() + first, half.positions.begin() + end},
                                  {half.velocities.begin() + first, half.velocities.begin() + end},
                                  {}};
      model.restore(mine);
      const auto same = model.share();
      EXPECT_TRUE(same.step == 20 && equal_bits(same.positions, mine.positions) &&
                  equal_bits(same.velocities, mine.velocities));
      model.advance(20);
      const auto last = model.share();
      EXPECT_EQ(last.step, 40u);
      EXPECT_TRUE(equal_bits(last.positions, {whole.positions.begin() + first, whole.positions.begin() + end}));
      EXPECT_TRUE(equal_bits(last.velocities, {whole.velocities.begin() + first, whole.velocities.begin() + end}));
    });
  }
}

TEST_P(granular_ranks_test, all_ranks_stop_after_the_step_in_which_one_wishes_to) {
  const granular_scene_of_ranks scene(100, 22, {1, 1, 1});
  run_ranks(GetParam(), [&](communicator& ranks) {
    distributed_granular<backend_context, float> model(context_of_rank(), ranks, scene.options,
                                                       ranks.rank() == 0 ? scene.positions : no_grains);
    const bool last = ranks.rank() == ranks.size() - 1;
    int asked = 0;
    EXPECT_EQ(model.advance(10, [&] { return last && ++asked == 4 ? 15 : 0; }), 15);
    EXPECT_EQ(model.step(), 4u);
    EXPECT_EQ(model.advance(3, [] { return 0; }), 0);
    EXPECT_EQ(model.step(), 7u);
  });
}

/// Moves are made ahead of their steps, but not of one that does not come.
TEST_P(granular_ranks_test, a_run_that_is_stopped_goes_on_as_if_it_had_not_been) {
  const granular_scene_of_ranks scene(300, 24, {1, 1, 1});
  const auto whole = state_after<float>(1, 24, scene, determinism::canonical);
  run_ranks(GetParam(), [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_granular<backend_context, float> model(context_of_rank(determinism::canonical), ranks, scene.options,
                                                       root ? scene.positions : no_grains,
                                                       root ? scene.velocities : no_grains);
    while (model.step() < 24) {
      int asked = 0;
      static_cast<void>(model.advance(24 - model.step(), [&] { return ++asked == 5 ? 1 : 0; }));
    }
    const auto state = model.state();
    EXPECT_TRUE(!root ||
                (equal_bits(state.positions, whole.positions) && equal_bits(state.velocities, whole.velocities)));
  });
}

TEST_P(granular_ranks_test, where_grains_are_fast_ghosts_are_chosen_for_more_steps) {
  granular_scene_of_ranks scene(600, 25, {1, 1, 1}, 0);
  // Half of the skin in each step.
  for (auto& velocity : scene.velocities) velocity = {0.034, 0, 0};
  run_ranks(GetParam(), [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_granular<backend_context, float> model(context_of_rank(), ranks, scene.options,
                                                       root ? scene.positions : no_grains,
                                                       root ? scene.velocities : no_grains);
    model.advance(40);
    const auto report = model.report();
    EXPECT_GT(report[0].exchanges, 5u);
    EXPECT_LT(report[0].exchanges, 24u);
  });
}

TEST_P(granular_ranks_test, run_to_run_gives_the_same_bits_in_every_run) {
  const granular_scene_of_ranks scene(500, 12, {0.4, 0.5, 1});
  const auto first = state_after<float>(GetParam(), 60, scene, determinism::run_to_run);
  const auto second = state_after<float>(GetParam(), 60, scene, determinism::run_to_run);
  EXPECT_TRUE(equal_bits(first.positions, second.positions) && equal_bits(first.velocities, second.velocities));
}

TEST_P(granular_ranks_test, a_run_that_blows_up_ends_on_all_ranks_with_the_words_of_one) {
  granular_scene_of_ranks scene(300, 13, {1, 1, 1});
  scene.velocities[217] = {1e30, 0, 0};
  granular<backend_context, double> alone(context_of_rank(determinism::canonical), scene.options, scene.positions,
                                          scene.velocities);
  alone.advance(5);
  const std::string expected = error_of<data_error>([&] { alone.check(); });
  expect_words(expected, {"step 1", "grain 217"});
  run_ranks(GetParam(), [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_granular<backend_context, double> model(context_of_rank(determinism::canonical), ranks, scene.options,
                                                        root ? scene.positions : no_grains,
                                                        root ? scene.velocities : no_grains);
    model.advance(5);
    EXPECT_EQ(error_of<data_error>([&] { model.check(); }), expected);
    EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(model.measure()); }), expected);
  });
}

TEST_P(granular_ranks_test, a_run_that_blows_up_by_its_contacts_ends_with_the_words_of_one) {
  granular_scene_of_ranks scene(300, 26, {1, 1, 1});
  scene.options.parameters.spring = 1e4;
  granular<backend_context, float> alone(context_of_rank(determinism::canonical), scene.options, scene.positions,
                                         scene.velocities);
  alone.advance(5);
  const std::string expected = error_of<data_error>([&] { alone.check(); });
  expect_words(expected, {"step 2"});
  run_ranks(GetParam(), [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_granular<backend_context, float> model(context_of_rank(determinism::canonical), ranks, scene.options,
                                                       root ? scene.positions : no_grains,
                                                       root ? scene.velocities : no_grains);
    model.advance(1);
    EXPECT_NO_THROW(model.check());
    model.advance(4);
    EXPECT_EQ(error_of<data_error>([&] { model.check(); }), expected);
  });
}

TEST_P(granular_ranks_test, blocks_follow_a_dam_that_breaks) {
  const int count = GetParam();
  // Falls to the far wall without forces that would hold it.
  granular_scene_of_ranks scene(600, 14, {0.3, 1, 1}, 0);
  for (auto& velocity : scene.velocities) velocity = {0.01, 0, 0};
  run_ranks(count, [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_granular<backend_context, float> model(context_of_rank(), ranks, scene.options,
                                                       root ? scene.positions : no_grains,
                                                       root ? scene.velocities : no_grains);
    constexpr std::size_t steps = 400;
    model.advance(steps);
    model.check();
    std::uint64_t most = 0;
    for (const rank_report& one : model.report()) most = std::max(most, one.particles);
    const double mean = 600.0 / count;
    EXPECT_LT(static_cast<double>(most), 1.7 * mean);
    // And in the mean over the run.
    EXPECT_LT(model.report()[0].lost_steps, 0.7 * static_cast<double>(steps));
    EXPECT_TRUE(count == 1 || model.report()[0].balances > 1) << model.report()[0].balances;
  });
}

TEST_P(granular_ranks_test, errors_name_the_grain_by_its_id_over_all_ranks) {
  const granular_scene_of_ranks scene(50, 23, {1, 1, 1});
  run_ranks(GetParam(), [&](communicator& ranks) {
    const key_share ids = keys_of_rank(50, ranks.rank(), ranks.size());
    auto wrong = scene.positions;
    wrong[41][2] = wrong[47][0] = -1;
    expect_words(error_of<data_error>([&] {
                   distributed_granular<backend_context, float>(
                       context_of_rank(), ranks, scene.options,
                       std::span(wrong).subspan(ids.first, ids.end - ids.first));
                 }),
                 {"grain 41", "outside"});
  });
}

TEST_P(granular_ranks_test, impossible_options_are_refused_on_all_ranks) {
  const granular_scene_of_ranks scene(10, 15, {1, 1, 1});
  run_ranks(GetParam(), [&](communicator& ranks) {
    using model = distributed_granular<backend_context, float>;
    const backend_context context = context_of_rank();
    const bool root = ranks.rank() == 0;
    const auto& mine = root ? scene.positions : no_grains;
    granular_options options = scene.options;
    options.method = "hashed";
    expect_words(error_of<argument_error>([&] { model(context, ranks, options, mine); }), {"hashed", "counting"});
    expect_words(error_of<argument_error>([&] { model(context, ranks, scene.options, mine, {}, -1); }), {"skin", "-1"});
    auto outside = scene.positions;
    outside[7][1] = 3;
    expect_words(error_of<data_error>([&] { model(context, ranks, scene.options, root ? outside : no_grains); }),
                 {"grain 7", "outside"});
    model sound(context, ranks, scene.options, mine);
    granular_state<float> state;
    if (ranks.rank() == ranks.size() - 1) state.positions.resize(9);
    expect_words(error_of<argument_error>([&] { sound.restore(state); }), {"9 positions", "10 grains"});
  });
}

}  // namespace

}  // namespace quadrat::test
