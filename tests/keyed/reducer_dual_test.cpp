// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/keyed/key_reducer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "keyed/random_problem.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// What a reducer refuses, and how it treats non-finite values.

namespace quadrat::test {

namespace {

class key_reducer_test : public backend_test {};

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

std::string construction_error(std::uint64_t key_count, const key_form& options,
                               determinism level = determinism::none) {
  return error_of<argument_error>([&] { reducer by_key(context_at(level), key_count, options); });
}

TEST_F(key_reducer_test, impossible_numbers_of_keys_are_refused) {
  expect_words(construction_error(0, {}), {"0", "1 to 2147483647"});
  expect_words(construction_error(std::uint64_t{1} << 31, {}), {"2147483648", "1 to 2147483647"});
  EXPECT_EQ(construction_error((std::uint64_t{1} << 31) - 1, {}), "no error");
}

TEST_F(key_reducer_test, impossible_options_are_refused) {
  key_form options;
  for (const double uses : {0.0, -2.0, std::numeric_limits<double>::quiet_NaN()}) {
    options.uses = uses;
    expect_words(construction_error(5, options), {"uses", "positive"});
  }
  options = {};
  options.value_bytes = 0;
  expect_words(construction_error(5, options), {"0 bytes", "at least 1"});
}

TEST_F(key_reducer_test, unknown_methods_are_refused_with_those_of_the_backend) {
  const std::string text = construction_error(5, options_of("atomics"));
  expect_words(text, {"atomics", "nearest first: atomic", "auto"});
  for (const key_method& method : key_methods()) {
    const bool named = (text + ",").find(" " + std::string(method.name) + ",") != std::string::npos;
    EXPECT_EQ(named, method.*keyed_on_this_backend) << method.name << " in: " << text;
  }
}

TEST_F(key_reducer_test, methods_that_the_backend_lacks_are_refused) {
  for (const key_method& method : key_methods()) {
    const std::string text = construction_error(5, options_of(method.name));
    if (method.*keyed_on_this_backend) {
      EXPECT_EQ(text, "no error");
    } else {
      expect_words(text, {std::string(method.name), "does not run on"});
    }
  }
}

TEST_F(key_reducer_test, methods_that_lack_a_level_of_determinism_are_refused_with_those_that_have_it) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    for (const key_method& method : key_methods_here()) {
      const std::string text = construction_error(5, options_of(method.name), level);
      if (method.reproducible >= level) {
        EXPECT_EQ(text, "no error");
        continue;
      }
      expect_words(text, {std::string(method.name), level == determinism::canonical ? "canonical" : "run_to_run"});
      for (const key_method& able : key_methods_here(level)) expect_words(text, {std::string(able.name)});
    }
  }
}

TEST_F(key_reducer_test, methods_that_cannot_compensate_are_refused_with_those_that_can) {
  for (const key_method& method : key_methods_here()) {
    key_form options = options_of(method.name);
    options.compensated = true;
    const std::string text = construction_error(5, options);
    if (method.compensates) {
      EXPECT_EQ(text, "no error");
      continue;
    }
    expect_words(text, {std::string(method.name), "compensate"});
    for (const key_method& able : key_methods_here()) {
      if (able.compensates) expect_words(text, {std::string(able.name)});
    }
  }
}

TEST_F(key_reducer_test, calls_before_keys_are_set_are_refused) {
  const backend_context context;
  array<float, backend_context> values(context, 10), results(context, 5);
  array<std::uint64_t, backend_context> counts(context, 5);
  for (const key_form& options : method_forms()) {
    reducer by_key(context, 5, options);
    const auto view = packed_values<const float>(values.data(), 0);
    expect_words(error_of<argument_error>([&] { by_key.reduce(view, packed_values(results.data(), 5)); }),
                 {"set_keys"});
    expect_words(error_of<argument_error>([&] { by_key.count(counts.data()); }), {"set_keys"});
    EXPECT_NO_THROW(by_key.check());
    EXPECT_EQ(by_key.element_count(), 0u);
  }
}

