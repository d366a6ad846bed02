// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "keyed/random_problem.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// Faults that only the device detects: keys out of range, and out of order where order is required.

namespace quadrat::test {

namespace {

class keyed_faults_test : public backend_test {};

constexpr std::size_t valid_key_count = 50;
constexpr std::size_t element_count = 5000;

/// Sets other keys, so that asynchronous calls have room for as many.
template <typename Key>
void make_room(const backend_context& context, reducer& by_key, std::size_t count) {
  const auto keys = to_device(context, std::vector<Key>(count, 0));
  by_key.set_keys(keys.data(), count);
}

/// Sums of ones.
std::vector<float> count_with_sums(const backend_context& context, reducer& by_key) {
  const std::size_t count = by_key.element_count();
  const auto values = to_device(context, std::vector<float>(count, 1));
  array<float, backend_context> results(context, valid_key_count);
  by_key.reduce_async(packed_values(values.data(), count), packed_values(results.data(), valid_key_count));
  return to_host(context, results);
}

/// The message of a check after a reduction of keys, and of a call that waits.
template <typename Key>
std::string complaint(const key_form& options, const std::vector<Key>& keys) {
  const backend_context context;
  reducer by_key(context, valid_key_count, options);
  const auto stored = to_device(context, keys);
  make_room<Key>(context, by_key, keys.size());
  const std::string text = error_of<data_error>([&] {
    by_key.set_keys_async(stored.data(), keys.size());
    count_with_sums(context, by_key);
    by_key.check();
  });
  EXPECT_EQ(error_of<data_error>([&] { by_key.set_keys(stored.data(), keys.size()); }), text);
  return text;
}

/// Two bad keys among good ones.
template <typename Key>
std::vector<Key> with_bad_keys(std::string_view method, Key first, Key second) {
  const keyed_elements elements = random_keys(element_count, valid_key_count, 3).for_method(method);
  std::vector<Key> keys(elements.keys.begin(), elements.keys.end());
  keys[70] = first;
  keys[4500] = second;
  return keys;
}

template <typename Key>
void expect_named(const key_form& options, Key bad, const std::string& name) {
  const auto keys = with_bad_keys<Key>(options.method, bad, static_cast<Key>(valid_key_count));
  expect_words(complaint(options, keys), {"element 70 ", "key " + name + ";", "0 to 49"});
}

TEST_F(keyed_faults_test, the_first_key_out_of_range_is_named) {
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    expect_named<std::int32_t>(options, 50, "50");
    expect_named<std::int32_t>(options, -1, "-1");
    expect_named<std::int32_t>(options, std::numeric_limits<std::int32_t>::min(), "-2147483648");
    expect_named<std::uint32_t>(options, 4'294'967'295u, "4294967295");
    expect_named<std::int64_t>(options, -1, "-1");
    expect_named<std::int64_t>(options, std::int64_t{1} << 32, "4294967296");
    expect_named<std::uint64_t>(options, ~std::uint64_t{0}, "18446744073709551615");
  }
}

TEST_F(keyed_faults_test, null_pointers_are_refused) {
  const backend_context context;
  reducer by_key(context, valid_key_count);
  const std::int32_t* const no_keys = nullptr;
  float* const none = nullptr;
  const auto refusal = [](const auto& action) { return error_of<argument_error>(action); };
  expect_words(refusal([&] { by_key.set_keys(no_keys, 7); }), {"7 keys", "null"});
  const auto keys = to_device(context, std::vector<std::int32_t>{3, 1, 3});
  const auto values = to_device(context, std::vector<float>{1, 2, 3});
  array<float, backend_context> results(context, valid_key_count);
  by_key.set_keys(keys.data(), 3);
  const auto reduce = [&](const float* from, float* to) {
    by_key.reduce(packed_values(from, 3), packed_values(to, valid_key_count));
  };
  expect_words(refusal([&] { reduce(none, results.data()); }), {"3 values", "null"});
  expect_words(refusal([&] { reduce(values.data(), none); }), {"50 results", "null"});
  expect_words(refusal([&] { by_key.count(nullptr); }), {"50 results", "null"});
  reduce(values.data(), results.data());
  by_key.check();
}

TEST_F(keyed_faults_test, counting_finds_them_too) {
  const backend_context context;
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    const auto keys = to_device(context, with_bad_keys<std::int32_t>(options.method, 99, 99));
    reducer by_key(context, valid_key_count, options);
    make_room<std::int32_t>(context, by_key, element_count);
    array<std::uint64_t, backend_context> counts(context, valid_key_count);
    expect_words(error_of<data_error>([&] {
                   by_key.set_keys_async(keys.data(), element_count);
                   by_key.count_async(counts.data());
                   by_key.check();
                 }),
                 {"element 70 ", "99", "0 to 49"});
  }
}

#if QUADRAT_BACKEND_CUDA
TEST_F(keyed_faults_test, elements_whose_keys_are_out_of_range_are_left_out) {
  const backend_context context;
  for (const key_form& options : method_forms()) {
    if (!takes_any_order(options.method)) continue;
    SCOPED_TRACE(text_of(options));
    const auto keys = with_bad_keys<std::int32_t>(options.method, -5, 1'000'000);
    std::vector<float> wanted(valid_key_count);
    for (const std::int32_t key : keys) {
      if (key >= 0 && key < std::int32_t{valid_key_count}) ++wanted[static_cast<std::size_t>(key)];
    }
    const auto stored = to_device(context, keys);
    reducer by_key(context, valid_key_count, options);
    make_room<std::int32_t>(context, by_key, element_count);
    by_key.set_keys_async(stored.data(), element_count);
    EXPECT_EQ(count_with_sums(context, by_key), wanted);
  }
}
#endif

TEST_F(keyed_faults_test, all_keys_out_of_range) {
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    expect_words(complaint(options, std::vector<std::int64_t>(100'000, -7)), {"element 0 ", "-7", "0 to 49"});
  }
}

TEST_F(keyed_faults_test, the_first_key_out_of_order_is_named) {
  for (const key_form& options : method_forms()) {
    if (takes_any_order(options.method)) continue;
    SCOPED_TRACE(text_of(options));
    for (const std::size_t place : {1u, 31u, 32u, 255u, 256u, 257u, 1000u, 4095u, 4096u, 4097u, 8191u, 8192u, 9999u}) {
      std::vector<std::int32_t> keys(10'000, 30);
      for (std::size_t i = place; i < keys.size(); ++i) keys[i] = 29;
      if (place + 3 < keys.size()) keys.back() = 11;
      expect_words(complaint(options, keys), {"element " + std::to_string(place) + " ", "key 29", "key 30", "order"});
    }
  }
}

/// Takes no longer than others, and writes nothing out of bounds.
TEST_F(keyed_faults_test, keys_in_no_order_at_all_are_refused) {
  for (const key_form& options : method_forms()) {
    if (takes_any_order(options.method)) continue;
    SCOPED_TRACE(text_of(options));
    const std::size_t count = size_or(200'000, 5000);
    const backend_context context;
    const auto keys = to_device(context, random_words<std::uint32_t>(count, 5, count));
    stored_values<float> values(context, keyed_columns<float>(count, 3, 1), value_memory::rows),
        results(context, keyed_columns<float>(count, 3, 2), value_memory::rows);
    reducer by_key(context, count, options);
    make_room<std::uint32_t>(context, by_key, count);
    const auto reduce_all = [&] {
      by_key.set_keys_async(keys.data(), count);
      by_key.reduce_async(values.const_view(), results.view());
      by_key.check();
    };
    EXPECT_THROW(reduce_all(), data_error);
    static_cast<void>(results.columns());
  }
}

TEST_F(keyed_faults_test, keys_that_were_refused_must_be_set_again) {
  const backend_context context;
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    const auto bad = to_device(context, with_bad_keys<std::int32_t>(options.method, 50, -1));
    const problem_pair<float> problems(random_keys(3000, valid_key_count, 8), 2, value_memory::packed, 3);
    const keyed_problem<float>& problem = problems.for_method(options.method);
    const auto good = stored_keys<std::int32_t>(context, problem.elements.keys);
    reducer by_key(context, valid_key_count, options);
    EXPECT_THROW(by_key.set_keys(bad.data(), element_count), data_error);
    expect_words(error_of<argument_error>([&] { count_with_sums(context, by_key); }), {"set_keys"});
    EXPECT_NO_THROW(by_key.check());
    by_key.set_keys(good.data(), problem.elements.keys.size());
    expect_right(context, by_key, problem, {key_operation::sum, false});
    EXPECT_NO_THROW(by_key.check());
  }
}

#if QUADRAT_BACKEND_CUDA
/// By then the key itself may have been replaced.
TEST_F(keyed_faults_test, faults_wait_for_the_next_check) {
  const backend_context context;
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    const auto good = to_device(context, std::vector<std::int32_t>(100, 7));
    reducer by_key(context, valid_key_count, options);
    {
      const auto bad = to_device(context, with_bad_keys<std::int32_t>(options.method, 50, -1));
      make_room<std::int32_t>(context, by_key, element_count);
      by_key.set_keys_async(bad.data(), element_count);
      count_with_sums(context, by_key);
    }
    by_key.set_keys_async(good.data(), 100);
    count_with_sums(context, by_key);
    expect_words(error_of<data_error>([&] { by_key.check(); }), {"element 70 ", "since the last check", "0 to 49"});
    by_key.set_keys(good.data(), 100);
    EXPECT_EQ(count_with_sums(context, by_key)[7], 100);
    EXPECT_NO_THROW(by_key.check());
  }
}
#endif

TEST_F(keyed_faults_test, the_automatic_choice_names_them_too) {
  expect_named<std::int32_t>(options_of("auto"), -8, "-8");
  expect_words(complaint(options_of(""), std::vector<std::uint32_t>(5000, 50)), {"element 0 ", "50"});
}

}  // namespace

}  // namespace quadrat::test
