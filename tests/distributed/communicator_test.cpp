// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/communicator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "distributed/communication_checks.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

TEST(communicator_test, a_rank_alone_talks_to_itself) {
  self_communicator ranks;
  EXPECT_NO_THROW(check_communication(ranks));
  EXPECT_EQ(ranks.bytes_sent(), 0u);
}

TEST(communicator_test, threads_talk_to_each_other) {
  for (const int count : {1, 2, 3, 4, 8}) {
    EXPECT_NO_THROW(run_ranks(count, check_communication)) << count;
  }
}

TEST(communicator_test, errors_are_agreed_upon) {
  for (const int count : {1, 3, 4}) {
    EXPECT_NO_THROW(run_ranks(count, check_agreement)) << count;
  }
}

TEST(communicator_test, a_rank_that_throws_ends_all_and_is_named) {
  std::atomic<int> others{0};
  const auto body = [&](communicator& ranks) {
    if (ranks.rank() == 2) throw data_error("particle 17 is not a number", 17);
    try {
      for (;;) ranks.barrier();
    } catch (const rank_error& problem) {
      EXPECT_EQ(problem.rank(), 2);
      expect_words(problem.what(), {"rank 2", "particle 17"});
      ++others;
      throw;
    }
  };
  EXPECT_EQ(error_of<data_error>([&] { run_ranks(4, body); }), "particle 17 is not a number");
  EXPECT_EQ(others, 3);
}

TEST(communicator_test, a_rank_that_throws_ends_those_that_wait_for_its_messages) {
  const auto body = [](communicator& ranks) {
    if (ranks.rank() == 1) throw std::bad_alloc();
    int value = 0;
    const incoming_message one{1, &value, sizeof(value)};
    ranks.exchange(cpu_context(), {}, std::span(&one, 1));
  };
  EXPECT_THROW(run_ranks(3, body), std::bad_alloc);
}

TEST(communicator_test, impossible_groups_and_messages_are_refused) {
  expect_words(error_of<argument_error>([] { run_ranks(0, [](communicator&) {}); }), {"0", "1 to 4096"});
  expect_words(error_of<argument_error>([] {
                 run_ranks(2, [](communicator& ranks) {
                   const int value = 0;
                   const outgoing_message one{2, &value, sizeof(value)};
                   ranks.exchange(cpu_context(), std::span(&one, 1), {});
                 });
               }),
               {"rank 2", "there are 2"});
  expect_words(error_of<argument_error>([] {
                 run_ranks(2, [](communicator& ranks) {
                   std::uint64_t value = 0;
                   const outgoing_message out{1 - ranks.rank(), &value, sizeof(value)};
                   std::uint64_t other = 0;
                   const incoming_message in{1 - ranks.rank(), &other, 4};
                   ranks.exchange(cpu_context(), std::span(&out, 1), std::span(&in, 1));
                 });
               }),
               {"8 bytes", "expects 4"});
}

}  // namespace

}  // namespace quadrat::test