TEST_F(key_reducer_test, shapes_that_do_not_fit_are_refused) {
  const backend_context context;
  const auto keys = to_device(context, std::vector<std::int32_t>(10, 1));
  array<float, backend_context> memory(context, 200);
  for (const key_method& method : key_methods_here()) {
    reducer by_key(context, 5, options_of(method.name));
    by_key.set_keys(keys.data(), 10);
    const auto refusal = [&](std::size_t count, int components, std::size_t result_count, int result_components) {
      auto values = packed_values<const float>(memory.data(), count, components);
      auto results = packed_values(memory.data() + 100, result_count, result_components);
      return error_of<argument_error>([&] { by_key.reduce(values, results); });
    };
    EXPECT_EQ(refusal(10, 2, 5, 2), "no error");
    expect_words(refusal(9, 1, 5, 1), {"9 values", "10 keys"});
    expect_words(refusal(11, 1, 5, 1), {"11 values", "10 keys"});
    expect_words(refusal(10, 1, 4, 1), {"4 results", "5, the number of keys"});
    expect_words(refusal(10, 1, 6, 1), {"6 results"});
    expect_words(refusal(10, 0, 5, 0), {"0 components", "1 to 8"});
    expect_words(refusal(10, 9, 5, 9), {"9 components", "1 to 8"});
    expect_words(refusal(10, -1, 5, -1), {"-1 components"});
    expect_words(refusal(10, 2, 5, 3), {"2 components", "results 3"});
  }
}

TEST_F(key_reducer_test, results_that_overlap_each_other_are_refused) {
  const backend_context context;
  const auto keys = to_device(context, std::vector<std::int32_t>(10, 1));
  array<float, backend_context> memory(context, 20);
  reducer by_key(context, 5);
  by_key.set_keys(keys.data(), 10);
  auto results = packed_values(memory.data(), 5);
  results.stride = 0;
  expect_words(error_of<argument_error>([&] { by_key.reduce(packed_values<const float>(memory.data(), 10), results); }),
               {"stride"});
}

TEST_F(key_reducer_test, means_of_integers_and_accumulated_means_are_refused) {
  const backend_context context;
  const auto keys = to_device(context, std::vector<std::int32_t>(10, 1));
  array<std::int64_t, backend_context> integers(context, 20);
  array<double, backend_context> numbers(context, 20);
  for (const key_method& method : key_methods_here()) {
    reducer by_key(context, 5, options_of(method.name));
    by_key.set_keys(keys.data(), 10);
    expect_words(error_of<argument_error>([&] {
                   by_key.reduce(packed_values<const std::int64_t>(integers.data(), 10),
                                 packed_values(integers.data() + 10, 5), {key_operation::mean, false});
                 }),
                 {"integers"});
    expect_words(error_of<argument_error>([&] {
                   by_key.reduce(packed_values<const double>(numbers.data(), 10), packed_values(numbers.data() + 10, 5),
                                 {key_operation::mean, true});
                 }),
                 {"means"});
  }
}

TEST_F(key_reducer_test, more_elements_than_a_method_can_take_are_refused_before_they_are_looked_at) {
  const backend_context context;
  const auto key = to_device(context, std::vector<std::int32_t>{1});
  const std::pair<std::string, std::uint64_t> limits[] = {{"sort_reduce", max_count}, {"linked_lists", 0xffffffffu}};
  for (const auto& [method, most] : limits) {
    if (construction_error(5, options_of(method)) != "no error") continue;
    const std::uint64_t limit = most;  // a structured binding cannot be captured
    reducer by_key(context, 5, options_of(method));
    expect_words(error_of<argument_error>([&] { by_key.set_keys(key.data(), limit + 1); }),
                 {std::to_string(most + 1), std::to_string(most), method});
  }
}

TEST_F(key_reducer_test, says_its_method_and_why) {
  const backend_context context;
  const auto keys = to_device(context, std::vector<std::int32_t>(10, 1));
  for (const key_method& method : key_methods_here()) {
    reducer by_key(context, 5, options_of(method.name));
    by_key.set_keys(keys.data(), 10);
    EXPECT_EQ(by_key.method(), method.name);
    EXPECT_FALSE(by_key.reason().empty());
    EXPECT_EQ(by_key.element_count(), 10u);
    EXPECT_EQ(by_key.key_count(), 5u);
  }
  reducer choosing(context, 5);
  EXPECT_TRUE(choosing.method().empty());
  choosing.set_keys(keys.data(), 10);
  EXPECT_FALSE(choosing.method().empty());
  EXPECT_FALSE(choosing.reason().empty());
  choosing.choose_again();
  choosing.set_keys(keys.data(), 10);
  EXPECT_FALSE(choosing.method().empty());
}

