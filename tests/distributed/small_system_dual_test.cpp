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
INSTANTIATE_TEST_SUITE_P(ranks, sparse_migration_test, testing::Values(1, 2, 3));

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
