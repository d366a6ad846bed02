// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "element_of.hpp"
#include "quadrat/core/vec.hpp"
#include "reference/parallel.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

/// A small type that is not a number.
struct vector_of_index {
  QUADRAT_HD vec<double, 3> operator()(std::size_t i) const {
    return {static_cast<double>(i), 1.0, -static_cast<double>(i)};
  }
};

struct always_two {
  QUADRAT_HD double operator()(std::size_t) const { return 2.0; }
};

template <typename T>
std::vector<T> random_values(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<T> values(size);
  for (T& value : values) value = random_unit<T>(generator) - T(0.25);
  return values;
}

class reduce_test : public backend_test {};

TEST_F(reduce_test, sums_integers_exactly_for_every_size) {
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    for (const std::size_t size : interesting_sizes()) {
      const auto input = random_words<std::uint64_t>(size, size);
      const auto data = to_device(context, input);
      const std::uint64_t sum = reduce_sum(context, "test sum", size, element_of<std::uint64_t>{data.data()}, scratch);
      EXPECT_EQ(sum, reference::reduce(input, std::uint64_t{0}, plus_operation{})) << "size " << size;
    }
  }
}

/// Joins the values three times with every context; all must give the same bits, which are returned.
template <typename T, typename Operation>
T same_bits_everywhere(const std::vector<T>& input, T identity, const Operation& join) {
  std::vector<T> results;
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    const auto data = to_device(context, input);
    for (int repetition = 0; repetition < 3; ++repetition) {
      results.push_back(
          reduce(context, "test reduce", input.size(), element_of<T>{data.data()}, join, identity, scratch));
    }
  }
  for (const T& result : results) {
    EXPECT_EQ(std::memcmp(&result, &results[0], sizeof(T)), 0) << result << " and " << results[0];
  }
  return results[0];
}

template <typename T>
void expect_accurate_sum(std::size_t size) {
  const std::vector<T> input = random_values<T>(size, size);
  long double exact = 0;
  for (const T value : input) exact += static_cast<long double>(value);
  const T sum = same_bits_everywhere(input, T(0), plus_operation{});
  // 128 additions in a lane and then a tree: far fewer than one rounding error per element.
  const double tolerance =
      256.0 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (std::fabs(static_cast<double>(exact)) + 1.0);
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(exact), tolerance) << "size " << size;
}

TEST_F(reduce_test, gives_accurate_sums_with_the_same_bits_in_every_context) {
  for (const std::size_t size : interesting_sizes()) {
    expect_accurate_sum<float>(size);
    expect_accurate_sum<double>(size);
  }
}

TEST_F(reduce_test, finds_the_least_and_the_greatest_wherever_they_stand) {
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    for (const std::size_t size : interesting_sizes()) {
      for (const std::size_t at : {std::size_t{0}, size / 3, size - 1}) {
        if (size == 0) continue;
        std::vector<float> input = random_values<float>(size, size);
        input[at] = -5.0f;
        auto data = to_device(context, input);
        EXPECT_EQ(reduce_minimum(context, "test minimum", size, element_of<float>{data.data()}, scratch), -5.0f);
        input[at] = 5.0f;
        data = to_device(context, input);
        EXPECT_EQ(reduce_maximum(context, "test maximum", size, element_of<float>{data.data()}, scratch), 5.0f);
      }
    }
  }
}

TEST_F(reduce_test, of_nothing_is_the_identity) {
  const backend_context context;
  workspace<backend_context> scratch;
  const element_of<float> floats{nullptr};
  const element_of<std::uint32_t> words{nullptr};
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(reduce_sum(context, "test sum", 0, floats, scratch), 0.0f);
  EXPECT_EQ(reduce_minimum(context, "test minimum", 0, floats, scratch), infinity);
  EXPECT_EQ(reduce_maximum(context, "test maximum", 0, floats, scratch), -infinity);
  EXPECT_EQ(reduce_minimum(context, "test minimum", 0, words, scratch), 0xffffffffu);
  EXPECT_EQ(reduce_maximum(context, "test maximum", 0, words, scratch), 0u);
}

TEST_F(reduce_test, passes_over_nans_for_extremes_and_keeps_them_in_sums) {
  const backend_context context;
  workspace<backend_context> scratch;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::size_t size = 3000;
  for (const std::size_t number_at : {std::size_t{0}, size / 2, size - 1}) {
    std::vector<float> input(size, nan);
    input[number_at] = 2.0f;
    const auto data = to_device(context, input);
    const element_of<float> map{data.data()};
    EXPECT_EQ(reduce_minimum(context, "test minimum", size, map, scratch), 2.0f);
    EXPECT_EQ(reduce_maximum(context, "test maximum", size, map, scratch), 2.0f);
    EXPECT_TRUE(std::isnan(reduce_sum(context, "test sum", size, map, scratch)));
  }
}

TEST_F(reduce_test, sums_vectors) {
  const std::size_t size = size_or(100'000, 5000);
  const double expected = static_cast<double>(size) * static_cast<double>(size - 1) / 2;
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    const vec<double, 3> sum = reduce_sum(context, "test sum", size, vector_of_index{}, scratch);
    EXPECT_EQ(sum, (vec<double, 3>{expected, static_cast<double>(size), -expected}));
  }
}

TEST_F(reduce_test, leaves_its_result_on_the_device_and_allocates_nothing_when_repeated) {
  const backend_context context;
  workspace<backend_context> scratch;
  array<double, backend_context> results(context, 2);
  for (int repetition = 0; repetition < 2; ++repetition) {
    reduce_into(context, "test reduce", 100'000, always_two{}, plus_operation{}, 0.0, results.data() + repetition,
                scratch);
  }
  const std::size_t held = scratch.bytes();
  reduce_into(context, "test reduce", 100'000, always_two{}, plus_operation{}, 0.0, results.data(), scratch);
  EXPECT_EQ(scratch.bytes(), held);
  EXPECT_EQ(to_host(context, results), std::vector<double>(2, 200'000.0));
}

}  // namespace

}  // namespace quadrat::test
