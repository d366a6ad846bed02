// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "keyed/support.hpp"
#include "reference/exact_sum.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

// Sums in fixed point keep to their error bound, whatever the values of other keys.

namespace quadrat::test {

namespace {

template <typename T>
class fixed_point_test : public backend_test {};
using fixed_point_types = testing::Types<float, double>;
TYPED_TEST_SUITE(fixed_point_test, fixed_point_types);

/// Elements of one component.
template <typename T>
struct fixed_problem {
  keyed_elements elements;
  std::vector<T> values;

  void add(std::uint64_t key, T value) {
    elements.keys.push_back(key);
    values.push_back(value);
  }
  /// Elements in another order.
  [[nodiscard]] fixed_problem shuffled(std::uint64_t seed) const {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    fixed_problem result{{elements.name, elements.key_count, {}}, {}};
    for (const std::size_t i : order) result.add(elements.keys[i], values[i]);
    return result;
  }
};

template <typename T>
[[nodiscard]] std::vector<T> fixed_sums_of(reducer& by_key, const backend_context& context,
                                           const fixed_problem<T>& problem) {
  const auto keys = stored_keys<std::uint32_t>(context, problem.elements.keys);
  const auto values = to_device(context, problem.values);
  array<T, backend_context> results(context, problem.elements.key_count);
  by_key.set_keys(keys.data(), problem.values.size());
  by_key.reduce(packed_values(values.data(), problem.values.size()),
                packed_values(results.data(), problem.elements.key_count));
  by_key.check();
  return to_host(context, results);
}

template <typename T>
[[nodiscard]] std::vector<T> fixed_sums_of(const fixed_problem<T>& problem, int threads = 0) {
  const backend_context context = context_at(determinism::canonical, threads);
  reducer by_key(context, problem.elements.key_count, options_of("fixed_point"));
  return fixed_sums_of(by_key, context, problem);
}

/// The error bound of src/keyed/fixed_point/engine.hpp for a key's sum, without the rounding of the result.
template <typename T>
[[nodiscard]] long double fixed_bound(std::size_t elements, std::size_t elements_of_key, T largest_of_key) {
  const int log_count = std::max(10, static_cast<int>(std::ceil(std::log2(static_cast<double>(elements)))));
  const int words = sizeof(T) == 4 ? 2 : 3;
  return static_cast<long double>(elements_of_key) *
         std::ldexp(static_cast<long double>(largest_of_key), -words * (62 - log_count));
}

/// Each sum against the exact one. All values are finite.
template <typename T>
void expect_exact(const fixed_problem<T>& problem, const std::vector<T>& found) {
  using limits = std::numeric_limits<T>;
  const std::size_t keys = problem.elements.key_count;
  std::vector<reference::exact_sum> exact(keys);
  std::vector<T> largest(keys, T(0));
  std::vector<std::size_t> count(keys, 0);
  for (std::size_t i = 0; i < problem.values.size(); ++i) {
    const std::size_t key = problem.elements.keys[i];
    exact[key].add(static_cast<double>(problem.values[i]));
    largest[key] = std::max(largest[key], std::abs(problem.values[i]));
    ++count[key];
  }
  for (std::size_t k = 0; k < keys; ++k) {
    const long double wanted = exact[k].value();
    if (std::isinf(static_cast<T>(wanted))) {
      EXPECT_EQ(found[k], static_cast<T>(wanted)) << "key " << k;
      continue;
    }
    ASSERT_TRUE(std::isfinite(found[k])) << "key " << k << ": " << found[k] << " instead of " << wanted;
    exact[k].subtract(static_cast<double>(found[k]));
    const long double rounding = 0.5L * std::abs(wanted) * static_cast<long double>(limits::epsilon()) * 1.0001L +
                                 0.5L * static_cast<long double>(limits::denorm_min());
    EXPECT_LE(std::abs(exact[k].value()), rounding + fixed_bound(problem.values.size(), count[k], largest[k]))
        << "key " << k << " of " << count[k] << " elements: " << found[k] << " instead of " << wanted;
    if (testing::Test::HasFailure()) return;
  }
}

/// And the same bits in any order, with any number of threads.
template <typename T>
void expect_exact_and_canonical(const fixed_problem<T>& problem) {
  SCOPED_TRACE(problem.elements.name);
  const std::vector<T> found = fixed_sums_of(problem);
  expect_exact(problem, found);
  for (const int threads : {1, 3}) {
    const std::vector<T> again = fixed_sums_of(problem.shuffled(static_cast<std::uint64_t>(threads)), threads);
    EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(T)), 0) << threads << " threads";
  }
}

