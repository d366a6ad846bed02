// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "keyed/random_problem.hpp"

// Reproducible sums, and sums that are more accurate than those of floating-point additions.

namespace quadrat::test {

namespace {

template <typename T>
class keyed_determinism_test : public backend_test {};
using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(keyed_determinism_test, floating_types);

/// Values whose sums depend on the order of additions: of both signs, with magnitudes from 2^-20 to 1.
template <typename T>
[[nodiscard]] std::vector<T> telling_values(std::size_t count, std::uint64_t seed) {
  std::vector<T> values = keyed_values<T>(count, seed);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::ldexp(values[i], -static_cast<int>(i * 7919 % 21));
  return values;
}

/// Sums of one component.
template <typename T>
[[nodiscard]] std::vector<T> sums_of(const backend_context& context, const key_form& options,
                                     const keyed_elements& elements, const std::vector<T>& values,
                                     key_operation operation = key_operation::sum) {
  const auto keys = stored_keys<std::int32_t>(context, elements.keys);
  const auto stored = to_device(context, values);
  array<T, backend_context> results(context, elements.key_count);
  reducer by_key(context, elements.key_count, options);
  by_key.set_keys(keys.data(), elements.keys.size());
  by_key.reduce(packed_values(stored.data(), values.size()), packed_values(results.data(), elements.key_count),
                {operation, false});
  by_key.check();
  return to_host(context, results);
}

template <typename T>
[[nodiscard]] bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

[[nodiscard]] std::vector<keyed_elements> telling_elements() {
  const std::size_t count = size_or(60'000, 9000);
  return {random_keys(count, count / 3, 1), random_keys(count, 300, 2), one_key(count, 2, 1),
          shifted_keys(count, 15, 3), zipf_keys(count, 500, 4)};
}

TYPED_TEST(keyed_determinism_test, the_same_bits_in_every_run_and_with_any_number_of_threads) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    for (const keyed_elements& given : telling_elements()) {
      const auto values = telling_values<TypeParam>(given.keys.size(), 7);
      for (const key_form& options : method_forms()) {
        const auto able = key_methods_here(level);
        if (std::none_of(able.begin(), able.end(), [&](const auto& m) { return m.name == options.method; })) continue;
        SCOPED_TRACE(text_of(options) + ", " + given.name);
        const keyed_elements elements = given.for_method(options.method);
        for (const key_operation operation : {key_operation::sum, key_operation::mean}) {
          const auto first = sums_of(context_at(level, 1), options, elements, values, operation);
          for (const int threads : {1, 2, 3, 7}) {
            EXPECT_TRUE(same_bits(first, sums_of(context_at(level, threads), options, elements, values, operation)))
                << threads << " threads";
          }
        }
      }
    }
  }
}

/// What the level `canonical` means here.
TYPED_TEST(keyed_determinism_test, canonical_sums_do_not_depend_on_the_order_of_the_elements) {
  for (const key_method& method : key_methods_here(determinism::canonical)) {
    SCOPED_TRACE(method.name);
    for (const keyed_elements& elements : telling_elements()) {
      const std::size_t count = elements.keys.size();
      const auto values = telling_values<TypeParam>(count, 8);
      std::vector<std::size_t> order(count);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::mt19937_64 generator(5);
      std::shuffle(order.begin(), order.end(), generator);
      keyed_elements shuffled = elements;
      std::vector<TypeParam> shuffled_values(count);
      for (std::size_t i = 0; i < count; ++i) {
        shuffled.keys[i] = elements.keys[order[i]];
        shuffled_values[i] = values[order[i]];
      }
      const backend_context context = context_at(determinism::canonical, 3);
      const key_form options = options_of(method.name);
      EXPECT_TRUE(
          same_bits(sums_of(context, options, elements, values), sums_of(context, options, shuffled, shuffled_values)));
    }
  }
}

TYPED_TEST(keyed_determinism_test, the_automatic_choice_has_the_level_that_is_asked_for) {
  const keyed_elements elements = random_keys(5000, 100, 3);
  const auto values = telling_values<TypeParam>(5000, 9);
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    const auto first = sums_of(context_at(level, 2), options_of("auto"), elements, values);
    EXPECT_TRUE(same_bits(first, sums_of(context_at(level, 2), options_of("auto"), elements, values)));
    const backend_context context = context_at(level, 2);
    const auto keys = stored_keys<std::int32_t>(context, elements.keys);
    reducer by_key(context, elements.key_count, options_of("auto"));
    by_key.set_keys(keys.data(), elements.keys.size());
    const auto able = key_methods_here(level);
    EXPECT_TRUE(std::any_of(able.begin(), able.end(), [&](const auto& m) { return m.name == by_key.method(); }))
        << by_key.method();
  }
}

