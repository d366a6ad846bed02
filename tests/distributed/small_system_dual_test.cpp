// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "distributed/small_system.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"

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

}  // namespace

}  // namespace quadrat::test
