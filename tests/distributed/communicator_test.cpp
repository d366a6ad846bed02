// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/communicator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
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

/// A collective with as many bytes from each rank as the round says; the kind and the bytes differ from round to round.
void check_round(communicator& ranks, std::size_t round) {
  const std::size_t bytes = round % 50 == 49 ? 10'000 : round * 7 % 601, size = static_cast<std::size_t>(ranks.size());
  const auto content = [&](std::size_t rank, std::size_t k) {
    return static_cast<unsigned char>(rank * 31 + round * 17 + k);
  };
  const auto self = static_cast<std::size_t>(ranks.rank());
  if (round % 4 == 3) return ranks.barrier();
  if (round % 4 == 2) {
    std::vector<std::uint64_t> sums(bytes % 9, self + round);
    ranks.add_up(sums.data(), sums.size());
    const std::vector<std::uint64_t> expected(sums.size(), size * (size - 1) / 2 + size * round);
    require_that(sums == expected, "a sum is wrong");
    return;
  }
  const bool to_each = round % 4 == 1;
  std::vector<unsigned char> mine(to_each ? bytes * size : bytes), all(bytes * size), expected;
  for (std::size_t k = 0; k < mine.size(); ++k) mine[k] = content(self, k);
  for (std::size_t rank = 0; rank < size; ++rank) {
    for (std::size_t k = 0; k < bytes; ++k) expected.push_back(content(rank, to_each ? self * bytes + k : k));
  }
  to_each ? ranks.all_to_all(mine.data(), all.data(), bytes) : ranks.all_gather(mine.data(), all.data(), bytes);
  require_that(all == expected, "bytes of a rank are not what it has given");
}

TEST(communicator_test, many_rounds_of_bytes_of_any_number_keep_apart) {
  for (const int count : {2, 5, 16}) {
    EXPECT_NO_THROW(run_ranks(count, [](communicator& ranks) {
      for (std::size_t round = 0; round < 1000; ++round) {
        // One rank or another comes late, some so late that others sleep.
        if (round % 13 == static_cast<std::size_t>(ranks.rank())) std::this_thread::yield();
        if (round % 300 == 7 * static_cast<std::size_t>(ranks.rank())) {
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        check_round(ranks, round);
      }
    })) << count;
  }
}

TEST(communicator_test, a_rank_may_throw_in_any_round) {
  constexpr int count = 4;
  for (std::size_t last = 0; last < 12; ++last) {
    const int guilty = static_cast<int>(last) % count;
    std::atomic<int> others{0};
    const auto body = [&](communicator& ranks) {
      try {
        for (std::size_t round = 0; round < 200; ++round) {
          if (round == last && ranks.rank() == guilty) throw data_error("no more", last);
          check_round(ranks, round);
        }
      } catch (const rank_error& problem) {
        EXPECT_EQ(problem.rank(), guilty);
        ++others;
        throw;
      }
    };
    EXPECT_EQ(error_of<data_error>([&] { run_ranks(count, body); }), "no more");
    EXPECT_EQ(others, count - 1);
  }
}

TEST(communicator_test, a_rank_that_throws_late_wakes_those_that_sleep) {
  const auto body = [](communicator& ranks) {
    if (ranks.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      throw data_error("too late");
    }
    ranks.barrier();
  };
  EXPECT_EQ(error_of<data_error>([&] { run_ranks(3, body); }), "too late");
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
