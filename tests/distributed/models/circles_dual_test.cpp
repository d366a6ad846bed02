// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "distributed/models/circles.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class circles_ranks_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, circles_ranks_test, testing::Values(1, 2, 3, 4, 8));

using plane_model = distributed_circles<backend_context, float, 2>;
const std::vector<vec<double, 2>> no_agents;

TEST_P(circles_ranks_test, canonical_gives_the_bits_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_circles(ranks, size_or(1500, 300)); }));
}

[[nodiscard]] circles_state<float, 2> circles_state_after(int count, std::size_t steps,
                                                          const circles_scene_of_ranks<2>& scene,
                                                          const circles_state<float, 2>* start = nullptr) {
  circles_state<float, 2> result;
  run_ranks(count, [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    plane_model model(context_of_rank(determinism::canonical), ranks, scene.options,
                      root ? scene.positions : no_agents);
    if (start != nullptr) model.restore(root ? *start : circles_state<float, 2>());
    model.advance(steps);
    auto state = model.state();
    if (root) result = std::move(state);
  });
  return result;
}

TEST_P(circles_ranks_test, a_state_of_some_ranks_continues_on_others_and_on_one) {
  const circles_scene_of_ranks<2> scene(circles_form::sine, 20, 500, 1, 10);
  const auto whole = circles_state_after(GetParam(), 30, scene);
  const auto half = circles_state_after(GetParam(), 17, scene);
  for (const int others : {1, 3}) {
    const auto end = circles_state_after(others, 13, scene, &half);
    EXPECT_EQ(end.step, 30u);
    EXPECT_TRUE(equal_agents(end.positions, whole.positions));
  }
  circles<backend_context, float, 2> alone(context_of_rank(determinism::canonical), scene.options, scene.positions);
  alone.restore(half);
  alone.advance(13);
  EXPECT_TRUE(equal_agents(alone.positions(), whole.positions));
  // And the other way.
  alone.advance(5);
  const auto further = alone.state();
  alone.advance(4);
  EXPECT_TRUE(equal_agents(circles_state_after(GetParam(), 4, scene, &further).positions, alone.positions()));
}

TEST_P(circles_ranks_test, run_to_run_repeats_its_bits_and_is_near_one_rank) {
  const circles_scene_of_ranks<2> scene(circles_form::sine, 20, 500);
  circles<backend_context, float, 2> alone(context_of_rank(determinism::run_to_run), scene.options, scene.positions);
  alone.advance(10);
  std::vector<vec<float, 2>> first;
  for (int round = 0; round < 2; ++round) {
    run_ranks(GetParam(), [&](communicator& ranks) {
      const bool root = ranks.rank() == 0;
      plane_model model(context_of_rank(determinism::run_to_run), ranks, scene.options,
                        root ? scene.positions : no_agents);
      model.advance(10);
      const auto found = model.state().positions;
      if (!root) return;
      if (round == 0) first = found;
      EXPECT_TRUE(equal_agents(found, first));
      const auto expected = alone.positions();
      for (std::size_t i = 0; i < found.size(); ++i) {
        for (int axis = 0; axis < 2; ++axis) EXPECT_NEAR(found[i][axis], expected[i][axis], 1e-4);
      }
    });
  }
}

TEST_P(circles_ranks_test, agents_of_a_corner_are_shared_out_and_only_ghosts_travel) {
  const int count = GetParam();
  const circles_scene_of_ranks<2> scene(circles_form::sine, 60, 1200, 0.25);
  run_ranks(count, [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    plane_model model(context_of_rank(), ranks, scene.options, root ? scene.positions : no_agents);
    model.advance(20);
    model.check();
    for (const rank_report& one : model.report()) {
      EXPECT_LT(static_cast<double>(one.particles), 1.5 * 1200 / count);
      EXPECT_EQ(one.bytes_sent > 0, count > 1);
      // Far fewer than one exchange a step.
      EXPECT_LT(one.exchanges, 10u);
    }
  });
}

TEST_P(circles_ranks_test, a_run_that_blows_up_ends_on_all_ranks_with_the_words_of_one) {
  circles_scene_of_ranks<2> scene(circles_form::sine, 12, 300);
  scene.options.parameters.force = 1e38;
  const backend_context context = context_of_rank(determinism::canonical);
  circles<backend_context, float, 2> alone(context, scene.options, scene.positions);
  alone.advance(20);
  const std::string expected = error_of<data_error>([&] { alone.check(); });
  expect_words(expected, {"blew up in step", "agent"});
  run_ranks(GetParam(), [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    plane_model model(context_of_rank(determinism::canonical), ranks, scene.options,
                      root ? scene.positions : no_agents);
    model.advance(20);
    EXPECT_EQ(error_of<data_error>([&] { model.check(); }), expected);
    EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(model.measure()); }), expected);
    EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(model.state()); }), expected);
    // A restored state is valid again.
    circles_state<float, 2> sound;
    if (root) sound.positions.resize(scene.positions.size());
    model.restore(sound);
    EXPECT_NO_THROW(model.check());
  });
}