TEST_F(key_reducer_test, no_elements_decide_nothing_for_those_that_follow) {
  const backend_context context;
  const std::vector<std::int32_t> host(100000, 3);
  const auto keys = to_device(context, host);
  reducer fresh(context, 5), used(context, 5);
  fresh.set_keys(keys.data(), host.size());
  used.set_keys(keys.data(), 0);
  used.set_keys(keys.data(), host.size());
  EXPECT_EQ(used.method(), fresh.method());
  EXPECT_EQ(used.reason(), fresh.reason());
}

TEST_F(key_reducer_test, can_be_moved) {
  const backend_context context;
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    const problem_pair<double> problems(random_keys(700, 20, 1), 1, value_memory::packed, 1);
    const keyed_problem<double>& problem = problems.for_method(options.method);
    const auto keys = stored_keys<std::int32_t>(context, problem.elements.keys);
    reducer first(context, 20, options);
    first.set_keys(keys.data(), 700);
    reducer second = std::move(first);
    expect_right(context, second, problem, {key_operation::sum, false});
    reducer third(context, 3, options);
    third = std::move(second);
    EXPECT_EQ(third.key_count(), 20u);
    expect_right(context, third, problem, {key_operation::maximum, true});
  }
}

TEST_F(key_reducer_test, rows_may_be_those_of_a_wider_table) {
  const backend_context context;
  const auto keys = to_device(context, std::vector<std::int32_t>{1, 0, 1});
  const auto table = to_device(context, std::vector<float>{1, 2, -1, 3, 4, -1, 5, 6, -1});
  auto results = to_device(context, std::vector<float>(8, 9));
  reduce_by_key(context, keys.data(), strided_values(table.data(), 3, 2, 3), strided_values(results.data(), 2, 2, 4));
  EXPECT_EQ(to_host(context, results), (std::vector<float>{3, 4, 9, 9, 6, 8, 9, 9}));
}

TEST_F(key_reducer_test, all_in_one_call) {
  const backend_context context;
  const auto keys = to_device(context, std::vector<std::int64_t>{2, 0, 2, 2});
  const auto bad_keys = to_device(context, std::vector<std::int64_t>{2, 0, 3, 2});
  const auto values = to_device(context, std::vector<float>{1, 2, 3, 5});
  array<float, backend_context> results(context, 3);
  const auto view = packed_values(values.data(), 4);
  reduce_by_key(context, keys.data(), view, packed_values(results.data(), 3));
  EXPECT_EQ(to_host(context, results), (std::vector<float>{2, 0, 9}));
  reduce_by_key(context, keys.data(), view, packed_values(results.data(), 3), key_operation::mean);
  EXPECT_EQ(to_host(context, results)[2], 3);
  expect_words(
      error_of<data_error>([&] { reduce_by_key(context, bad_keys.data(), view, packed_values(results.data(), 3)); }),
      {"element 2 ", "key 3;", "0 to 2"});
  constexpr int many = 1 << 30;
  expect_words(error_of<argument_error>([&] {
                 reduce_by_key(context, keys.data(), packed_values<const float>(values.data(), 4, many),
                               packed_values(results.data(), 3, many));
               }),
               {"1073741824 components", "1 to 8"});
}

/// The elements of each key, and the results of the operations.
struct special_key {
  std::vector<float> values;
  std::array<float, 4> results;  ///< sum, min, max, mean
};

