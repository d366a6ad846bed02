// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "distributed/models/srd.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class srd_ranks_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, srd_ranks_test, testing::Values(1, 2, 3, 4, 8));

const srd_particles<3> no_srd_particles;

TEST_P(srd_ranks_test, fixed_sums_give_the_bits_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) {
    check_srd(ranks, size_or(4000, 800));
    check_more_srd(ranks, size_or(4000, 800));
  }));
}

class many_srd_ranks_test : public backend_test {};

/// More than write into each other's memory: parts of sums go as messages.
TEST_F(many_srd_ranks_test, fixed_sums_give_the_bits_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(detail::part_targets::most + 2, [](communicator& ranks) {
    check_srd(ranks, 400);
    check_srd_scene<float, 3>(ranks, {{40, 6, 4}, {true, true, true}, 600}, "a long box");
  }));
}

TEST_P(srd_ranks_test, sums_of_cells_come_to_all_who_have_them_for_any_blocks) {
  const std::size_t count = size_or(200, 10);
  EXPECT_NO_THROW(run_ranks(GetParam(), [&](communicator& ranks) {
    int most = 0;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
      most = std::max(most, check_cell_windows<std::int64_t>(ranks, 8000 + seed));
      most = std::max(most, check_cell_windows<float>(ranks, 8000 + seed));
    }
    // Edges and corners, where more than two ranks meet.
    EXPECT_GE(most, std::min(ranks.size(), 4));
  }));
}

[[nodiscard]] srd_state<float, 3> srd_state_after(int count, std::size_t steps, const srd_scene_of_ranks<3>& scene,
                                                  const srd_state<float, 3>* start = nullptr) {
  srd_state<float, 3> result;
  run_ranks(count, [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_srd<backend_context, float, 3> model(context_of_rank(determinism::canonical), ranks, scene.options,
                                                     root ? scene.particles : no_srd_particles);
    if (start != nullptr) model.restore(root ? *start : srd_state<float, 3>());
    model.advance(steps);
    auto state = model.state();
    if (root) result = std::move(state);
  });
  return result;
}

/// Where particles leave their windows every few steps, and are sorted every 13.
TEST_P(srd_ranks_test, all_ranks_end_after_the_step_in_which_one_wishes) {
  const int count = GetParam();
  srd_scene_of_ranks<3> scene({40, 6, 4}, {true, true, true}, 1500);
  for (auto& velocity : scene.particles.velocities) velocity[0] += 2.5;
  for (const int end : {1, 2, 7, 8, 9, 14, 30, 31}) {
    const auto expected = srd_state_after(1, static_cast<std::size_t>(end), scene);
    run_ranks(count, [&](communicator& ranks) {
      const bool root = ranks.rank() == 0;
      distributed_srd<backend_context, float, 3> model(context_of_rank(determinism::canonical), ranks, scene.options,
                                                       root ? scene.particles : no_srd_particles);
      int asked = 0;
      const int wish = model.advance(40, [&] { return ++asked == end && ranks.rank() == count - 1 ? 15 : 0; });
      EXPECT_EQ(wish, 15);
      EXPECT_EQ(asked, end);
      EXPECT_EQ(model.step(), static_cast<std::uint64_t>(end));
      const auto state = model.state();
      EXPECT_TRUE(!root || (equal_bits_of(state.positions, expected.positions) &&
                            equal_bits_of(state.velocities, expected.velocities)));
      // The next call goes on, whatever was wished before.
      EXPECT_EQ(model.advance(3, [] { return 0; }), 0);
      EXPECT_EQ(model.step(), static_cast<std::uint64_t>(end) + 3);
    });
  }
}

TEST_P(srd_ranks_test, a_state_of_some_ranks_continues_on_others) {
  const srd_scene_of_ranks<3> scene({10, 6, 6}, {true, false, true}, 2000, {5, 7});
  const auto whole = srd_state_after(GetParam(), 30, scene);
  const auto half = srd_state_after(GetParam(), 17, scene);
  for (const int others : {1, 3}) {
    const auto end = srd_state_after(others, 13, scene, &half);
    EXPECT_EQ(end.step, 30u);
    EXPECT_TRUE(equal_bits_of(end.positions, whole.positions) && equal_bits_of(end.velocities, whole.velocities));
  }
}