/// Values from 1/2 to 1, of both signs, times 2^exponent_of(element, key).
template <typename T, typename Exponent>
[[nodiscard]] fixed_problem<T> scaled_problem(const keyed_elements& elements, const Exponent& exponent_of) {
  fixed_problem<T> problem{elements, {}};
  std::mt19937_64 generator(7);
  for (std::size_t i = 0; i < elements.keys.size(); ++i) {
    const double value = std::ldexp(0.5 + 0.5 * random_unit<double>(generator), exponent_of(i, elements.keys[i]));
    problem.values.push_back(static_cast<T>(generator() % 2 == 0 ? value : -value));
  }
  return problem;
}

[[nodiscard]] std::vector<keyed_elements> exact_elements() {
  const std::size_t count = size_or(8000, 3000);
  return {random_keys(count, 90, 1), one_key(count, 2, 1), different_keys(count, 2), zipf_keys(count, 300, 3)};
}

/// Exponents of normal and subnormal numbers, least and largest, with room for some additions.
template <typename T>
constexpr int least_exponent = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits + 2;
template <typename T>
constexpr int largest_exponent = std::numeric_limits<T>::max_exponent - 14;

TYPED_TEST(fixed_point_test, a_huge_value_under_one_key_leaves_the_sums_of_others_exact) {
  for (const double huge : {1e6, 1e10, 1e13, 1e20, 1e28, 1e38, 1e80, 1e300}) {
    if (huge > static_cast<double>(std::numeric_limits<TypeParam>::max())) continue;
    fixed_problem<TypeParam> problem = scaled_problem<TypeParam>(random_keys(size_or(8000, 3000), 90, 5),
                                                                 [](std::size_t, std::uint64_t) { return 0; });
    problem.elements.key_count = 91;
    problem.add(90, static_cast<TypeParam>(huge));
    expect_exact_and_canonical(problem);
  }
}

TYPED_TEST(fixed_point_test, values_of_all_sizes_are_summed_exactly) {
  constexpr int least = least_exponent<TypeParam>, range = largest_exponent<TypeParam> - least;
  for (const keyed_elements& elements : exact_elements()) {
    expect_exact_and_canonical(scaled_problem<TypeParam>(elements, [&](std::size_t i, std::uint64_t) {
      return least + static_cast<int>((i * 7919 + 13) % static_cast<std::size_t>(range));
    }));
  }
}

TYPED_TEST(fixed_point_test, each_key_may_have_a_size_of_its_own) {
  constexpr int least = least_exponent<TypeParam>, range = largest_exponent<TypeParam> - least;
  for (const keyed_elements& elements : exact_elements()) {
    expect_exact_and_canonical(scaled_problem<TypeParam>(elements, [&](std::size_t i, std::uint64_t key) {
      const int size = least + static_cast<int>((key * 7919 + 13) % static_cast<std::size_t>(range));
      return std::max(size - static_cast<int>(i % 40), least);
    }));
  }
}

