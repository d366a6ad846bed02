// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/ranks/direct_ranks.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "distributed/ranks/direct_push.hpp"
#include "distributed/small_system.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

constexpr std::size_t ring_words = 3000;

/// Lets a stream fall behind.
__device__ void wait_cycles(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {
  }
}

struct write_slowly {
  std::uint32_t* to;
  std::uint32_t value;
  long long cycles;

  QUADRAT_HD void operator()(std::size_t i) const {
#if defined(__CUDA_ARCH__)
    wait_cycles(cycles);
#endif
    to[i] = value;
  }
};

struct count_others_slowly {
  const std::uint32_t* from;
  std::uint32_t value;
  long long cycles;
  std::uint32_t* wrong;

  QUADRAT_HD void operator()(std::size_t i) const {
#if defined(__CUDA_ARCH__)
    wait_cycles(cycles);
    if (from[i] != value) atomicAdd(wrong, 1u);
#else
    static_cast<void>(i);
#endif
  }
};

/// Each rank writes to the next one and reads what the one before has written, again and again, some of them slowly;
/// each stream waits for one rank only.
void check_ring(communicator& ranks) {
  const backend_context context = context_of_rank();
  detail::direct_ranks* const direct = detail::find_direct_ranks(ranks, context);
  if (direct == nullptr) return;  // the devices are no peers
  const int size = ranks.size(), self = ranks.rank(), next = (self + 1) % size, before = (self + size - 1) % size;
  array<std::uint32_t, backend_context> words(context, ring_words);
  const auto wrong = to_device(context, std::vector<std::uint32_t>{0});
  const auto places = all_values(ranks, words.data());
  for (std::uint32_t round = 0; round < 40; ++round) {
    const auto value = [&](int rank) { return 100 * round + static_cast<std::uint32_t>(rank); };
    const auto cycles = [&](std::uint32_t turn) {
      return (round + turn + static_cast<std::uint32_t>(self)) % 3 == 0 ? 200'000LL : 0LL;
    };
    direct->mark(context);
    direct->pass_marks(context, std::span(&next, 1), nullptr, nullptr, 0);
    for_each(context, "test.write", ring_words,
             write_slowly{places[static_cast<std::size_t>(next)], value(self), cycles(0)});
    direct->mark(context);
    direct->pass_marks(context, std::span(&before, 1), nullptr, nullptr, 0);
    for_each(context, "test.count", ring_words,
             count_others_slowly{words.data(), value(before), cycles(1), const_cast<std::uint32_t*>(wrong.data())});
  }
  expect(to_host(context, wrong)[0] == 0, "rank ", self, " has read words that were not yet, or no longer, there");
  ranks.barrier();
}

class direct_ranks_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, direct_ranks_test, testing::Values(2, 3, 4, 8));

TEST_P(direct_ranks_test, streams_wait_for_the_ranks_that_they_name) {
  EXPECT_NO_THROW(run_ranks(GetParam(), check_ring));
}

TEST_P(direct_ranks_test, arrays_of_any_width_arrive_in_one_kernel) {
  // Entries 0, 2, 4, ... go to the other ranks, in blocks of different lengths; some ranks get none.
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) {
    const backend_context context = context_of_rank();
    if (detail::find_direct_ranks(ranks, context) == nullptr) return;
    const auto size = static_cast<std::size_t>(ranks.size()), self = static_cast<std::size_t>(ranks.rank());
    std::vector<std::size_t> counts(size);
    std::vector<std::uint32_t> indices;
    for (std::size_t rank = 0; rank < size; ++rank) {
      counts[rank] = rank == self || rank == 1 ? 0 : 5 + 100 * rank;
      for (std::size_t k = 0; k < counts[rank]; ++k) indices.push_back(static_cast<std::uint32_t>(2 * indices.size()));
    }
    const auto order = to_device(context, indices);
    detail::push_elements body(counts, ranks.rank(), order.data());
    // Elements of 1, 3 and 4 words; the last array once where 16 bytes are aligned and once where not.
    constexpr std::size_t widths[] = {1, 3, 4, 4}, shifts[] = {0, 0, 0, 1};
    std::vector<array<std::uint32_t, backend_context>> from, to;
    for (std::size_t a = 0; a < 4; ++a) {
      std::vector<std::uint32_t> words(2 * indices.size() * widths[a] + shifts[a]);
      for (std::size_t k = 0; k < words.size(); ++k) words[k] = static_cast<std::uint32_t>(10 * k + a);
      from.push_back(to_device(context, words));
      to.emplace_back(context, indices.size() * widths[a] + shifts[a]);
      detail::push_elements::targets there{};
      std::size_t place = shifts[a];
      for (std::size_t rank = 0; rank < size; ++rank) {
        there[rank] = to[a].data() + place;
        place += counts[rank] * widths[a];
      }
      body.add(from[a].data() + shifts[a], widths[a] * sizeof(std::uint32_t), there);
    }
    for_each(context, "test.push", body.calls(), body);
    for (std::size_t a = 0; a < 4; ++a) {
      const auto found = to_host(context, to[a]);
      for (std::size_t k = 0; k < indices.size() * widths[a]; ++k) {
        const std::size_t source = 2 * (k / widths[a]) * widths[a] + k % widths[a] + shifts[a];
        expect(found[k + shifts[a]] == 10 * source + a, "array ", a, " has another word at ", k);
      }
    }
  }));
}

