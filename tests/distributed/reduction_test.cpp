// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "distributed/particles/reduction_by_id.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

/// Numbers of many magnitudes, whose sum depends on the order.
[[nodiscard]] std::vector<double> uneven_numbers(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<double> numbers(count);
  for (double& one : numbers) one = std::ldexp(random_unit<double>(random) - 0.5, static_cast<int>(random() % 40));
  return numbers;
}

/// The values of all ids, joined by that many ranks.
template <typename Shares, typename T>
void expect_join(const std::vector<T>& values, int count, const T& expected) {
  run_ranks(count, [&](communicator& ranks) {
    const Shares shares(values.size(), ranks.size());
    std::vector<T> table(shares.places(ranks.rank()), T{});
    for (std::size_t id = 0; id < values.size(); ++id) {
      if (shares(id) == static_cast<std::uint32_t>(ranks.rank())) table.at(shares.place(id)) = values[id];
    }
    EXPECT_EQ(detail::reduce_by_id(ranks, shares, table, plus_operation{}, T{}), expected)
        << values.size() << " values, " << count << " ranks";
  });
}

TEST(reduction_by_id_test, ranks_add_up_with_the_bits_of_one) {
  for (const std::size_t count : {0u, 1u, 1000u, 1024u, 1025u, 5000u, 16384u, 70001u}) {
    const auto numbers = uneven_numbers(count);
    workspace<cpu_context> scratch;
    const double expected = reduce_sum(
        cpu_context(), "expected", count, [&](std::size_t i) { return numbers[i]; }, scratch);
    for (const int ranks : {1, 2, 3, 5, 8, 13}) expect_join<detail::chunk_shares>(numbers, ranks, expected);
  }
}

/// The same number on any ranks, and each value once; the bits are those of a GPU in the tests of the granular model.
TEST(reduction_by_id_test, the_order_of_gpus_is_the_same_on_any_ranks) {
  for (const std::size_t count : {0u, 1u, 255u, 256u, 70001u, 600000u}) {
    const auto numbers = uneven_numbers(count);
    std::vector<std::uint64_t> ids(count);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += ids[i] = i * i + 1;
    double expected = 0;
    run_ranks(1, [&](communicator& ranks) {
      const detail::block_shares shares(count, 1);
      std::vector<double> table(shares.places(0));
      for (std::size_t id = 0; id < count; ++id) table[shares.place(id)] = numbers[id];
      expected = detail::reduce_by_id(ranks, shares, table, plus_operation{}, 0.0);
    });
    for (const int ranks : {1, 3, 8}) {
      expect_join<detail::block_shares>(numbers, ranks, expected);
      expect_join<detail::block_shares>(ids, ranks, sum);
    }
  }
}

}  // namespace

}  // namespace quadrat::test