TEST_P(circles_ranks_test, records_are_those_of_one_rank) {
  for (const circles_form form : {circles_form::sine, circles_form::original}) {
    const circles_scene_of_ranks<2> scene(form, 25, 400, 1, 10);
    circles<backend_context, float, 2> alone(context_of_rank(determinism::canonical), scene.options, scene.positions);
    alone.advance(2);
    const auto expected = alone.record(9);
    run_ranks(GetParam(), [&](communicator& ranks) {
      const bool root = ranks.rank() == 0;
      for (const determinism level : {determinism::canonical, determinism::run_to_run}) {
        plane_model model(context_of_rank(level), ranks, scene.options, root ? scene.positions : no_agents);
        model.advance(2);
        std::vector<circles_record> records;
        EXPECT_EQ(model.record(
                      4, [] { return 0; }, records),
                  0);
        EXPECT_EQ(model.record(
                      5, [] { return 0; }, records),
                  0);
        ASSERT_EQ(records.size(), 9u);
        EXPECT_EQ(model.step(), 11u);
        // The original form jumps: what rounding leaves grows at once.
        if (level != determinism::canonical && form == circles_form::original) continue;
        const double tolerance = level == determinism::canonical ? 0 : 1e-5;
        for (std::size_t k = 0; k < 9; ++k) {
          EXPECT_EQ(records[k].step, expected[k].step);
          EXPECT_GT(records[k].milliseconds, 0);
          EXPECT_NEAR(records[k].mean_neighbors, expected[k].mean_neighbors, 2e3 * tolerance);
          EXPECT_NEAR(records[k].neighbor_deviation, expected[k].neighbor_deviation, 2e3 * tolerance);
          EXPECT_NEAR(records[k].mean_displacement, expected[k].mean_displacement, tolerance);
        }
        if (level != determinism::canonical) continue;
        const auto found = model.state().positions;
        EXPECT_TRUE(!root || equal_agents(found, alone.positions()));
        // A wish ends records, too.
        const int count = ranks.size();
        EXPECT_EQ(model.record(
                      50, [&] { return ranks.rank() == count - 1 ? 2 : 0; }, records),
                  2);
        EXPECT_EQ(records.size(), 10u);
      }
    });
  }
}

TEST_P(circles_ranks_test, all_ranks_end_after_the_step_in_which_one_wishes) {
  const int count = GetParam();
  const circles_scene_of_ranks<2> scene(circles_form::sine, 12, 100);
  run_ranks(count, [&](communicator& ranks) {
    plane_model model(context_of_rank(), ranks, scene.options, ranks.rank() == 0 ? scene.positions : no_agents);
    int asked = 0;
    const int wish = model.advance(50, [&] { return ++asked == 4 && ranks.rank() == count - 1 ? 15 : 0; });
    EXPECT_EQ(wish, 15);
    EXPECT_EQ(model.step(), 4u);
  });
}

TEST_P(circles_ranks_test, impossible_input_is_refused_on_all_ranks) {
  const circles_scene_of_ranks<2> scene(circles_form::sine, 12, 100);
  run_ranks(GetParam(), [&](communicator& ranks) {
    const backend_context context = context_of_rank();
    const bool root = ranks.rank() == 0;
    const auto& mine = root ? scene.positions : no_agents;
    circles_options options = scene.options;
    options.parameters.radius = -3;
    expect_words(error_of<argument_error>([&] { plane_model(context, ranks, options, mine); }), {"radius", "-3"});
    options = scene.options;
    options.order = "strips";
    expect_words(error_of<argument_error>([&] { plane_model(context, ranks, options, mine); }),
                 {"strips", "over several ranks it is trimmed over counting"});
    auto outside = mine;
    if (root) outside[7][1] = 30;
    expect_words(error_of<data_error>([&] { plane_model(context, ranks, scene.options, outside); }),
                 {"agent 7", "outside"});
    if (ranks.size() > 1) {
      expect_words(error_of<argument_error>([&] { plane_model(context, ranks, scene.options, scene.positions); }),
                   {"only rank 0"});
    }
    plane_model sound(context, ranks, scene.options, mine);
    circles_state<float, 2> state;
    state.positions.resize(9);
    expect_words(error_of<argument_error>([&] { sound.restore(state); }), {"9 positions", "100"});
  });
}

}  // namespace

}  // namespace quadrat::test
