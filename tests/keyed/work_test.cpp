// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "keyed/partitioned.hpp"
#include "keyed/private_tables.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/fault.hpp"
#include "support/random.hpp"

// Threads share the work of a reduction about as evenly as that of random keys, whatever the keys are, and join few
// tables: the steps are counted that the methods of the CPU plan from the keys. Those of the other methods follow from
// the number of elements (`atomic`, `fixed_point`, and chunks of `sort_reduce` and `ordered`), or are in
// bin_slots_test.cpp (`shared_bins`).

namespace quadrat::test {

namespace {

constexpr std::size_t work_elements = 200'000;

struct distributed_keys {
  std::string name;
  std::vector<std::uint32_t> keys;
};

[[nodiscard]] std::vector<distributed_keys> all_distributions_of_keys(std::uint32_t key_count) {
  std::vector<distributed_keys> all;
  const auto random = random_words<std::uint32_t>(work_elements, 3, key_count);
  const auto other = random_words<std::uint32_t>(work_elements, 4, key_count);
  const auto add = [&](const std::string& name, auto&& key) {
    std::vector<std::uint32_t> keys(work_elements);
    for (std::size_t i = 0; i < work_elements; ++i) keys[i] = static_cast<std::uint32_t>(key(i));
    all.push_back({name, std::move(keys)});
  };
  const std::uint64_t n = key_count;
  add("random", [&](std::size_t i) { return random[i]; });
  add("one key", [&](std::size_t) { return n / 3; });
  add("two far keys in turn", [&](std::size_t i) { return i % 2 == 0 ? 0 : n - 1; });
  add("two near keys, one after the other", [&](std::size_t i) { return n / 2 + 2 * i / work_elements; });
  add("half of them one key", [&](std::size_t i) { return other[i] % 2 == 0 ? n / 5 : random[i]; });
  add("few hot ones among many", [&](std::size_t i) { return other[i] % 10 < 9 ? other[i] % 7 * (n / 7) : random[i]; });
  add("a hundredth of the keys", [&](std::size_t i) { return random[i] / 100 + n / 2; });
  add("dense at the beginning", [&](std::size_t i) { return std::uint64_t{random[i]} * other[i] / n * other[i] / n; });
  add("in order", [&](std::size_t i) { return n * i / work_elements; });
  add("in falling order", [&](std::size_t i) { return n - 1 - n * i / work_elements; });
  add("in turn", [&](std::size_t i) { return i % n; });
  add("by far steps", [&](std::size_t i) { return i * (n / 16) % n; });
  add("by odd steps", [&](std::size_t i) { return i * 4099 % n; });
  add("by powers of two", [&](std::size_t i) { return i * 4096 % n; });
  add("sorted blocks, shuffled", [&](std::size_t i) { return (n * i / work_elements + random[i / 1000]) % n; });
  return all;
}

/// The most elements of a key.
[[nodiscard]] std::size_t commonest_share(const std::vector<std::uint32_t>& keys, std::uint32_t key_count) {
  std::vector<std::size_t> counts(key_count, 0);
  for (const std::uint32_t key : keys) ++counts[key];
  return *std::max_element(counts.begin(), counts.end());
}

[[nodiscard]] cpu_context threads_of(int threads) {
  cpu_context::options options;
  options.threads = threads;
  return cpu_context(options);
}

/// An engine that has these keys.
template <typename Engine>
[[nodiscard]] Engine planned(const cpu_context& context, const std::vector<std::uint32_t>& keys,
                             std::uint32_t key_count) {
  fault_state<cpu_context> faults(context);
  Engine engine(context, {key_count, {}});
  engine.set_keys({keys.data(), keys.size(), key_count, false, faults.flag()});
  return engine;
}

}  // namespace

TEST(keyed_work, of_partitioned_has_pieces_of_a_few_elements_and_small_tables_for_every_distribution) {
  const cpu_context context = threads_of(4);
  for (const std::uint32_t key_count : {1000u, 100'000u, 3'000'001u}) {
    for (const auto& [name, keys] : all_distributions_of_keys(key_count)) {
      SCOPED_TRACE(message(name, " of ", key_count));
      const auto engine = planned<detail::partitioned_engine>(context, keys, key_count);
      std::size_t all = 0, largest = 0, rows = 0;
      for (const auto& piece : engine.pieces()) {
        all += piece.last - piece.first;
        largest = std::max<std::size_t>(largest, piece.last - piece.first);
        if (piece.table != detail::partitioned_engine::no_table) rows += engine.range_rows();
      }
      EXPECT_EQ(all, work_elements);
      EXPECT_LE(largest, std::max(work_elements / 8, 4 * engine.range_rows()));
      EXPECT_LE(rows, work_elements / 2);
    }
  }
}

TEST(keyed_work, of_private_tables_is_even_over_ranges_but_for_one_key_for_every_distribution) {
  constexpr std::size_t threads = 4;
  const cpu_context context = threads_of(threads);
  for (const std::uint32_t key_count : {100'000u, 3'000'001u}) {
    for (const auto& [name, keys] : all_distributions_of_keys(key_count)) {
      SCOPED_TRACE(message(name, " of ", key_count));
      const auto engine = planned<detail::private_tables_engine>(context, keys, key_count);
      const std::vector<std::uint32_t>& ranges = engine.ranges();
      ASSERT_EQ(ranges.size(), threads + 1);
      std::vector<double> work(threads, 0);
      for (const std::uint32_t key : keys) {
        ++work[static_cast<std::size_t>(std::upper_bound(ranges.begin(), ranges.end(), key) - ranges.begin()) - 1];
      }
      constexpr double clears = 4.0 / 64;  // a result, in the time of joining an element
      for (std::size_t k = 0; k < threads; ++k) work[k] += clears * (ranges[k + 1] - ranges[k]);
      const double even = (static_cast<double>(work_elements) + clears * key_count) / threads;
      EXPECT_LE(*std::max_element(work.begin(), work.end()),
                1.25 * even + static_cast<double>(commonest_share(keys, key_count)));
    }
  }
}

}  // namespace quadrat::test
