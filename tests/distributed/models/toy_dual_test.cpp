// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/models/toy.hpp"

#include <gtest/gtest.h>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class toy_ranks_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, toy_ranks_test, testing::Values(1, 2, 3, 8));

TEST_P(toy_ranks_test, a_model_of_a_few_lines_has_the_bits_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) {
    for (const std::size_t count : {300u, 3u, 0u}) check_toys<1>(ranks, count);
  }));
}

TEST_P(toy_ranks_test, steps_that_are_enqueued_ahead_are_taken_again_where_they_are_not_whole) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_toys<4>(ranks, 300); }));
}

template <std::size_t Ahead>
void expect_wishes(communicator& ranks) {
  const bool last = ranks.rank() == ranks.size() - 1;
  distributed_toy<Ahead> model(context_of_rank(), ranks, {}, ranks.rank() == 0 ? toys_for_ranks(100) : toy_state());
  int asked = 0;
  EXPECT_EQ(model.advance(50, [&] { return ++asked == 12 && last ? 15 : 0; }), 15);
  EXPECT_EQ(asked, 12);
  EXPECT_EQ(model.step(), 12u);
  EXPECT_EQ(model.advance(30, [] { return 0; }), 0);
  EXPECT_EQ(model.step(), 42u);
}

TEST_P(toy_ranks_test, each_step_is_asked_once_for_a_wish_and_all_ranks_end_after_it) {
  run_ranks(GetParam(), [](communicator& ranks) {
    expect_wishes<1>(ranks);
    expect_wishes<4>(ranks);
  });
}

template <std::size_t Ahead>
void expect_the_end_of_a_run_with_bad_data(communicator& ranks) {
  const toy_state start = ranks.rank() == 0 ? toys_for_ranks(50) : toy_state();
  distributed_toy<Ahead> model(context_of_rank(), ranks, {.lost_at = 6}, start);
  model.advance(4);
  EXPECT_NO_THROW(model.check());
  model.advance(10);
  EXPECT_EQ(model.step(), 6u);
  model.advance(10);
  EXPECT_EQ(model.step(), 6u);
  EXPECT_EQ(error_of<data_error>([&] { model.check(); }), "particle 17 is lost");
  model.restore(start);
  model.advance(3);
  EXPECT_NO_THROW(model.check());
  EXPECT_EQ(model.step(), 3u);
}

TEST_P(toy_ranks_test, what_a_step_throws_ends_the_run_at_that_step) {
  run_ranks(GetParam(), [](communicator& ranks) {
    expect_the_end_of_a_run_with_bad_data<1>(ranks);
    expect_the_end_of_a_run_with_bad_data<4>(ranks);
  });
}

}  // namespace

}  // namespace quadrat::test