/// All write to all, again and again, some of them late; what has arrived is counted on the device.
void check_ways(communicator& ranks) {
  const backend_context context = context_of_rank();
  const auto channel = detail::find_direct_channel(context, ranks);
  if (channel == nullptr) return;
  const auto size = static_cast<std::size_t>(ranks.size()), self = static_cast<std::size_t>(ranks.rank());
  const std::size_t each = size_or(300'000, 700);
  std::vector<std::size_t> counts(size, each), from(size, each);
  counts[self] = from[self] = 0;
  std::vector<std::uint32_t> indices;
  for (std::size_t rank = 0; rank < size; ++rank) {
    for (std::size_t k = 0; k < counts[rank]; ++k) indices.push_back(static_cast<std::uint32_t>(k));
  }
  const auto order = to_device(context, indices);
  array<std::uint32_t, backend_context> mine(context, each), arrived(context, size * each);
  auto wrong = to_device(context, std::vector<std::uint32_t>{0});
  const detail::direct_exchange messages(*channel, counts, from);
  for (std::uint32_t round = 0; round < 60; ++round) {
    const auto value = [&](std::size_t rank) { return 100 * round + static_cast<std::uint32_t>(rank); };
    const long long cycles = (round + self) % 3 == 0 ? 100'000LL : 0LL;
    for_each(context, "test.write", each, write_slowly{mine.data(), value(self), cycles});
    const detail::direct_array one{mine.data(), sizeof(std::uint32_t), arrived.data()};
    messages.start(context, "test.push", {&one, 1}, order.data());
    messages.finish(context);
    std::size_t first = 0;
    for (std::size_t rank = 0; rank < size; ++rank) {
      if (rank == self) continue;
      for_each(context, "test.count", each,
               count_others_slowly{arrived.data() + first, value(rank), cycles, wrong.data()});
      first += each;
    }
  }
  expect(to_host(context, wrong)[0] == 0, "rank ", self, " has read words that were not yet, or no longer, there");
  ranks.barrier();
}

TEST_P(direct_ranks_test, all_write_to_all) { EXPECT_NO_THROW(run_ranks(GetParam(), check_ways)); }

/// Threads end while kernels of their last exchange still wait for a slow one.
TEST_P(direct_ranks_test, kernels_may_outlive_their_threads) {
  const auto body = [](communicator& ranks) {
    const backend_context context = context_of_rank();
    const auto channel = detail::find_direct_channel(context, ranks);
    if (channel == nullptr) return;
    const auto size = static_cast<std::size_t>(ranks.size());
    std::vector<std::size_t> counts(size, 1);
    counts[static_cast<std::size_t>(ranks.rank())] = 0;
    const auto order = to_device(context, std::vector<std::uint32_t>(size, 0));
    array<std::uint32_t, backend_context> mine(context, 1), arrived(context, size);
    if (ranks.rank() == 0) for_each(context, "test.write", 1, write_slowly{mine.data(), 1, 20'000'000});
    const detail::direct_array one{mine.data(), sizeof(std::uint32_t), arrived.data()};
    const detail::direct_exchange messages(*channel, counts, counts);
    messages.start(context, "test.push", {&one, 1}, order.data());
    messages.finish(context);
  };
  for (int round = 0; round < 5; ++round) run_ranks(GetParam(), body);
  // An illegal access would have left its error in all contexts of its device.
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator&) {
    const backend_context context = context_of_rank();
    const std::vector<std::uint32_t> given{7};
    expect(to_host(context, to_device(context, given)) == given, "a device does not work any more");
  }));
}

/// A rank throws after the others know that it is there, and before it tells their kernels.
TEST_P(direct_ranks_test, kernels_that_wait_for_a_rank_that_has_failed_end) {
  const int guilty = GetParam() - 1;
  // They outlive the ranks: ranks that wait by events still write to the one that has failed.
  std::vector<array<std::uint32_t, backend_context>> all_arrived(static_cast<std::size_t>(GetParam()));
  const auto body = [&](communicator& ranks) {
    const backend_context context = context_of_rank();
    const auto channel = detail::find_direct_channel(context, ranks);
    const auto size = static_cast<std::size_t>(ranks.size());
    std::vector<std::size_t> counts(size, 1);
    counts[static_cast<std::size_t>(ranks.rank())] = 0;
    const auto order = to_device(context, std::vector<std::uint32_t>(size, 0));
    const array<std::uint32_t, backend_context> mine(context, 1);
    auto& arrived = all_arrived[static_cast<std::size_t>(ranks.rank())];
    arrived.resize_discarding(context, size);
    if (channel == nullptr) throw data_error("no more");
    void* const buffer = arrived.data();
    std::vector<void*> all(size);
    channel->open(context, counts, &buffer, all.data(), sizeof(buffer));
    if (ranks.rank() == guilty) throw data_error("no more");
    detail::push_elements elements(counts, ranks.rank(), order.data());
    detail::push_elements::targets to{};
    for (std::size_t rank = 0; rank < size; ++rank) {
      to[rank] = static_cast<std::uint32_t*>(all[rank]) + ranks.rank();
    }
    elements.add(mine.data(), sizeof(std::uint32_t), to);
    try {
      channel->push(context, "test.push", elements, 0, counts, counts);
      channel->finish(context, counts);
      ranks.barrier();
    } catch (const rank_error&) {
      context.synchronize();
      throw;
    }
  };
  EXPECT_EQ(error_of<data_error>([&] { run_ranks(GetParam(), body); }), "no more");
}

}  // namespace

}  // namespace quadrat::test