/// Large parts that cancel, and remainders on both scales.
TYPED_TEST(fixed_point_test, what_is_left_where_values_cancel_is_exact) {
  for (const int apart : {10, 30, 50, 60, 70, 80, 100, 115}) {
    fixed_problem<TypeParam> problem{{"canceling", 3, {}}, {}};
    std::mt19937_64 generator(9);
    const TypeParam large = std::ldexp(TypeParam(1), 118);
    for (int i = 0; i < 500; ++i) {
      const TypeParam value = large * (1 + random_unit<TypeParam>(generator));
      problem.add(0, value);
      problem.add(0, -value);
      problem.add(static_cast<std::uint64_t>(i % 2), std::ldexp(random_unit<TypeParam>(generator), 118 - apart));
    }
    problem.add(2, large);
    expect_exact_and_canonical(problem);
  }
}

TYPED_TEST(fixed_point_test, numbers_below_the_normal_ones_count_beside_the_largest) {
  using limits = std::numeric_limits<TypeParam>;
  const TypeParam least = limits::denorm_min(), most = limits::max();
  fixed_problem<TypeParam> problem{{"least and largest", 4, {}}, {}};
  for (int i = 0; i < 100; ++i) {
    problem.add(0, least * static_cast<TypeParam>(i % 7 + 1));
    problem.add(1, limits::min() / static_cast<TypeParam>(i + 1));
    problem.add(2, i % 3 == 0 ? most : -most / 2);
  }
  problem.add(3, -least);
  expect_exact_and_canonical(problem);
}

TYPED_TEST(fixed_point_test, only_sums_that_are_too_large_become_infinite) {
  const TypeParam most = std::numeric_limits<TypeParam>::max();
  fixed_problem<TypeParam> problem{{"near overflow", 5, {}}, {}};
  for (const TypeParam value : {most, most, -most}) problem.add(0, value);
  for (const TypeParam value : {most, most, TypeParam(1)}) problem.add(1, value);
  for (const TypeParam value : {-most, -most, TypeParam(1)}) problem.add(2, value);
  for (const TypeParam value : {most / 2, most / 2, TypeParam(1)}) problem.add(3, value);
  problem.add(4, std::numeric_limits<TypeParam>::min());
  expect_exact_and_canonical(problem);
}

/// Infinities and NaNs give the same bits in any order.
TYPED_TEST(fixed_point_test, what_is_not_finite_stays_under_its_key) {
  using limits = std::numeric_limits<TypeParam>;
  const TypeParam infinite = limits::infinity(), most = limits::max();
  fixed_problem<TypeParam> problem{{"not finite", 6, {}}, {}};
  for (const TypeParam value : {infinite, -most, -most, TypeParam(1)}) problem.add(0, value);
  for (const TypeParam value : {-infinite, most, most, TypeParam(1)}) problem.add(1, value);
  for (const TypeParam value : {infinite, -infinite, -limits::quiet_NaN(), TypeParam(1)}) problem.add(2, value);
  for (const TypeParam value : {limits::quiet_NaN(), TypeParam(1)}) problem.add(3, value);
  for (const TypeParam value : {TypeParam(1), TypeParam(0.75)}) problem.add(4, value);
  for (int i = 0; i < 3000; ++i) problem.add(5, std::ldexp(TypeParam(1), -i % 120));
  const auto found = fixed_sums_of(problem);
  EXPECT_EQ(found[0], infinite);
  EXPECT_EQ(found[1], -infinite);
  EXPECT_TRUE(std::isnan(found[2]) && std::isnan(found[3]));
  EXPECT_EQ(found[4], TypeParam(1.75));
  EXPECT_EQ(found[5], static_cast<TypeParam>(50.0));
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto again = fixed_sums_of(problem.shuffled(seed));
    EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(TypeParam)), 0) << seed;
  }
}

