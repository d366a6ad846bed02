// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class small_systems_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, small_systems_test, testing::Values(1, 2, 3, 4, 5, 8));

TEST_P(small_systems_test, random_decompositions_migrate_and_share_ghosts_as_one_rank_finds_them) {
#if QUADRAT_BACKEND_CUDA
  const std::uint64_t systems = size_or(60, 6);
#else
  const std::uint64_t systems = size_or(1700, 100);  // 10,200 in all
#endif
  const int count = GetParam();
  EXPECT_NO_THROW(run_ranks(count, [&](communicator& ranks) {
    check_small_systems(ranks, static_cast<std::uint64_t>(count) * 1'000'000, systems);
  }));
}

/// On two ranks and on more, whose elements are sorted by rank or not.
class sparse_migration_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, sparse_migration_test, testing::Values(1, 2, 3, 5));

/// Where element i of a rank goes: one of 97 leaves, every second, a stretch, or all; to ranks by turns.
[[nodiscard]] std::uint32_t destination_of(int way, std::size_t rank, std::size_t i, std::size_t ranks) {
  const bool leaves = way == 0 ? i % 97 == rank : (way == 1 ? i % 2 == 0 : way == 3 || (i > 9'000 && i < 21'000));
  return static_cast<std::uint32_t>(leaves ? (rank + i / 5) % ranks : rank);
}

/// The elements of a rank afterwards. `count`: of each rank before; element i of rank r is r * 2^20 + i.
[[nodiscard]] std::vector<std::uint32_t> elements_after(int way, std::size_t self,
                                                        const std::vector<std::size_t>& counts) {
  std::vector<std::uint32_t> result, gaps, arriving;
  std::vector<bool> stays;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    for (std::size_t i = 0; i < counts[rank]; ++i) {
      const bool comes = destination_of(way, rank, i, counts.size()) == self;
      const auto element = static_cast<std::uint32_t>((rank << 20) + i);
      if (rank == self) {
        if (!comes) gaps.push_back(static_cast<std::uint32_t>(i));
        stays.push_back(comes);
        result.push_back(element);
      } else if (comes) {
        arriving.push_back(element);
      }
    }
  }
  std::size_t next = 0;
  for (const std::uint32_t element : arriving) {
    if (next < gaps.size()) {
      stays[gaps[next]] = true;
      result[gaps[next++]] = element;
    } else {
      result.push_back(element);
    }
  }
  const std::size_t size = result.size() - (gaps.size() - next);
  for (std::size_t i = size; i < stays.size(); ++i) {
    if (stays[i]) result[gaps[next++]] = result[i];
  }
  result.resize(size);
  return result;
}

TEST_P(sparse_migration_test, many_elements_leave_where_they_are_few_and_where_they_crowd) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) {
    const backend_context context = context_of_rank();
    const auto size = static_cast<std::size_t>(ranks.size()), self = static_cast<std::size_t>(ranks.rank());
    std::vector<std::size_t> counts;
    for (std::size_t rank = 0; rank < size; ++rank) counts.push_back(40'000 + 1'000 * rank);
    sparse_migration<backend_context> moves(context, ranks);
    for (const int way : {0, 1, 2, 3, 0}) {
      std::vector<std::uint32_t> destinations, elements;
      for (std::size_t i = 0; i < counts[self]; ++i) {
        destinations.push_back(destination_of(way, self, i, size));
        elements.push_back(static_cast<std::uint32_t>((self << 20) + i));
      }
      const auto expected = elements_after(way, self, counts);
      elements.resize(std::max(elements.size(), expected.size()));
      const auto owners = to_device(context, destinations);
      auto on_device = to_device(context, elements);
      moves.build(owners.data(), destinations.size());
      expect(moves.size() == expected.size(), "way ", way, ": ", moves.size(), " elements instead of ",
             expected.size());
      moves.apply(on_device.data());
      expect(to_host(context, on_device.data(), expected.size()) == expected, "way ", way,
             ": elements are not where they belong");
    }
  }));
}

TEST_P(sparse_migration_test, ranks_that_do_not_exist_are_refused_by_all) {
  const int count = GetParam();
  run_ranks(count, [&](communicator& ranks) {
    const backend_context context = context_of_rank();
    std::vector<std::uint32_t> destinations(1000, 0);
    if (ranks.rank() == count - 1) destinations[17] = destinations[900] = static_cast<std::uint32_t>(count);
    const auto owners = to_device(context, destinations);
    sparse_migration<backend_context> moves(context, ranks);
    const std::string words = error_of<data_error>([&] { moves.build(owners.data(), destinations.size()); });
    expect_words(words, {message("element 17 of rank ", count - 1), message("to rank ", count)});
    expect(moves.size() == 0, "a plan that was refused has elements");
  });
}

TEST_P(sparse_migration_test, nothing_moves_where_nothing_is_to_move) {
  run_ranks(GetParam(), [&](communicator& ranks) {
    const backend_context context = context_of_rank();
    sparse_migration<backend_context> moves(context, ranks);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3000}}) {
      std::vector<std::uint32_t> elements(size);
      std::iota(elements.begin(), elements.end(), 5u);
      auto on_device = to_device(context, elements);
      const auto owners = to_device(context, std::vector(size, static_cast<std::uint32_t>(ranks.rank())));
      moves.build(owners.data(), size);
      moves.apply(on_device.data());
      expect(moves.size() == size && to_host(context, on_device) == elements, "elements have moved");
    }
  });
}

}  // namespace

}  // namespace quadrat::test
