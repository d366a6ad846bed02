// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/keyed/reduce_with.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "support/backend.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

namespace quadrat::test {

namespace {

using with_functor = functor_reducer<backend_context>;

/// Products of 2 x 2 matrices modulo 2^32: exactly associative, and not commutative.
struct matrix {
  std::uint32_t a, b, c, d;
  [[nodiscard]] bool operator==(const matrix&) const = default;
};
constexpr matrix unit{1, 0, 0, 1};
struct product {
  QUADRAT_HD matrix operator()(const matrix& m, const matrix& n) const {
    return {m.a * n.a + m.b * n.c, m.a * n.b + m.b * n.d, m.c * n.a + m.d * n.c, m.c * n.b + m.d * n.d};
  }
};

/// The index of the smallest value; of equal ones the first.
struct place_of_value {
  double value;
  std::uint32_t place;
  [[nodiscard]] bool operator==(const place_of_value&) const = default;
};
constexpr place_of_value nowhere{__builtin_inf(), 0xffffffffu};
struct least {
  QUADRAT_HD place_of_value operator()(const place_of_value& a, const place_of_value& b) const {
    return b.value < a.value ? b : a;
  }
};

/// A key that is not an integer.
struct pair_key {
  std::int64_t first;
  std::int16_t second;
  QUADRAT_HD bool operator==(const pair_key& other) const { return first == other.first && second == other.second; }
};

struct sum {
  QUADRAT_HD float operator()(float a, float b) const { return a + b; }
};

[[nodiscard]] std::vector<matrix> random_matrices(std::size_t count) {
  const auto words = random_words<std::uint32_t>(4 * count, 11);
  std::vector<matrix> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = {words[4 * i] | 1, words[4 * i + 1], words[4 * i + 2] << 1, words[4 * i + 3] | 1};
  }
  return result;
}

/// Runs with lengths from 1 to about `longest`, and keys that increase by 1 to 3.
template <typename Key>
[[nodiscard]] std::vector<Key> keys_in_runs(std::size_t count, std::uint64_t longest, std::uint64_t seed) {
  const auto words = random_words<std::uint32_t>(count, seed);
  std::vector<Key> keys(count);
  Key key = 0;
  for (std::size_t i = 0; i < count; ++i) {
    keys[i] = key;
    if (words[i] % longest == 0) key = static_cast<Key>(key + 1 + (words[i] >> 20) % 3);
  }
  return keys;
}

template <typename Key, typename Value, typename Join>
[[nodiscard]] std::vector<Value> expected_rows(const std::vector<Key>& keys, const std::vector<Value>& values,
                                               std::size_t key_count, const Join& join, const Value& identity) {
  std::vector<Value> result(key_count, identity);
  std::vector<bool> met(key_count, false);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto key = static_cast<std::size_t>(keys[i]);
    result[key] = met[key] ? join(result[key], values[i]) : values[i];
    met[key] = true;
  }
  return result;
}

class functor_reducer_test : public backend_test {};

template <typename Key>
void expect_products_of_ordered_keys(std::size_t count, std::uint64_t longest) {
  const auto keys = keys_in_runs<Key>(count, longest, count + longest);
  const auto values = random_matrices(count);
  const std::size_t key_count = (keys.empty() ? 0 : static_cast<std::size_t>(keys.back())) + 3;
  const auto expected = expected_rows(keys, values, key_count, product{}, unit);
  for (const backend_context& context : all_contexts()) {
    with_functor reduction(context);
    const auto device_keys = to_device(context, keys);
    const auto device_values = to_device(context, values);
    auto results = to_device(context, std::vector<matrix>(key_count + 1, matrix{7, 7, 7, 7}));
    reduction.reduce_ordered(device_keys.data(), device_values.data(), count, results.data(), key_count, product{},
                             unit);
    reduction.check();
    auto found = to_host(context, results);
    EXPECT_EQ(found.back(), (matrix{7, 7, 7, 7})) << "wrote past its end";
    found.pop_back();
    EXPECT_EQ(found, expected) << count << " elements, runs of " << longest;
  }
}

