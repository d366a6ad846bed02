// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/searches.hpp"

#include <gtest/gtest.h>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_searches_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_searches_test, testing::Values(1, 2, 3, 4, 8));

TEST_P(distributed_searches_test, lists_visits_and_sums_by_key_are_those_of_one_rank) {
  const int count = GetParam();
  EXPECT_NO_THROW(run_ranks(count, [&](communicator& ranks) {
    check_searches(ranks, static_cast<std::uint64_t>(count) * 1000, size_or(40, 4));
  }));
}

TEST_P(distributed_searches_test, a_key_out_of_range_is_named_on_all_ranks) {
  const auto body = [&](communicator& ranks) {
    const backend_context context = context_of_rank();
    distributed_key_reducer<backend_context> reducer(context, ranks, 5);
    const bool last = ranks.rank() == ranks.size() - 1;
    const auto keys = to_device(context, std::vector<std::uint64_t>{1, last ? 7u : 4u, 2});
    reducer.set_keys(keys.data(), 3);
  };
  expect_words(error_of<data_error>([&] { run_ranks(GetParam(), body); }),
               {"element 1", message("rank ", GetParam() - 1), "is 7", "5 keys"});
}

}  // namespace

}  // namespace quadrat::test