/// `large`: also magnitudes that do not share one fixed-point scale. `subnormal`: also those that atomic float
/// operations of GPUs treat as 0.
std::vector<special_key> special_keys(bool large, bool subnormal) {
  std::vector<special_key> keys{
      {{1, 2, 6}, {9, 1, 6, 3}},
      {{}, {0, infinity, -infinity, nan}},
      {{1, infinity}, {infinity, 1, infinity, infinity}},
      {{-infinity, 1, -infinity}, {-infinity, -infinity, 1, -infinity}},
      {{infinity, 1, -infinity}, {nan, -infinity, infinity, nan}},
      {{nan, 3, 2}, {nan, 2, 3, nan}},
      {{3, 2, nan}, {nan, 2, 3, nan}},
      {{nan, nan}, {nan, infinity, -infinity, nan}},
      {{-nan, infinity}, {nan, infinity, infinity, nan}},
      {{0, -0.0f}, {0, 0, 0, 0}},
      {{-0.0f, 0}, {0, 0, 0, 0}},
      {{-1, -0.0f}, {-1, -1, 0, -0.5f}},
  };
  if (large) keys.push_back({{3e38f, 3e38f}, {infinity, 3e38f, 3e38f, infinity}});
  if (subnormal) keys.push_back({{1e-45f, 1e-45f}, {3e-45f, 1e-45f, 1e-45f, 1e-45f}});
  return keys;
}

/// The elements of special keys, in order.
struct special_elements {
  std::vector<std::int32_t> keys;
  std::vector<float> values;

  explicit special_elements(const std::vector<special_key>& special) {
    for (std::size_t k = 0; k < special.size(); ++k) {
      keys.insert(keys.end(), special[k].values.size(), static_cast<std::int32_t>(k));
      values.insert(values.end(), special[k].values.begin(), special[k].values.end());
    }
  }
};

void expect_special(const std::vector<float>& found, const std::vector<special_key>& special, std::size_t operation) {
  for (std::size_t k = 0; k < special.size(); ++k) {
    const float wanted = special[k].results[operation];
    EXPECT_TRUE(found[k] == wanted || (std::isnan(found[k]) && std::isnan(wanted)))
        << key_operation_names[operation] << " of key " << k << ": " << found[k] << " instead of " << wanted;
    const bool extreme = operation == 1 || operation == 2;
    EXPECT_FALSE(extreme && found[k] == 0 && std::signbit(found[k])) << "zero of key " << k;
  }
}

TEST_F(key_reducer_test, values_that_are_not_finite_are_summed_and_compared_as_numbers_are) {
  const backend_context context;
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    const bool fixed = options.method == "fixed_point";
    const bool sorted = options.method == "ordered" || options.method == "sort_reduce";
    const auto special = special_keys(!fixed, sorted || (!fixed && std::is_same_v<backend_context, cpu_context>));
    const special_elements elements(special);
    const auto keys = to_device(context, elements.keys);
    const auto values = to_device(context, elements.values);
    reducer by_key(context, special.size(), options);
    by_key.set_keys(keys.data(), elements.keys.size());
    for (std::size_t operation = 0; operation < key_operation_names.size(); ++operation) {
      array<float, backend_context> results(context, special.size());
      by_key.reduce(packed_values(values.data(), elements.values.size()), packed_values(results.data(), special.size()),
                    {static_cast<key_operation>(operation), false});
      expect_special(to_host(context, results), special, operation);
    }
  }
}

/// Extremes ignore it, sums keep it.
TEST_F(key_reducer_test, a_nan_that_a_result_holds_is_joined_to_as_any_other) {
  const backend_context context;
  const auto keys = to_device(context, std::vector<std::int32_t>{0, 0, 2});
  const auto values = to_device(context, std::vector<float>{-3, 5, 7});
  for (const key_form& options : method_forms()) {
    for (const float old : {nan, -nan}) {
      SCOPED_TRACE(text_of(options));
      const auto joined = [&](key_operation operation) {
        auto results = to_device(context, std::vector<float>{old, old, 1});
        reducer by_key(context, 3, options);
        by_key.set_keys(keys.data(), 3);
        by_key.reduce(packed_values(values.data(), 3), packed_values(results.data(), 3), {operation, true});
        return to_host(context, results);
      };
      EXPECT_EQ(joined(key_operation::minimum), (std::vector<float>{-3, infinity, 1}));
      EXPECT_EQ(joined(key_operation::maximum), (std::vector<float>{5, -infinity, 7}));
      const auto sums = joined(key_operation::sum);
      EXPECT_TRUE(std::isnan(sums[0]) && std::isnan(sums[1]) && sums[2] == 8);
    }
  }
}

}  // namespace

}  // namespace quadrat::test