/// A large number, one, minus the large number, and one again: what is lost next to the large number is recovered.
TYPED_TEST(keyed_determinism_test, compensated_sums_keep_what_rounding_loses) {
  const TypeParam large = std::ldexp(TypeParam(1), std::numeric_limits<TypeParam>::digits + 6);
  const std::size_t count = size_or(1'000'000, 30'000);
  keyed_elements elements{"three keys", 3, std::vector<std::uint64_t>(count)};
  std::vector<TypeParam> values(count), wanted(3);
  for (std::size_t i = 0; i < count; ++i) {
    elements.keys[i] = std::min<std::size_t>(i / (count / 12 * 4), 2);
    values[i] = i % 2 == 1 ? TypeParam(1) : i % 4 == 0 ? large : -large;
    wanted[elements.keys[i]] += static_cast<TypeParam>(i % 2);
  }
  for (const key_method& method : key_methods_here()) {
    if (!method.compensates) continue;
    SCOPED_TRACE(method.name);
    const backend_context context;
    key_form options = options_of(method.name);
    EXPECT_NE(sums_of(context, options, elements, values), wanted) << "plain";
    options.compensated = true;
    EXPECT_EQ(sums_of(context, options, elements, values), wanted) << "compensated";
  }
}

TYPED_TEST(keyed_determinism_test, compensated_sums_of_like_values_are_right_to_the_last_bit) {
  const std::size_t count = size_or(1'000'000, 30'000);
  const keyed_elements elements = one_key(count, 1, 0);
  std::vector<TypeParam> values(count);
  long double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = 1 + std::numeric_limits<TypeParam>::epsilon() * static_cast<TypeParam>(i % 1000);
    sum += static_cast<long double>(values[i]);
  }
  for (const key_method& method : key_methods_here()) {
    if (!method.compensates) continue;
    key_form options = options_of(method.name);
    options.compensated = true;
    const auto found = static_cast<long double>(sums_of(backend_context(), options, elements, values)[0]);
    const auto unit = static_cast<long double>(std::numeric_limits<TypeParam>::epsilon());
    EXPECT_LE(std::abs(found - sum), unit * sum) << method.name;
  }
}

/// Half the largest numbers, twice the smallest, and both among other values.
TYPED_TEST(keyed_determinism_test, fixed_point_takes_the_largest_and_the_least_numbers) {
  using limits = std::numeric_limits<TypeParam>;
  const keyed_elements elements{"three keys", 3, {0, 0, 0, 1, 1, 2}};
  const auto sums = [&](const std::vector<TypeParam>& values) {
    return sums_of(backend_context(), options_of("fixed_point"), elements, values);
  };
  const TypeParam most = limits::max(), least = limits::denorm_min();
  EXPECT_EQ(sums({most, most, -most, most, most, -most}), (std::vector<TypeParam>{most, limits::infinity(), -most}));
  EXPECT_EQ(sums({least, least, -3 * least, least, 4 * least, 0}), (std::vector<TypeParam>{-least, 5 * least, 0}));
  EXPECT_EQ(sums({most / 2, -most / 2, 0, -most / 4, -most / 4, most}), (std::vector<TypeParam>{0, -most / 2, most}));
  EXPECT_EQ(sums({0, 0, 0, 0, 0, 0}), (std::vector<TypeParam>{0, 0, 0}));
}

}  // namespace

}  // namespace quadrat::test