TEST_F(functor_reducer_test, joins_ordered_keys_in_order) {
  for (const std::size_t count : interesting_sizes()) {
    if (count < 100'000) expect_products_of_ordered_keys<std::uint32_t>(count, 10);
  }
  for (const std::uint64_t longest : {1u, 2u, 16u, 300u, 1'000'000u}) {
    expect_products_of_ordered_keys<std::int32_t>(20'000, longest);
  }
  expect_products_of_ordered_keys<std::int64_t>(1000, 20);
  expect_products_of_ordered_keys<std::uint16_t>(1000, 20);
}

TEST_F(functor_reducer_test, joins_keys_in_any_order_in_the_order_of_elements) {
  for (const std::size_t count : interesting_sizes()) {
    if (count > 100'000) continue;
    for (const std::uint64_t key_count : {1u, 7u, 5000u}) {
      const auto keys = random_words<std::int64_t>(count, count, key_count);
      const auto values = random_matrices(count);
      const auto expected = expected_rows(keys, values, key_count, product{}, unit);
      const backend_context context;
      with_functor reduction(context);
      const auto device_keys = to_device(context, keys);
      const auto device_values = to_device(context, values);
      array<matrix, backend_context> results(context, key_count);
      reduction.reduce_any_order(device_keys.data(), device_values.data(), count, results.data(), key_count, product{},
                                 unit);
      reduction.check();
      EXPECT_EQ(to_host(context, results), expected) << count << " elements, " << key_count << " keys";
    }
  }
}

TEST_F(functor_reducer_test, finds_the_place_of_the_least_value) {
  const std::size_t count = 30'000, key_count = 1000;
  const auto keys = random_words<std::uint32_t>(count, 1, key_count - 1);
  const auto numbers = random_words<std::uint32_t>(count, 2, 50);
  std::vector<place_of_value> values(count);
  for (std::uint32_t i = 0; i < count; ++i) values[i] = {static_cast<double>(numbers[i]), i};
  const auto expected = expected_rows(keys, values, key_count, least{}, nowhere);
  const backend_context context;
  with_functor reduction(context);
  const auto device_keys = to_device(context, keys);
  const auto device_values = to_device(context, values);
  array<place_of_value, backend_context> results(context, key_count);
  reduction.reduce_any_order(device_keys.data(), device_values.data(), count, results.data(), key_count, least{},
                             nowhere);
  EXPECT_EQ(to_host(context, results), expected);
  EXPECT_EQ(expected.back(), nowhere);
}

TEST_F(functor_reducer_test, one_row_for_each_run_of_keys_of_any_type) {
  for (const std::size_t count : {0u, 1u, 15u, 16u, 17u, 255u, 257u, 4097u, 20'000u}) {
    for (const std::uint64_t kinds : {1u, 2u, 3u, 100u}) {
      // Few distinct keys: each recurs, near and far.
      const auto words = random_words<std::uint32_t>(count, count + kinds, kinds);
      std::vector<pair_key> keys(count);
      for (std::size_t i = 0; i < count; ++i)
        keys[i] = {words[i] / 2 * 1'000'000'000'000, words[i] % 2 == 0 ? short{-1} : short{1}};
      const auto values = random_matrices(count);
      std::vector<pair_key> run_keys;
      std::vector<matrix> expected;
      for (std::size_t i = 0; i < count; ++i) {
        if (i > 0 && keys[i] == keys[i - 1]) {
          expected.back() = product{}(expected.back(), values[i]);
        } else {
          run_keys.push_back(keys[i]);
          expected.push_back(values[i]);
        }
      }
      for (const backend_context& context : all_contexts()) {
        with_functor reduction(context);
        const auto device_keys = to_device(context, keys);
        const auto device_values = to_device(context, values);
        array<pair_key, backend_context> found_keys(context, run_keys.size());
        array<matrix, backend_context> found(context, run_keys.size());
        array<std::uint32_t, backend_context> runs(context, 1);
        reduction.reduce_runs(device_keys.data(), device_values.data(), count, found_keys.data(), found.data(),
                              runs.data(), product{});
        EXPECT_EQ(to_host(context, runs)[0], run_keys.size()) << count;
        EXPECT_EQ(to_host(context, found_keys), run_keys) << count;
        EXPECT_EQ(to_host(context, found), expected) << count << " elements of " << kinds << " kinds";
      }
    }
  }
}

TEST_F(functor_reducer_test, sums_have_the_same_bits_with_every_context) {
  const std::size_t count = 50'000, key_count = 20;
  const auto keys = random_words<std::uint32_t>(count, 8, key_count);
  std::mt19937_64 generator(9);
  std::vector<float> values(count);
  for (float& value : values) value = random_unit<float>(generator);
  std::vector<float> first;
  for (const backend_context& context : all_contexts()) {
    with_functor reduction(context);
    const auto device_keys = to_device(context, keys);
    const auto device_values = to_device(context, values);
    array<float, backend_context> results(context, key_count);
    reduction.reduce_any_order(device_keys.data(), device_values.data(), count, results.data(), key_count, sum{}, 0.0f);
    const auto found = to_host(context, results);
    if (first.empty()) first = found;
    EXPECT_EQ(std::memcmp(found.data(), first.data(), key_count * sizeof(float)), 0);
  }
  EXPECT_NEAR(first[3], 1250, 60);
}

#if QUADRAT_BACKEND_CPU
TEST_F(functor_reducer_test, sums_are_those_of_a_plain_loop) {
  const std::size_t count = 50'000;
  // The results of the last do not fit the caches, not even those of a thread.
  for (const std::size_t key_count : {1u, 2u, 300u, 700'000u, 15'000'000u}) {
    auto keys = random_words<std::uint64_t>(count, 8, key_count);
    const auto words = random_words<std::uint32_t>(count, 9);
    const std::vector<float> values(words.begin(), words.end());
    for (const bool in_order : {false, true}) {
      if (in_order) std::sort(keys.begin(), keys.end());
      const auto expected = expected_rows(keys, values, key_count, sum{}, 0.0f);
      for (const backend_context& context : all_contexts()) {
        with_functor reduction(context);
        std::vector<float> found(key_count, 7);
        if (in_order) {
          reduction.reduce_ordered(keys.data(), values.data(), count, found.data(), key_count, sum{}, 0.0f);
        } else {
          reduction.reduce_any_order(keys.data(), values.data(), count, found.data(), key_count, sum{}, 0.0f);
        }
        reduction.check();
        EXPECT_TRUE(found == expected) << key_count << " keys";
        EXPECT_EQ(reduction.bytes(), 0u);
      }
    }
  }
}
#endif

TEST_F(functor_reducer_test, repeated_calls_allocate_nothing) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  const std::size_t count = 5000, key_count = 100;
  const auto keys = to_device(context, keys_in_runs<std::uint32_t>(count, 500, 1));
  const auto values = to_device(context, std::vector<float>(count, 1.0f));
  array<float, backend_context> results(context, count);
  array<std::uint32_t, backend_context> run_keys(context, count), runs(context, 1);
  with_functor reduction(context);
  std::size_t allocations = 0;
  for (int round = 0; round < 3; ++round) {
    reduction.reduce_ordered(keys.data(), values.data(), count, results.data(), key_count, sum{}, 0.0f);
    reduction.reduce_any_order(keys.data(), values.data(), count, results.data(), key_count, sum{}, 0.0f);
    reduction.reduce_runs(keys.data(), values.data(), count, run_keys.data(), results.data(), runs.data(), sum{});
    if (round > 0) {
      EXPECT_EQ(memory.allocations(), allocations);
    }
    allocations = memory.allocations();
  }
  EXPECT_GE(memory.live_bytes(), reduction.bytes());
  constexpr std::size_t sorts = std::is_same_v<backend_context, cuda_context> ? 16 : 0;
  EXPECT_GT(reduction.bytes(), count * (4 + sorts));
}

TEST_F(functor_reducer_test, asynchronous_calls_work_in_the_memory_of_calls_that_wait) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none), usual;
  constexpr std::size_t count = 5000;
  constexpr bool needs_memory = std::is_same_v<backend_context, cuda_context>;
  const auto keys = to_device(usual, keys_in_runs<std::uint32_t>(count, 50, 1));
  const auto values = to_device(usual, std::vector<float>(count, 1.0f));
  array<float, backend_context> results(usual, count), again(usual, count);
  array<std::uint32_t, backend_context> run_keys(usual, count), runs(usual, 1);
  usual.synchronize();
  with_functor reduction(context);
  const auto ordered = [&](std::size_t n) {
    reduction.reduce_ordered_async(keys.data(), values.data(), n, again.data(), count, sum{}, 0.0f);
  };
  const auto any_order = [&](std::size_t n, std::size_t keys_of_all) {
    reduction.reduce_any_order_async(keys.data(), values.data(), n, again.data(), keys_of_all, sum{}, 0.0f);
  };
  const auto in_runs = [&](std::size_t n) {
    reduction.reduce_runs_async(keys.data(), values.data(), n, run_keys.data(), again.data(), runs.data(), sum{});
  };
  expect_words(error_of<argument_error>([&] { in_runs(count); }), {"makes room"});
  if (needs_memory) {
    expect_words(error_of<argument_error>([&] { ordered(count); }), {"makes room"});
    reduction.reduce_ordered(keys.data(), values.data(), count, results.data(), count, sum{}, 0.0f);
    expect_words(error_of<argument_error>([&] { any_order(count, count); }), {"5000 elements", "makes room"});
  }
  reduction.reduce_runs(keys.data(), values.data(), count, run_keys.data(), results.data(), runs.data(), sum{});
  reduction.reduce_any_order(keys.data(), values.data(), count, results.data(), count, sum{}, 0.0f);
  if (needs_memory) {
    EXPECT_THROW(any_order(count, 100 * count), argument_error);
  }
  const std::size_t before = memory.allocations();
  in_runs(count);
  any_order(count, count);
  reduction.check();
  EXPECT_EQ(to_host(usual, again), to_host(usual, results));
  ordered(count);
  reduction.check();
  EXPECT_EQ(to_host(usual, again), to_host(usual, results));
  EXPECT_EQ(memory.allocations(), before);
#if QUADRAT_BACKEND_CUDA
  cuda_graph graph;
  graph.capture(context, [&] { any_order(count, count); });
  fill_bytes(context, again.data(), 0xff, again.bytes());
  graph.launch(context);
  context.synchronize();
  EXPECT_EQ(to_host(usual, again), to_host(usual, results));
#endif
}

TEST_F(functor_reducer_test, names_the_first_key_that_is_wrong) {
  const backend_context context;
  with_functor reduction(context);
  const auto values = to_device(context, std::vector<float>(50, 1.0f));
  array<float, backend_context> results(context, 10);
  const auto fault_of = [&](std::vector<std::int32_t> keys, bool any_order) {
    const auto device_keys = to_device(context, keys);
    const std::size_t count = keys.size();
    const std::string text = error_of<data_error>([&] {
      if (any_order) {
        reduction.reduce_any_order(device_keys.data(), values.data(), count, results.data(), 10, sum{}, 0.0f);
      } else {
        reduction.reduce_ordered(device_keys.data(), values.data(), count, results.data(), 10, sum{}, 0.0f);
      }
    });
    EXPECT_EQ(
        text, error_of<data_error>([&] {
          if (any_order) {
            reduction.reduce_any_order_async(device_keys.data(), values.data(), count, results.data(), 10, sum{}, 0.0f);
          } else {
            reduction.reduce_ordered_async(device_keys.data(), values.data(), count, results.data(), 10, sum{}, 0.0f);
          }
          reduction.check();
        }));
    return text;
  };
  std::vector<std::int32_t> keys(50, 3);
  EXPECT_EQ(fault_of(keys, false), "no error");
  keys[20] = 2;
  EXPECT_EQ(fault_of(keys, true), "no error");
  EXPECT_EQ(fault_of(keys, false), "the key of element 20 is less than the one before; keys must be in order");
  EXPECT_EQ(fault_of({-1, 0, 3}, false), "the key of element 0 is out of range; keys must be 0 to 9");
  EXPECT_EQ(fault_of({0, 3, 10}, false), "the key of element 2 is out of range; keys must be 0 to 9");
  EXPECT_EQ(fault_of({0, 12, -7, 3}, true), "the key of element 1 is out of range; keys must be 0 to 9");
  EXPECT_EQ(to_host(context, results)[3], 1.0f) << "others are joined all the same";
  EXPECT_EQ(fault_of({1, 1}, false), "no error") << "faults are forgotten after a check";
}

#if QUADRAT_BACKEND_CPU
TEST_F(functor_reducer_test, wrong_keys_among_many_results_are_left_out) {
  constexpr std::size_t count = 20'000;
  constexpr std::uint64_t key_count = 15'000'000;
  auto keys = random_words<std::uint32_t>(count, 8, key_count);
  const std::vector<float> values(count, 1.0f);
  auto expected = std::vector<float>(key_count, 0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 5000 == 4321 || i > 19'000) keys[i] += key_count;
    if (keys[i] < key_count) expected[keys[i]] += 1;
  }
  for (const backend_context& context : all_contexts()) {
    with_functor reduction(context);
    std::vector<float> found(key_count, 7);
    EXPECT_EQ(error_of<data_error>([&] {
                reduction.reduce_any_order(keys.data(), values.data(), count, found.data(), key_count, sum{}, 0.0f);
              }),
              "the key of element 4321 is out of range; keys must be 0 to 14999999");
    EXPECT_TRUE(found == expected);
  }
}
#endif

TEST_F(functor_reducer_test, refuses_what_cannot_be) {
  const backend_context context;
  with_functor reduction(context);
  const std::uint32_t* keys = nullptr;
  const float* values = nullptr;
  float* results = nullptr;
  EXPECT_THROW(reduction.reduce_ordered(keys, values, 0, results, 0, sum{}, 0.0f), argument_error);
  EXPECT_THROW(reduction.reduce_any_order(keys, values, 0, results, max_count + 1, sum{}, 0.0f), argument_error);
  EXPECT_THROW(reduction.reduce_ordered(keys, values, max_count + 1, results, 1, sum{}, 0.0f), argument_error);
  EXPECT_THROW(reduction.reduce_any_order(keys, values, 0, results, 1, sum{}, 0.0f), argument_error);  // no results
  EXPECT_THROW(reduction.reduce_runs(keys, values, 3, static_cast<std::uint32_t*>(nullptr), results, nullptr, sum{}),
               argument_error);
}

}  // namespace

}  // namespace quadrat::test
