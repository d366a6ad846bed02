// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "keyed/random_problem.hpp"

// Every method, in all its forms, against the serial reference.

namespace quadrat::test {

namespace {

template <typename T>
class keyed_agreement_test : public backend_test {};
using value_types = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(keyed_agreement_test, value_types);

/// All operations, with keys of a type.
template <typename Key, typename T>
void expect_all_operations(const backend_context& context, const problem_pair<T>& problems, const key_form& options) {
  const keyed_problem<T>& problem = problems.for_method(options.method);
  const keyed_elements& elements = problem.elements;
  SCOPED_TRACE(text_of(options) + " of " + std::to_string(elements.keys.size()) + " elements, " + elements.name + ", " +
               std::to_string(elements.key_count) + " keys");
  reducer by_key(context, elements.key_count, options);
  const auto keys = stored_keys<Key>(context, elements.keys);
  by_key.set_keys(keys.data(), elements.keys.size());
  for (const key_operation operation : {key_operation::sum, key_operation::minimum, key_operation::maximum}) {
    for (const bool accumulate : {false, true}) expect_right(context, by_key, problem, {operation, accumulate});
  }
  if constexpr (std::is_floating_point_v<T>) expect_right(context, by_key, problem, {key_operation::mean, false});
  expect_right_counts(context, by_key, elements);
  by_key.check();
}

[[nodiscard]] std::vector<keyed_elements> small_elements() {
  std::vector<keyed_elements> all;
  using counts = std::vector<std::size_t>;
  for (const std::size_t count : small_sizes() ? counts{1, 31, 257} : counts{0, 1, 31, 32, 33, 255, 256, 257}) {
    all.push_back(random_keys(count, 40, count + 1));
    all.push_back(one_key(count, 3, 2));
    all.push_back(different_keys(count, count + 2));
  }
  for (const std::size_t count : small_sizes() ? counts{4095} : counts{4095, 4096, 4097}) {
    all.push_back(ordered_keys(count, 500, count));
    all.push_back(one_key(count, 1, 0));
    all.push_back(zipf_keys(count, 300, count));
  }
  all.push_back(shifted_keys(3000, 6, 3));
  return all;
}

[[nodiscard]] std::vector<keyed_elements> large_elements() {
  const std::size_t count = size_or(20'000, 9000), many = size_or(100'000, 9000);
  return {random_keys(many, many / 10, 1),
          random_keys(count, 5, 2),
          random_keys(count, 2 * count, 3),
          ordered_keys(count, count / 10, 4),
          ordered_keys(count, 7, 5),
          shifted_keys(count, 13, 6),
          one_key(many, 10, 9),
          zipf_keys(count, 5000, 7),
          different_keys(count, 8)};
}

TYPED_TEST(keyed_agreement_test, few_elements) {
  const backend_context context;
  std::uint64_t seed = 1;
  for (const keyed_elements& elements : small_elements()) {
    const problem_pair<TypeParam> problems(elements, 1, value_memory::packed, seed++);
    for (const key_form& options : method_forms()) {
      expect_all_operations<std::int32_t>(context, problems, options);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(keyed_agreement_test, many_elements) {
  const backend_context context;
  std::uint64_t seed = 1;
  for (const keyed_elements& elements : large_elements()) {
    const problem_pair<TypeParam> problems(elements, (seed - 1) % 4 + 1, value_memory::packed, seed);
    for (const key_form& options : method_forms()) {
      expect_all_operations<std::uint32_t>(context, problems, options);
      if (this->HasFailure()) return;
    }
    expect_all_operations<std::int32_t>(context, problems, options_of("auto"));
    ++seed;
  }
}

TYPED_TEST(keyed_agreement_test, all_components_in_all_memories) {
  const backend_context context;
  for (std::size_t components = 1; components <= 8; ++components) {
    for (const value_memory memory : all_value_memories) {
      const problem_pair<TypeParam> problems(zipf_keys(1500, 90, components), components, memory, components);
      for (const key_form& options : method_forms()) {
        expect_all_operations<std::uint32_t>(context, problems, options);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(keyed_agreement_test, keys_of_all_types) {
  const backend_context context;
  const problem_pair<TypeParam> problems(random_keys(2000, 130, 5), 2, value_memory::packed, 9);
  for (const key_form& options : method_forms()) {
    expect_all_operations<std::int32_t>(context, problems, options);
    expect_all_operations<std::uint32_t>(context, problems, options);
    expect_all_operations<std::int64_t>(context, problems, options);
    expect_all_operations<std::uint64_t>(context, problems, options);
  }
}

TYPED_TEST(keyed_agreement_test, every_context) {
  const problem_pair<TypeParam> problems(shifted_keys(size_or(20'000, 3000), 10, 5), 3, value_memory::arrays, 2);
  for (const backend_context& context : all_contexts()) {
    for (const key_form& options : method_forms()) {
      expect_all_operations<std::int64_t>(context, problems, options);
    }
  }
}

TYPED_TEST(keyed_agreement_test, one_reducer_takes_other_keys_again_and_again) {
  const backend_context context;
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    reducer by_key(context, 64, options);
    for (const std::size_t count : {100u, 9000u, 0u, 1u, 5000u, 100u}) {
      const problem_pair<TypeParam> problems(random_keys(count, 64, count), 2, value_memory::rows, count);
      const keyed_problem<TypeParam>& problem = problems.for_method(options.method);
      const auto keys = stored_keys<std::int32_t>(context, problem.elements.keys);
      by_key.set_keys(keys.data(), count);
      EXPECT_EQ(by_key.element_count(), count);
      expect_right(context, by_key, problem, {key_operation::sum, false});
      expect_right(context, by_key, problem, {key_operation::maximum, true});
      by_key.check();
    }
  }
}

}  // namespace

}  // namespace quadrat::test