/// Nothing that a reduction leaves in the reducer's memory affects the next one, of this or the other type.
TYPED_TEST(fixed_point_test, one_reducer_sums_values_of_all_sizes_again_and_again) {
  using other_type = std::conditional_t<std::is_same_v<TypeParam, float>, double, float>;
  const backend_context context = context_at(determinism::canonical, 2);
  reducer by_key(context, 90, options_of("fixed_point"));
  const keyed_elements elements = random_keys(3000, 90, 4);
  for (const int range : {1, 200, 1, 120, 250, 250}) {
    const auto exponent = [&](std::size_t i, std::uint64_t) { return static_cast<int>(i * 31) % range - range / 2; };
    const auto problem = scaled_problem<TypeParam>(elements, exponent);
    expect_exact(problem, fixed_sums_of(by_key, context, problem));
    const auto other = scaled_problem<other_type>(elements, exponent);
    expect_exact(other, fixed_sums_of(by_key, context, other));
    if (this->HasFailure()) return;
  }
}

#if QUADRAT_BACKEND_CUDA

/// Whether any values need their key's own scale is determined on the device.
TYPED_TEST(fixed_point_test, a_graph_sums_the_values_that_are_there_when_it_is_launched) {
  const backend_context context = context_at(determinism::canonical);
  const keyed_elements elements = random_keys(5000, 90, 4);
  std::vector<fixed_problem<TypeParam>> problems;
  for (const int range : {1, 250, 30}) {
    problems.push_back(scaled_problem<TypeParam>(
        elements, [&](std::size_t i, std::uint64_t) { return static_cast<int>(i * 31) % range - range / 2; }));
  }
  const auto keys = stored_keys<std::uint32_t>(context, elements.keys);
  auto values = to_device(context, problems[0].values);
  array<TypeParam, backend_context> results(context, 90);
  reducer by_key(context, 90, options_of("fixed_point"));
  by_key.set_keys(keys.data(), elements.keys.size());
  const auto reduce = [&] {
    by_key.reduce_async(packed_values<const TypeParam>(values.data(), values.size()),
                        packed_values(results.data(), 90));
  };
  reduce();
  cuda_graph graph;
  graph.capture(context, reduce);
  for (const std::size_t which : {0u, 1u, 2u, 1u, 1u, 0u}) {
    const auto others = to_device(context, problems[which].values);
    copy_bytes(context, others.data(), values.data(), values.bytes());
    graph.launch(context);
    expect_exact(problems[which], to_host(context, results));
  }
}

#endif

/// Components of different magnitudes, in all memory layouts, accumulated.
TYPED_TEST(fixed_point_test, components_have_scales_of_their_own) {
  const backend_context context = context_at(determinism::canonical, 2);
  const keyed_elements elements = random_keys(2000, 30, 6);
  std::vector<std::vector<TypeParam>> columns;
  std::vector<fixed_problem<TypeParam>> problems;
  for (const int range : {1, 90, 240}) {
    problems.push_back(scaled_problem<TypeParam>(
        elements, [&](std::size_t i, std::uint64_t) { return static_cast<int>(i * 31) % range - range / 2; }));
    columns.push_back(problems.back().values);
  }
  for (const value_memory memory : all_value_memories) {
    stored_values<TypeParam> values(context, columns, memory);
    stored_values<TypeParam> results(context, std::vector(3, std::vector<TypeParam>(30)), memory);
    reducer by_key(context, 30, options_of("fixed_point"));
    const auto keys = stored_keys<std::uint32_t>(context, elements.keys);
    by_key.set_keys(keys.data(), elements.keys.size());
    by_key.reduce(values.const_view(), results.view(), {key_operation::sum, false});
    const auto once = results.columns();
    by_key.reduce(values.const_view(), results.view(), {key_operation::sum, true});
    const auto twice = results.columns();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      expect_exact(problems[c], once[c]);
      for (std::size_t k = 0; k < 30; ++k) EXPECT_EQ(twice[c][k], 2 * once[c][k]) << c << ", " << k;
    }
  }
}

}  // namespace

}  // namespace quadrat::test
