// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/keyed/key_reducer.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// The methods of the CPU on keys over many ranges: more than the tests of all methods have.

namespace quadrat::test {

namespace {

constexpr std::uint32_t host_key_count = 300'001;
constexpr std::size_t host_element_count = 200'000;

struct named_keys {
  std::string name;
  std::vector<std::uint32_t> keys;
};

[[nodiscard]] std::vector<named_keys> telling_keys() {
  const auto random = random_words<std::uint32_t>(host_element_count, 3, host_key_count);
  std::vector<named_keys> all{{"random", random}};
  auto ordered = random;
  std::sort(ordered.begin(), ordered.end());
  all.push_back({"in order", ordered});
  for (std::size_t i = 0; i < host_element_count; i += 5000) ordered[i] = random[i];
  all.push_back({"in order but for some", ordered});
  all.push_back({"one key", std::vector<std::uint32_t>(host_element_count, host_key_count - 1)});
  std::vector<std::uint32_t> groups(host_element_count), turns(host_element_count), half(host_element_count);
  for (std::size_t i = 0; i < host_element_count; ++i) {
    groups[i] = random[i] % 2 == 0 ? random[i] % 9 : host_key_count - 1 - random[i] % 9;
    turns[i] = i % 2 == 0 ? 5 : host_key_count - 5;
    half[i] = i % 2 == 0 ? 77'777 : random[i];
  }
  all.push_back({"two far groups", groups});
  all.push_back({"two far keys in turn", turns});
  all.push_back({"half of them one key", half});
  return all;
}

class host_methods : public testing::TestWithParam<std::string_view> {
 protected:
  [[nodiscard]] static cpu_context threads_of(int threads, determinism level = determinism::none) {
    cpu_context::options options;
    options.threads = threads;
    options.reproducibility = level;
    return cpu_context(options);
  }
  [[nodiscard]] static key_reducer<cpu_context> reducer_of(const cpu_context& context, int value_bytes) {
    key_reducer_options options;
    options.method = std::string(GetParam());
    options.value_bytes = value_bytes;
    return {context, host_key_count, options};
  }
};
INSTANTIATE_TEST_SUITE_P(methods, host_methods, testing::Values("private_tables", "partitioned", "auto"));

TEST_P(host_methods, join_each_element_once_over_many_ranges_of_keys) {
  const auto values = random_words<std::int64_t>(3 * host_element_count, 4);
  for (const named_keys& given : telling_keys()) {
    std::vector<std::uint64_t> sums(std::size_t{3} * host_key_count, 0), counts(host_key_count, 0),
        found_counts(host_key_count, 9);
    for (std::size_t i = 0; i < host_element_count; ++i) {
      ++counts[given.keys[i]];
      for (std::size_t c = 0; c < 3; ++c) sums[3 * given.keys[i] + c] += static_cast<std::uint64_t>(values[3 * i + c]);
    }
    const std::vector<std::int64_t> wanted(sums.begin(), sums.end());
    for (const int threads : {1, 2, 5}) {
      for (const int value_bytes : {4, 24}) {
        SCOPED_TRACE(given.name + ", " + std::to_string(threads) + " threads");
        auto reducer = reducer_of(threads_of(threads), value_bytes);
        reducer.set_keys(given.keys.data(), host_element_count);
        std::vector<std::int64_t> found(std::size_t{3} * host_key_count, 7);
        reducer.reduce(packed_values<const std::int64_t>(values.data(), host_element_count, 3),
                       packed_values(found.data(), host_key_count, 3));
        EXPECT_TRUE(found == wanted);
        reducer.count(found_counts.data());
        EXPECT_TRUE(found_counts == counts);
        reducer.check();
      }
    }
  }
}

TEST_P(host_methods, sums_have_the_same_bits_with_any_number_of_threads) {
  const auto values = random_words<std::uint32_t>(host_element_count, 8);
  std::vector<float> numbers(values.begin(), values.end());
  for (const named_keys& given : telling_keys()) {
    std::vector<float> first;
    for (const int threads : {1, 2, 5}) {
      auto reducer = reducer_of(threads_of(threads, determinism::run_to_run), 4);
      reducer.set_keys(given.keys.data(), host_element_count);
      std::vector<float> found(host_key_count);
      reducer.reduce(packed_values<const float>(numbers.data(), host_element_count),
                     packed_values(found.data(), host_key_count));
      if (first.empty()) first = found;
      EXPECT_TRUE(found == first) << given.name << ", " << threads << " threads";
    }
  }
}

/// Enough elements for a table of each thread, which is larger than a level-2 cache; and rows of 24 bytes where 16 are
/// expected, for which such a table has no room.
TEST_P(host_methods, join_each_element_once_where_tables_are_large) {
  constexpr std::uint32_t key_count = 200'001;
  constexpr std::size_t count = 1'700'000;
  auto keys = random_words<std::uint32_t>(count, 13, key_count);
  for (std::size_t i = 0; i < count; i += 3) keys[i] = key_count - 1;
  const auto values = random_words<std::int64_t>(3 * count, 14);
  const auto right_keys = keys;
  for (const bool faulty : {false, true}) {
    if (faulty) keys[77] = key_count;
    std::vector<std::uint64_t> sums(std::size_t{3} * key_count, 0);
    for (std::size_t i = 0; i < count && !faulty; ++i) {
      for (std::size_t c = 0; c < 3; ++c) sums[3 * keys[i] + c] += static_cast<std::uint64_t>(values[3 * i + c]);
    }
    const std::vector<std::int64_t> wanted(sums.begin(), sums.end());
    for (const int value_bytes : {16, 24}) {
      SCOPED_TRACE(value_bytes);
      key_reducer_options options;
      options.method = std::string(GetParam());
      options.value_bytes = value_bytes;
      key_reducer<cpu_context> reducer(threads_of(2), key_count, options);
      reducer.set_keys(right_keys.data(), count);
      for (const bool accumulate : {false, true}) {
        std::vector<std::int64_t> found(std::size_t{3} * key_count, accumulate ? 0 : 7);
        const std::string fault = error_of<data_error>([&] {
          reducer.set_keys_async(keys.data(), count);
          reducer.reduce_async(packed_values<const std::int64_t>(values.data(), count, 3),
                               packed_values(found.data(), key_count, 3), {key_operation::sum, accumulate});
        });
        EXPECT_EQ(fault.find("element 77 has the key 200001;"), faulty ? 0u : std::string::npos) << fault;
        EXPECT_TRUE(faulty || found == wanted);
      }
    }
  }
}

/// The last range of keys is shorter than the others: keys beyond it look as if they belonged to it.
TEST_P(host_methods, find_keys_that_are_just_out_of_range) {
  for (const int threads : {1, 2}) {
    auto reducer = reducer_of(threads_of(threads), 4);
    std::vector<std::uint32_t> keys(host_element_count, host_key_count - 1);
    reducer.set_keys(keys.data(), host_element_count);
    keys[100'000] = host_key_count;
    const std::vector<float> values(host_element_count, 1);
    std::vector<float> found(host_key_count);
    const std::string text = error_of<data_error>([&] {
      reducer.set_keys_async(keys.data(), host_element_count);
      reducer.reduce_async(packed_values<const float>(values.data(), host_element_count),
                           packed_values(found.data(), host_key_count));
    });
    EXPECT_EQ(text.find("element 100000 has the key 300001;"), 0u) << threads << " threads: " << text;
    EXPECT_EQ(error_of<data_error>([&] { reducer.set_keys(keys.data(), host_element_count); }), text);
  }
}

}  // namespace

}  // namespace quadrat::test
