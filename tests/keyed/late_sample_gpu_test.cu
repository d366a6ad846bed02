// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/late_sample.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/keyed/key_reducer.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

using detail::key_sample;
using detail::key_sample_layout;
using detail::late_key_sample;

class late_key_sample_test : public backend_test {
 protected:
  cuda_context context_;
};

[[nodiscard]] std::vector<std::uint32_t> scattered_keys(std::size_t count, std::uint32_t keys) {
  return random_words<std::uint32_t>(count, 11, keys);
}

template <typename Key>
void expect_what_the_host_counts(const cuda_context& context, const std::vector<Key>& keys, std::uint32_t key_count) {
  const auto there = to_device(context, keys);
  const detail::key_source source{there.data(), keys.size(), key_count, sizeof(Key) == 8, {}};
  const auto layout = key_sample_layout::of(true, keys.size());
  late_key_sample late;
  EXPECT_FALSE(late.started());
  EXPECT_FALSE(late.arrived());
  late.start(context, source, layout);
  context.synchronize();
  const auto seen = late.arrived();
  ASSERT_TRUE(seen.has_value()) << keys.size();
  workspace<cuda_context> scratch;
  const key_sample expected = summarize(layout, detail::read_key_sample(context, source, layout, scratch));
  EXPECT_EQ(seen->seen, expected.seen);
  EXPECT_EQ(seen->same, expected.same);
  EXPECT_EQ(seen->warp_keys, expected.warp_keys);
  EXPECT_EQ(seen->block_keys, expected.block_keys);
  EXPECT_EQ(seen->commonest, expected.commonest);
  late.drop();
  EXPECT_FALSE(late.started());
}

TEST_F(late_key_sample_test, has_the_statistics_of_one_that_was_waited_for) {
  for (const std::size_t count : {1u, 33u, 4096u, 4097u, 100'003u}) {
    expect_what_the_host_counts(context_, scattered_keys(count, 1000), 1000);
    // Some are out of range, and do not count.
    expect_what_the_host_counts(context_, scattered_keys(count, 1000), 900);
    expect_what_the_host_counts(context_, std::vector<std::uint64_t>(count, 7), 8);
    expect_what_the_host_counts(context_, std::vector<std::uint32_t>(count, 0xfffffffe), 8);
  }
}

TEST_F(late_key_sample_test, of_many_that_nobody_looks_at_none_writes_into_another) {
  const auto ones = to_device(context_, std::vector<std::uint32_t>(50'000, 1));
  const auto twos = to_device(context_, scattered_keys(50'000, 50'000));
  const auto layout = key_sample_layout::of(true, ones.size());
  for (int round = 0; round < 200; ++round) {
    late_key_sample dropped;
    dropped.start(context_, {twos.data(), twos.size(), 50'000, false, {}}, layout);
    late_key_sample kept;
    kept.start(context_, {ones.data(), ones.size(), 50'000, false, {}}, layout);
    if (round % 20 != 0) continue;
    context_.synchronize();
    const auto seen = kept.arrived();
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->commonest, 1);
  }
}

[[nodiscard]] bool looked_at(const key_reducer<cuda_context>& reducer) {
  return reducer.reason().find("keys were not sampled") == std::string_view::npos;
}

class late_choice_test : public late_key_sample_test {
 protected:
  static constexpr std::size_t count_ = 200'000;
  static constexpr std::uint32_t key_count_ = 50'000;

  void reduce(key_reducer<cuda_context>& reducer) {
    const component_values<const double> values{{values_.data()}, 1, 1, count_};
    const component_values<double> results{{results_.data()}, 1, 1, key_count_};
    reducer.reduce_async(values, results);
  }
  [[nodiscard]] std::vector<double> expected() const {
    std::vector<double> sums(key_count_);
    for (const std::uint32_t key : host_keys_) sums[key] += 1;
    return sums;
  }

  std::vector<std::uint32_t> host_keys_ = [] {
    auto keys = scattered_keys(count_, key_count_);
    for (std::size_t i = 0; i < count_; i += 2) keys[i] = 77;
    return keys;
  }();
  array<std::uint32_t, cuda_context> keys_ = to_device(context_, host_keys_);
  array<double, cuda_context> values_ = to_device(context_, std::vector<double>(count_, 1));
  array<double, cuda_context> results_{context_, key_count_};
};

TEST_F(late_choice_test, a_reducer_goes_over_to_what_suits_its_keys_and_results_stay_right) {
  key_reducer<cuda_context> reducer(context_, key_count_);
  reducer.set_keys(keys_.data(), count_);
  int calls = 0;
  do {
    ASSERT_LT(++calls, 10'000) << "never";
    reducer.set_keys_async(keys_.data(), count_);
    reduce(reducer);
    EXPECT_EQ(to_host(context_, results_), expected()) << reducer.method();
  } while (!looked_at(reducer));
  EXPECT_GT(calls, 1);
  reduce(reducer);
  EXPECT_EQ(to_host(context_, results_), expected()) << reducer.method();
}

TEST_F(late_choice_test, keys_that_are_set_once_are_looked_at_as_they_are_used) {
  key_reducer<cuda_context> reducer(context_, key_count_, {.uses = 10'000});
  reducer.set_keys(keys_.data(), count_);
  EXPECT_FALSE(looked_at(reducer));
  context_.synchronize();
  reduce(reducer);
  EXPECT_TRUE(looked_at(reducer));
  EXPECT_EQ(to_host(context_, results_), expected()) << reducer.method();
}

TEST_F(late_choice_test, a_graph_keeps_the_method_that_it_was_captured_with) {
  key_reducer<cuda_context> reducer(context_, key_count_, {.uses = 10'000});
  reducer.set_keys(keys_.data(), count_);
  const std::string_view before = reducer.method();
  context_.synchronize();
  cuda_graph graph;
  graph.capture(context_, [&] { reduce(reducer); });
  for (int call = 0; call < 3; ++call) {  // as before, so that the graph's memory stays
    reducer.set_keys_async(keys_.data(), count_);
    reduce(reducer);
    context_.synchronize();
  }
  EXPECT_EQ(reducer.method(), before);
  graph.launch(context_);
  EXPECT_EQ(to_host(context_, results_), expected());
}

}  // namespace

}  // namespace quadrat::test