TEST_P(srd_ranks_test, rank_0_measures_flows_as_one_rank_does) {
  const srd_scene_of_ranks<3> scene({10, 8, 6}, {true, true, true}, 3000);
  const backend_context context = context_of_rank(determinism::canonical);
  srd<backend_context, double, 3> alone(context, scene.options, scene.particles);
  alone.advance(12);
  const auto expected = alone.velocity_profile(1, 5);
  run_ranks(GetParam(), [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_srd<backend_context, double, 3> model(context_of_rank(determinism::canonical), ranks, scene.options,
                                                      root ? scene.particles : no_srd_particles);
    model.advance(12);
    auto* const whole = model.whole();
    if (!root) return;
    const auto found = whole->velocity_profile(1, 5);
    for (std::size_t bin = 0; bin < expected.size(); ++bin) {
      EXPECT_EQ(found[bin].count, expected[bin].count);
      EXPECT_EQ(found[bin].velocity, expected[bin].velocity);
    }
    EXPECT_EQ(whole->shear_amplitude(), alone.shear_amplitude());
    // To look does not change the run.
    EXPECT_EQ(whole->step(), 12u);
  });
}

TEST_P(srd_ranks_test, floating_sums_keep_momentum) {
  srd_scene_of_ranks<3> scene({9, 8, 7}, {true, true, true}, 3000);
  scene.options.sums = srd_sums::floating;
  scene.options.acceleration = {};
  run_ranks(GetParam(), [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_srd<backend_context, double, 3> model(context_of_rank(), ranks, scene.options,
                                                      root ? scene.particles : no_srd_particles);
    model.advance(40);
    const auto found = model.measure();
    for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(found.momentum[axis], 0, 1e-9);
    EXPECT_NEAR(found.temperature, 1, 0.1);
  });
}

TEST_P(srd_ranks_test, particles_spread_over_ranks) {
  const int count = GetParam();
  srd_scene_of_ranks<3> scene({24, 4, 4}, {true, true, true}, 3000);
  for (auto& position : scene.particles.positions) position[0] *= 0.2;
  run_ranks(count, [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_srd<backend_context, float, 3> model(context_of_rank(), ranks, scene.options,
                                                     root ? scene.particles : no_srd_particles);
    model.advance(size_or(200, 30));
    model.check();
    const auto reports = model.report();
    std::uint64_t most = 0, sent = 0;
    for (const rank_report& one : reports) {
      most = std::max(most, one.particles);
      sent += one.bytes_sent;
    }
    EXPECT_EQ(sent > 0, count > 1);
    if (small_sizes()) return;
    EXPECT_LT(static_cast<double>(most), 1.6 * 3000 / count);
    EXPECT_EQ(reports[0].balances > 1, count > 1);
  });
}

TEST_P(srd_ranks_test, a_run_that_blows_up_ends_on_all_ranks_with_the_words_of_one) {
  srd_scene_of_ranks<3> scene({6, 6, 6}, {true, false, true}, 1000);
  scene.options.acceleration = {1e4, 0, 0};
  srd<backend_context, float, 3> alone(context_of_rank(determinism::canonical), scene.options, scene.particles);
  alone.advance(60);
  const std::string expected = error_of<data_error>([&] { alone.check(); });
  expect_words(expected, {"blew up", "particle"});
  run_ranks(GetParam(), [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    distributed_srd<backend_context, float, 3> model(context_of_rank(determinism::canonical), ranks, scene.options,
                                                     root ? scene.particles : no_srd_particles);
    model.advance(60);
    EXPECT_EQ(error_of<data_error>([&] { model.check(); }), expected);
    EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(model.measure()); }), expected);
    EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(model.state()); }), expected);
  });
}

TEST_P(srd_ranks_test, impossible_input_is_refused_on_all_ranks) {
  const srd_scene_of_ranks<3> scene({4, 4, 4}, {true, true, true}, 100);
  run_ranks(GetParam(), [&](communicator& ranks) {
    using model = distributed_srd<backend_context, float, 3>;
    const backend_context context = context_of_rank();
    const bool root = ranks.rank() == 0;
    const auto& mine = root ? scene.particles : no_srd_particles;
    srd_options<3> options = scene.options;
    options.rotation_angle = 200;
    expect_words(error_of<argument_error>([&] { model(context, ranks, options, mine); }), {"200"});
    auto outside = mine;
    if (root) outside.positions[7][1] = 30;
    expect_words(error_of<data_error>([&] { model(context, ranks, scene.options, outside); }),
                 {"particle 7", "outside"});
    if (ranks.size() > 1) {
      expect_words(error_of<argument_error>([&] { model(context, ranks, scene.options, scene.particles); }),
                   {"only rank 0"});
    }
    model sound(context, ranks, scene.options, mine);
    srd_state<float, 3> state;
    state.positions.resize(9);
    expect_words(error_of<argument_error>([&] { sound.restore(state); }), {"9 particles", "100"});
  });
}

}  // namespace

}  // namespace quadrat::test
