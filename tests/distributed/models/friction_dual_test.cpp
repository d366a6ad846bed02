// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/models/friction.hpp"

#include <gtest/gtest.h>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class friction_ranks_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, friction_ranks_test, testing::Values(1, 2, 3, 4, 8));

TEST_P(friction_ranks_test, runs_have_the_bits_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) {
    check_friction(ranks, size_or(400, 120));
    check_more_friction(ranks, size_or(400, 120));
  }));
}

template <typename T>
[[nodiscard]] granular_friction_state<T> friction_state_after(int count, std::size_t steps,
                                                              const friction_scene_of_ranks& scene,
                                                              const granular_friction_state<T>* start = nullptr) {
  granular_friction_state<T> result;
  run_ranks(count, [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    auto model = friction_on<T>(ranks, scene);
    if (start != nullptr) model.restore(root ? *start : granular_friction_state<T>());
    model.advance(steps);
    auto state = model.state();
    if (root) result = std::move(state);
  });
  return result;
}

TEST_P(friction_ranks_test, histories_of_contacts_go_on_with_other_ranks) {
  const friction_scene_of_ranks scene = of_three_materials({200, 11, {9, 5, 9}});
  const auto whole = friction_state_after<float>(GetParam(), 150, scene);
  const auto part = friction_state_after<float>(GetParam(), 80, scene);
  EXPECT_GT(part.contacts.size(), 20u);
  for (const int others : {1, 3}) {
    const auto end = friction_state_after<float>(others, 70, scene, &part);
    EXPECT_TRUE(equal_states(end, whole)) << others;
  }
  auto alone = friction_alone<float>(scene);
  alone.restore(part);
  alone.advance(70);
  EXPECT_TRUE(equal_states(alone.state(), whole));
}

TEST_P(friction_ranks_test, a_grain_that_crosses_ranks_while_it_touches_keeps_its_histories) {
  // A row of touching grains that drifts along x over all blocks, and rolls on the floor.
  friction_scene_of_ranks scene;
  scene.options.lower = {0, 0, 0};
  scene.options.upper = {0.2, 0.02, 0.02};
  scene.options.walls = walls_of_box(scene.options.lower, scene.options.upper);
  scene.options.material.young_modulus = 1e6;
  for (int i = 0; i < 12; ++i) {
    scene.radii.push_back(0.002);
    scene.positions.push_back({0.004 + 0.0039 * i, 0.00199, 0.01});
    scene.velocities.push_back({2, 0, 0});
    scene.spins.push_back({0, 0, -100});
  }
  auto alone = friction_alone<double>(scene);
  run_ranks(GetParam(), [&](communicator& ranks) {
    auto model = friction_on<double>(ranks, scene);
    model.advance(size_or(600, 300));
    const auto state = model.state();
    const auto reports = model.report();
    if (ranks.rank() != 0) return;
    alone.advance(size_or(600, 300));
    EXPECT_TRUE(equal_states(state, alone.state()));
    EXPECT_GT(reports[0].exchanges, 5u);
  });
}

TEST_P(friction_ranks_test, a_run_that_blows_up_ends_on_all_ranks_with_the_words_of_one) {
  friction_scene_of_ranks scene(100, 13, {18, 9, 9});
  scene.velocities[71] = {0, 0, 400};
  auto alone = friction_alone<double>(scene);
  alone.advance(40);
  const std::string expected = error_of<data_error>([&] { alone.check(); });
  expect_words(expected, {"blew up", "grain"});
  run_ranks(GetParam(), [&](communicator& ranks) {
    auto model = friction_on<double>(ranks, scene);
    model.advance(40);
    EXPECT_EQ(error_of<data_error>([&] { model.check(); }), expected);
    EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(model.measure()); }), expected);
    friction_scene_of_ranks slow(100, 13, {18, 9, 9});
    const auto sound = friction_alone<double>(slow).state();
    model.restore(ranks.rank() == 0 ? sound : granular_friction_state<double>());
    model.advance(5);
    EXPECT_NO_THROW(model.check());
  });
}

TEST_P(friction_ranks_test, impossible_input_is_refused_on_all_ranks) {
  const friction_scene_of_ranks scene(10, 15, {18, 9, 9});
  run_ranks(GetParam(), [&](communicator& ranks) {
    friction_scene_of_ranks wrong = scene;
    wrong.options.time_step = 1;
    expect_words(error_of<argument_error>([&] { static_cast<void>(friction_on<float>(ranks, wrong)); }),
                 {"time step", "1 s"});
    wrong = scene;
    wrong.positions[7][1] = -3;
    expect_words(error_of<data_error>([&] { static_cast<void>(friction_on<float>(ranks, wrong)); }),
                 {"grain 7", "behind wall"});
    wrong = scene;
    wrong.radii[3] = -1;
    expect_words(error_of<argument_error>([&] { static_cast<void>(friction_on<float>(ranks, wrong)); }),
                 {"grain 3", "-1"});
    auto model = friction_on<float>(ranks, scene);
    granular_friction_state<float> state;
    state.positions.resize(9);
    expect_words(error_of<argument_error>([&] { model.restore(state); }), {"9 grains", "10"});
  });
}

}  // namespace

}  // namespace quadrat::test
