// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/for_each.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "element_of.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

struct count_visit {
  std::uint32_t* visits;
  QUADRAT_HD void operator()(std::size_t i) const { atomic_add(visits + i, 1u); }
};

class for_each_test : public backend_test {};

TEST_F(for_each_test, visits_each_index_once) {
  for (const backend_context& context : all_contexts()) {
    for (const std::size_t size : interesting_sizes()) {
      auto visits = to_device(context, std::vector<std::uint32_t>(size + 1, 0u));
      for_each(context, "test count", size, count_visit{visits.data()});
      std::vector<std::uint32_t> expected(size, 1u);
      expected.push_back(0u);
      EXPECT_EQ(to_host(context, visits), expected) << "size " << size;
    }
  }
}

TEST_F(for_each_test, does_nothing_for_no_index) {
  const backend_context context;
  for_each(context, "test count", 0, count_visit{nullptr});
  EXPECT_NO_THROW(context.synchronize());
}

/// Sort, scan, sum and element-wise work, many times; returns the sum.
std::uint64_t long_work(std::uint64_t seed, std::size_t size) {
  const backend_context context;
  workspace<backend_context> scratch;
  const auto input = random_words<std::uint32_t>(size, seed, 4096);
  std::uint64_t sum = 0;
  for (int repetition = 0; repetition < 20; ++repetition) {
    auto keys = to_device(context, input);
    array<std::uint32_t, backend_context> values(context, size);
    sort_pairs(context, keys.data(), values.data(), size, 12, scratch, sort_values::index);
    for_each(context, "test count", size, count_visit{keys.data()});
    exclusive_scan(context, keys.data(), keys.data(), size, scratch);
    sum += reduce_sum(context, "test sum", size, element_of<std::uint32_t, std::uint64_t>{keys.data()}, scratch);
  }
  return sum;
}

TEST_F(for_each_test, runs_from_several_host_threads_each_with_its_own_context) {
  const std::size_t size = size_or(40'000, 2000);
  std::vector<std::uint64_t> alone;
  std::vector<std::uint64_t> together(3);
  for (std::uint64_t seed = 0; seed < together.size(); ++seed) alone.push_back(long_work(seed, size));
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < together.size(); ++seed) {
    threads.emplace_back([&together, seed, size] { together[seed] = long_work(seed, size); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
}

}  // namespace

}  // namespace quadrat::test
