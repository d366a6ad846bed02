// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/models/electrolyte.hpp"

#include <gtest/gtest.h>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class electrolyte_ranks_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, electrolyte_ranks_test, testing::Values(1, 2, 3, 8));

using ions_model = distributed_electrolyte<backend_context, double>;

TEST_P(electrolyte_ranks_test, steps_are_those_of_one_rank) {
  EXPECT_NO_THROW(
      run_ranks(GetParam(), [](communicator& ranks) { check_electrolyte_on_ranks(ranks, size_or(30, 12)); }));
}

/// The states after some steps from the start, or from a state.
[[nodiscard]] electrolyte_state<double> ions_after(int count, std::size_t steps, const electrolyte_options& options,
                                                   const electrolyte_state<double>* start = nullptr) {
  electrolyte_state<double> result;
  run_ranks(count, [&](communicator& ranks) {
    const bool root = ranks.rank() == 0;
    ions_model model(context_of_rank(determinism::run_to_run), ranks, options,
                     root ? electrolyte_start(options) : electrolyte_particles());
    if (start != nullptr) model.restore(root ? *start : electrolyte_state<double>());
    model.advance(steps);
    auto state = model.state();
    if (root) result = std::move(state);
  });
  return result;
}

TEST_P(electrolyte_ranks_test, a_state_of_some_ranks_continues_on_others_and_runs_repeat_their_bits) {
  const electrolyte_options options = ions_for_ranks(12, {6, 7, 8});
  const auto whole = ions_after(GetParam(), 20, options);
  EXPECT_EQ(whole.positions, ions_after(GetParam(), 20, options).positions);
  const auto half = ions_after(GetParam(), 11, options);
  for (const int others : {1, 3}) {
    const auto end = ions_after(others, 9, options, &half);
    EXPECT_EQ(end.step, 20u);
    EXPECT_LT(farthest_apart(options, end, whole), 1e-9);
  }
}

TEST_P(electrolyte_ranks_test, energy_and_momentum_stay_while_ions_change_ranks) {
  electrolyte_options options = ions_for_ranks(12, {6, 7, 8});
  options.dynamics = electrolyte_dynamics::verlet;
  options.temperature = 2;
  run_ranks(GetParam(), [&](communicator& ranks) {
    ions_model model(context_of_rank(), ranks, options,
                     ranks.rank() == 0 ? electrolyte_start(options) : electrolyte_particles());
    model.advance(20);
    const auto before = model.measure();
    const std::size_t steps = size_or(80, 40);
    model.advance(steps);
    const auto after = model.measure();
    EXPECT_NEAR(after.total_energy, before.total_energy, 0.01 * before.kinetic_energy);
    for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(after.momentum[axis], 0, 1e-9);
    for (const rank_report& one : model.report()) {
      EXPECT_GT(one.exchanges, 1u);
      EXPECT_LT(one.exchanges, steps / 3);
    }
  });
}

TEST_P(electrolyte_ranks_test, a_run_that_blows_up_ends_on_all_ranks_with_the_words_of_one) {
  electrolyte_options options = ions_for_ranks(12, {6, 7, 8});
  options.time_step = 30;
  electrolyte<backend_context, double> alone(context_of_rank(), options, electrolyte_start(options));
  alone.advance(5);
  const std::string expected = error_of<data_error>([&] { alone.check(); });
  expect_words(expected, {"blew up in step", "ion"});
  run_ranks(GetParam(), [&](communicator& ranks) {
    ions_model model(context_of_rank(), ranks, options,
                     ranks.rank() == 0 ? electrolyte_start(options) : electrolyte_particles());
    model.advance(5);
    EXPECT_EQ(error_of<data_error>([&] { model.check(); }), expected);
    EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(model.measure()); }), expected);
  });
}

TEST_P(electrolyte_ranks_test, all_ranks_end_after_the_step_in_which_one_wishes) {
  const int count = GetParam();
  const electrolyte_options options = ions_for_ranks(4, {6, 7, 8});
  run_ranks(count, [&](communicator& ranks) {
    ions_model model(context_of_rank(), ranks, options,
                     ranks.rank() == 0 ? electrolyte_start(options) : electrolyte_particles());
    int asked = 0;
    EXPECT_EQ(model.advance(50, [&] { return ++asked == 3 && ranks.rank() == count - 1 ? 15 : 0; }), 15);
    EXPECT_EQ(model.step(), 3u);
  });
}

TEST_P(electrolyte_ranks_test, impossible_input_is_refused_on_all_ranks) {
  const electrolyte_options options = ions_for_ranks(4, {6, 7, 8});
  run_ranks(GetParam(), [&](communicator& ranks) {
    const backend_context context = context_of_rank();
    const bool root = ranks.rank() == 0;
    const electrolyte_particles mine = root ? electrolyte_start(options) : electrolyte_particles();
    electrolyte_options wrong = options;
    wrong.time_step = -1;
    expect_words(error_of<argument_error>([&] { ions_model(context, ranks, wrong, mine); }), {"-1"});
    wrong = options;
    wrong.method = "direct";
    wrong.accuracy = 0.05;  // that direct sums reach on every device
    expect_words(error_of<argument_error>([&] { ions_model(context, ranks, wrong, mine); }), {"spme and esp"});
    auto broken = mine;
    if (root) broken.positions[7][1] = std::nan("");
    expect_words(error_of<data_error>([&] { ions_model(context, ranks, options, broken); }), {"7"});
    if (ranks.size() > 1) {
      const auto all = electrolyte_start(options);
      expect_words(error_of<argument_error>([&] { ions_model(context, ranks, options, all); }), {"only rank 0"});
    }
  });
}

}  // namespace

}  // namespace quadrat::test
