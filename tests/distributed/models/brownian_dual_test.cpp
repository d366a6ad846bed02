// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/models/brownian.hpp"

#include <gtest/gtest.h>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class brownian_ranks_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, brownian_ranks_test, testing::Values(1, 2, 3, 8));

using spheres_model = distributed_brownian<backend_context, double>;
using spheres_state = brownian_state<double>;

TEST_P(brownian_ranks_test, steps_are_those_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_brownian_on_ranks(ranks, size_or(48, 16)); }));
}

[[nodiscard]] std::vector<vec<double, 3>> given_by_root(const communicator& ranks, const brownian_options& options) {
  if (ranks.rank() != 0) return {};
  return places_for_ranks(options, 16);
}

/// The states after some steps from the start, or from a state.
[[nodiscard]] spheres_state spheres_after(int count, std::size_t steps, const brownian_options& options,
                                          const spheres_state* start = nullptr) {
  spheres_state result;
  run_ranks(count, [&](communicator& ranks) {
    spheres_model model(context_of_rank(determinism::run_to_run), ranks, options, given_by_root(ranks, options));
    if (start != nullptr) model.restore(ranks.rank() == 0 ? *start : spheres_state());
    model.advance(steps);
    auto state = model.state();
    if (ranks.rank() == 0) result = std::move(state);
  });
  return result;
}

TEST_P(brownian_ranks_test, a_state_of_some_ranks_continues_on_others_and_runs_repeat_their_bits) {
  const brownian_options options = spheres_for_ranks(16, {9, 10, 11});
  const auto whole = spheres_after(GetParam(), 12, options);
  const auto again = spheres_after(GetParam(), 12, options);
  EXPECT_EQ(whole.positions, again.positions);
  EXPECT_EQ(whole.images, again.images);
  const auto half = spheres_after(GetParam(), 7, options);
  for (const int others : {1, 3}) {
    const auto end = spheres_after(others, 5, options, &half);
    EXPECT_EQ(end.step, 12u);
    EXPECT_LT(farthest_moved_apart(options, end, whole), 1e-9);
  }
}

TEST_P(brownian_ranks_test, ghosts_are_chosen_now_and_then) {
  brownian_options options = spheres_for_ranks(16, {9, 10, 11});
  options.method = "free";
  run_ranks(GetParam(), [&](communicator& ranks) {
    spheres_model model(context_of_rank(), ranks, options, given_by_root(ranks, options));
    const std::size_t steps = 60;
    model.advance(steps);
    for (const rank_report& one : model.report()) {
      EXPECT_GT(one.exchanges, 1u);
      EXPECT_LT(one.exchanges, steps / 3);
    }
    EXPECT_EQ(model.mobility().method, "free");
  });
}

TEST_P(brownian_ranks_test, a_run_that_blows_up_ends_on_all_ranks_with_the_words_of_one) {
  brownian_options options = spheres_for_ranks(16, {9, 10, 11});
  options.time_step = 200;
  brownian<backend_context, double> alone(context_of_rank(), options, places_for_ranks(options, 16));
  alone.advance(3);
  const std::string expected = error_of<data_error>([&] { alone.check(); });
  expect_words(expected, {"blew up in step", "sphere"});
  run_ranks(GetParam(), [&](communicator& ranks) {
    spheres_model model(context_of_rank(), ranks, options, given_by_root(ranks, options));
    model.advance(3);
    EXPECT_EQ(error_of<data_error>([&] { model.check(); }), expected);
    EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(model.measure()); }), expected);
  });
}

TEST_P(brownian_ranks_test, all_ranks_end_after_the_step_in_which_one_wishes) {
  const int count = GetParam();
  for (const brownian_scheme scheme : {brownian_scheme::euler_maruyama, brownian_scheme::midpoint}) {
    brownian_options options = spheres_for_ranks(16, {9, 10, 11});
    options.scheme = scheme;
    run_ranks(count, [&](communicator& ranks) {
      spheres_model model(context_of_rank(), ranks, options, given_by_root(ranks, options));
      int asked = 0;
      EXPECT_EQ(model.advance(50, [&] { return ++asked == 3 && ranks.rank() == count - 1 ? 15 : 0; }), 15);
      EXPECT_EQ(model.step(), 3u);
    });
  }
}

TEST_P(brownian_ranks_test, impossible_input_is_refused_on_all_ranks) {
  const brownian_options options = spheres_for_ranks(16, {9, 10, 11});
  run_ranks(GetParam(), [&](communicator& ranks) {
    const backend_context context = context_of_rank();
    const auto mine = given_by_root(ranks, options);
    brownian_options wrong = options;
    wrong.time_step = -1;
    expect_words(error_of<argument_error>([&] { spheres_model(context, ranks, wrong, mine); }), {"-1"});
    wrong = options;
    wrong.method = "krylov";
    expect_words(error_of<argument_error>([&] { spheres_model(context, ranks, wrong, mine); }), {"split", "krylov"});
    wrong = options;
    wrong.bonds.push_back({3, 99});
    expect_words(error_of<argument_error>([&] { spheres_model(context, ranks, wrong, mine); }), {"99", "only 16"});
    auto broken = mine;
    if (!broken.empty()) broken[7][1] = std::nan("");
    expect_words(error_of<data_error>([&] { spheres_model(context, ranks, options, broken); }), {"sphere 7"});
    if (ranks.size() > 1) {
      const auto all = places_for_ranks(options, 16);
      expect_words(error_of<argument_error>([&] { spheres_model(context, ranks, options, all); }), {"only rank 0"});
    }
    EXPECT_NO_THROW(spheres_model(context, ranks, brownian_options(), std::vector<vec<double, 3>>()).advance(2));
  });
}

}  // namespace

}  // namespace quadrat::test
