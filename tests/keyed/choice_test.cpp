// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/keyed/key_reducer.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

using detail::key_sample;

constexpr double ten_million = 10'000'000;

struct circumstances {
  bool cuda;
  int threads;
  determinism level;
  std::size_t free_bytes = ~std::size_t{0};
};
constexpr circumstances on_cuda(determinism level = determinism::none) { return {true, 1, level}; }
constexpr circumstances on_cpu(int threads, determinism level = determinism::none) { return {false, threads, level}; }

struct reduction {
  double keys;
  double uses = 1;
  bool compensated = false;
  double row_bytes = 4;
};

[[nodiscard]] detail::key_choice choice_of(const circumstances& here, const reduction& what, double count,
                                           const key_sample& sample) {
  return detail::choose_key_method({here.cuda, here.threads, here.level, here.free_bytes, what.compensated, count,
                                    what.keys, what.row_bytes, what.uses, sample},
                                   shipped_profile(here.cuda));
}

/// Methods of a backend can be chosen only if it is built.
class key_choice_cuda : public testing::Test {
  void SetUp() override {
    if (QUADRAT_HAS_CUDA == 0) GTEST_SKIP() << "this build has no CUDA";
  }
};

/// Ten elements per key, in order.
[[nodiscard]] key_sample in_order() { return {4096, 0.9, 0, 4.1, 1.4, 525, 411, 1e6, 0}; }
/// A million keys, at random.
[[nodiscard]] key_sample at_random() { return {4096, 0, 0.5, 32, 32, 4088, 1e6, 1e6, 0.0003}; }
/// Some moved to a neighbor cell, in three dimensions.
[[nodiscard]] key_sample shifted() { return {4096, 0.12, 0.44, 14.6, 5.4, 351, 74751, 1e6, 0}; }
[[nodiscard]] key_sample of_one_key() { return {4096, 1, 0, 1, 1, 1, 1, 1, 1}; }
/// A hundred keys, at random.
[[nodiscard]] key_sample few_keys() { return {4096, 0.01, 0.49, 27, 10, 100, 100, 100, 0.012}; }

[[nodiscard]] std::string_view cuda_choice(const key_sample& sample, double uses = 1, double keys = 1'000'000) {
  return choice_of(on_cuda(), {keys, uses}, ten_million, sample).method;
}

TEST_F(key_choice_cuda, goes_by_the_order_of_keys) {
  EXPECT_EQ(cuda_choice(in_order()), "runs");
  EXPECT_EQ(cuda_choice(shifted()), "shared_bins");
  const std::string_view scattered = cuda_choice(at_random());
  EXPECT_TRUE(scattered == "atomic" || scattered == "runs" || scattered == "shared_bins") << scattered;
}

TEST_F(key_choice_cuda, joins_before_memory_where_keys_are_few) {
  EXPECT_EQ(cuda_choice(few_keys(), 1, 100), "shared_bins");
  EXPECT_NE(cuda_choice(of_one_key(), 1, 1), "atomic");
}

TEST(key_choice, never_needs_ordered_keys_nor_takes_a_baseline) {
  for (const key_sample& sample : {in_order(), at_random(), shifted(), of_one_key(), few_keys(), key_sample{}}) {
    for (const double uses : {1.0, 100.0}) {
      for (const auto& here : {on_cuda(), on_cuda(determinism::canonical), on_cpu(1), on_cpu(64)}) {
        if (here.cuda && QUADRAT_HAS_CUDA == 0) continue;
        const auto name = choice_of(here, {1'000'000, uses}, ten_million, sample).method;
        EXPECT_TRUE(name != "ordered" && name != "cas_loop" && name != "linked_lists") << name;
      }
    }
  }
}

TEST(key_choice, has_the_level_of_determinism_that_is_asked_for) {
  EXPECT_EQ(choice_of(on_cpu(4, determinism::canonical), {10}, 1000, in_order()).method, "fixed_point");
  EXPECT_EQ(choice_of(on_cpu(4, determinism::run_to_run), {10}, ten_million, in_order()).method, "private_tables");
}

TEST_F(key_choice_cuda, has_the_level_of_determinism_that_is_asked_for) {
  EXPECT_EQ(choice_of(on_cuda(determinism::run_to_run), {1000, 100}, 1000, in_order()).method, "sort_reduce");
  EXPECT_EQ(choice_of(on_cuda(determinism::run_to_run), {100'000}, 10'000, in_order()).method, "fixed_point");
  EXPECT_EQ(choice_of(on_cuda(determinism::canonical), {1000}, 1000, in_order()).method, "fixed_point");
}

TEST_F(key_choice_cuda, joins_rows_that_no_single_operation_takes_by_neighboring_lanes) {
  for (const double components : {3, 5, 6, 7, 8}) {
    const reduction rows{1'000'000, 1, false, 4 * components};
    EXPECT_EQ(choice_of(on_cuda(), rows, ten_million, at_random()).method, "atomic") << components;
  }
  EXPECT_EQ(choice_of(on_cuda(), {1'000'000, 1, false, 12}, ten_million, in_order()).method, "runs");
}

TEST_F(key_choice_cuda, takes_methods_with_compensated_sums_where_they_are_asked_for) {
  EXPECT_EQ(choice_of(on_cuda(), {1000, 1, true}, 1000, at_random()).method, "sort_reduce");
}

TEST(key_choice, refuses_what_no_method_has) {
  EXPECT_EQ(error_of<argument_error>([&] {
              (void)choice_of(on_cpu(4, determinism::canonical), {9, 1, true}, 9, at_random());
            }),
            "no method of reduction by key for keys in any order has compensated sums of the level canonical here; ask "
            "for run_to_run");
}

TEST(key_choice, leaves_out_what_memory_has_no_room_for) {
  auto here = on_cpu(8);
  EXPECT_EQ(choice_of(here, {1000}, ten_million, at_random()).method, "private_tables");
  here.free_bytes = 60'000;
  EXPECT_EQ(choice_of(here, {1000}, ten_million, at_random()).method, "atomic");
}

TEST(key_choice, says_so_where_memory_has_room_for_none) {
  auto here = on_cpu(8, determinism::canonical);
  here.free_bytes = 10'000;
  const auto choice = choice_of(here, {1000}, ten_million, at_random());
  EXPECT_EQ(choice.method, "fixed_point");
  EXPECT_EQ(choice.reason, "no other method is possible here");
}

TEST(key_choice, cpus_with_many_keys_and_threads_do_without_private_tables) {
  const detail::key_choice many = choice_of(on_cpu(64), {2'000'000'000}, 100'000, at_random());
  for (const detail::named_cost& one : detail::key_costs(many.request)) {
    if (one.method != many.method) continue;
    EXPECT_LT(one.cost.bytes(), 1e7) << one.method;  // ranges of keys need no memory
  }
  EXPECT_EQ(choice_of(on_cpu(64), {100}, ten_million, few_keys()).method, "private_tables");
}

/// A few threads look at all keys sooner than they move elements that are in no order.
TEST(key_choice, cpus_with_many_threads_move_elements_where_the_results_are_larger_than_caches) {
  const key_sample everywhere{4096, 0, 0.5, 32, 32, 4095, 1e7, 1e7, 0};
  const key_sample once_each{4096, 0.4, 0, 20, 3, 2600, 4096, 1e7, 0};
  for (const int threads : {1, 2, 16}) {
    EXPECT_EQ(choice_of(on_cpu(threads), {1e7}, ten_million, everywhere).method,
              threads <= 2 ? "private_tables" : "partitioned")
        << threads;
    EXPECT_EQ(choice_of(on_cpu(threads), {100}, ten_million, few_keys()).method, "private_tables") << threads;
  }
  for (const double row_bytes : {8, 12, 24}) {
    const reduction rows{1e7, 1, false, row_bytes};
    EXPECT_EQ(choice_of(on_cpu(2), rows, ten_million, everywhere).method, "private_tables") << row_bytes;
    EXPECT_EQ(choice_of(on_cpu(2), rows, ten_million, once_each).method, "partitioned") << row_bytes;
    const reduction fewer{1e6, 1, false, row_bytes};
    EXPECT_EQ(choice_of(on_cpu(2), fewer, ten_million, in_order()).method, "partitioned") << row_bytes;
  }
  EXPECT_EQ(choice_of(on_cpu(2), {1e7}, ten_million, once_each).method, "partitioned");
  EXPECT_EQ(choice_of(on_cpu(2), {1e7}, ten_million, of_one_key()).method, "partitioned");
  EXPECT_EQ(choice_of(on_cpu(2), {1e5}, ten_million, at_random()).method, "private_tables");
}

TEST(key_choice, preparation_is_shared_out_among_uses) {
  auto here = on_cpu(2, determinism::run_to_run);
  EXPECT_NE(choice_of(here, {15'000}, 5000, of_one_key()).method, "sort_reduce");
  EXPECT_EQ(choice_of(here, {15'000, 1000}, 5000, of_one_key()).method, "sort_reduce");
}

/// No absolute times: those of another machine could be wrong by any factor.
TEST_F(key_choice_cuda, says_what_was_seen_and_how_the_best_two_compare) {
  const auto choice = choice_of(on_cuda(), {1'000'000, 3}, ten_million, in_order());
  for (const char* part : {"of 4096 elements sampled 90 %", "4.1 keys in 32", "530 in 4096",
                           "for 3 uses runs is expected to take least", " times as long"}) {
    EXPECT_NE(choice.reason.find(part), std::string::npos) << choice.reason;
  }
  EXPECT_EQ(choice.reason.find('\n'), std::string::npos);
  EXPECT_EQ(choice.reason.find(" ms"), std::string::npos) << choice.reason;
  EXPECT_EQ(choice.reason.find("commonest"), std::string::npos);
  const auto crowded = choice_of(on_cuda(), {1'000'000}, ten_million, of_one_key());
  EXPECT_NE(crowded.reason.find("100 % have the commonest key"), std::string::npos) << crowded.reason;
  const auto nothing = choice_of(on_cuda(), {1'000'000}, 0, key_sample{});
  EXPECT_NE(nothing.reason.find("no elements"), std::string::npos) << nothing.reason;
}

[[nodiscard]] std::vector<std::uint32_t> even_random_keys(std::size_t count, std::uint32_t keys) {
  std::vector<std::uint32_t> result(count);
  std::uint64_t state = 88172645463325252u;
  for (std::uint32_t& key : result) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    key = static_cast<std::uint32_t>((state >> 32) % keys);
  }
  return result;
}

TEST(key_choice, what_is_assumed_of_keys_that_are_not_seen_is_what_a_sample_of_even_ones_shows) {
  for (const std::size_t count : {1000u, 100000u}) {
    for (const std::uint32_t keys : {10u, 300u, 1000000u}) {
      const auto all = even_random_keys(count, keys);
      const detail::key_source source{all.data(), count, keys, false, {}};
      const detail::key_sample_layout layout(count);
      const cpu_context context;
      workspace<cpu_context> scratch;
      const key_sample seen = summarize(layout, detail::read_key_sample(context, source, layout, scratch));
      const key_sample assumed = detail::even_keys(static_cast<double>(count), keys);
      EXPECT_TRUE(assumed.assumed);
      EXPECT_NEAR(assumed.same, seen.same, 0.03);
      EXPECT_NEAR(assumed.descending, seen.descending, 0.05);
      EXPECT_NEAR(assumed.warp_keys, seen.warp_keys, 0.05 * seen.warp_keys);
      EXPECT_NEAR(assumed.warp_sectors, seen.warp_sectors, 0.1 * seen.warp_sectors + 0.3);
      EXPECT_NEAR(assumed.block_keys, seen.block_keys, 0.15 * seen.block_keys);
      EXPECT_NEAR(assumed.block_span, seen.block_span, 0.1 * seen.block_span);
      EXPECT_NEAR(assumed.span, seen.span, 0.05 * seen.span);
    }
  }
}

[[nodiscard]] bool looked_at(const key_reducer<cpu_context>& reducer) {
  return reducer.reason().find("keys were not sampled") == std::string_view::npos;
}

TEST(key_choice, on_a_cpu_keys_are_looked_at_once_the_work_is_worth_it) {
  const auto keys = even_random_keys(2000, 50);
  key_reducer<cpu_context> reducer(cpu_context({.threads = 1}), 50);
  int calls = 0;
  do {
    reducer.set_keys(keys.data(), keys.size());
    ASSERT_LT(++calls, 1000000) << "never";
  } while (!looked_at(reducer));
  EXPECT_GT(calls, 50) << "a sample of 2000 keys takes about as long as their reduction";
  // Many uses are worth it at once.
  key_reducer<cpu_context> used(cpu_context({.threads = 1}), 50, {.uses = 1e6});
  used.set_keys(keys.data(), keys.size());
  EXPECT_TRUE(looked_at(used));
  reducer.choose_again();
  reducer.set_keys(keys.data(), keys.size());
  EXPECT_FALSE(looked_at(reducer));
}

TEST(key_choice, where_runs_can_be_repeated_the_first_keys_decide) {
  const auto keys = even_random_keys(2000, 50);
  key_reducer<cpu_context> reducer(cpu_context({.threads = 1, .reproducibility = determinism::run_to_run}), 50);
  reducer.set_keys(keys.data(), keys.size());
  const std::string_view first = reducer.method();
  EXPECT_FALSE(looked_at(reducer));
  for (int call = 0; call < 20000; ++call) reducer.set_keys(keys.data(), keys.size());
  EXPECT_EQ(reducer.method(), first);
  EXPECT_FALSE(looked_at(reducer));
}

TEST(key_choice, a_sample_on_a_cpu_costs_little_of_the_work_that_it_is_for) {
  EXPECT_EQ(detail::key_sample_layout::of(false, 1000000).taken, 512u);
  EXPECT_EQ(detail::key_sample_layout::of(false, 4096).taken, 4096u);
  const detail::key_sample_layout layout = detail::key_sample_layout::of(false, 5000);
  for (std::size_t s = 0; s < layout.taken; ++s) EXPECT_LT(layout.element(s), 5000u);
  const double ms = detail::sample_ms(false, false, layout);
  EXPECT_FALSE(detail::worth_key_sample(false, false, 5000, 49 * ms, 0));
  EXPECT_TRUE(detail::worth_key_sample(false, false, 5000, 51 * ms, 0));
}

TEST(key_choice, a_sample_on_a_gpu_costs_little_of_the_work_or_of_what_is_at_stake) {
  const double ms = detail::sample_ms(true, false, detail::key_sample_layout::of(true, 5000));
  EXPECT_FALSE(detail::worth_key_sample(true, false, 5000, 49 * ms, 9 * ms));
  EXPECT_TRUE(detail::worth_key_sample(true, false, 5000, 51 * ms, 0));
  EXPECT_TRUE(detail::worth_key_sample(true, false, 5000, 0, 11 * ms));
  // One call for five million elements in a million rows is worth it, one for ten thousand is not.
  const auto worth = [&](double elements) {
    const detail::key_request request{
        true, 1, determinism::none, std::size_t{100} << 30, false, elements, elements / 5, 24, 1, {}, 3};
    const auto choice = detail::choose_unseen_key_method(request, shipped_profile(true));
    return detail::worth_key_sample(true, false, static_cast<std::size_t>(elements), choice.milliseconds,
                                    choice.at_stake_ms);
  };
  EXPECT_TRUE(worth(5e6));
  EXPECT_FALSE(worth(1e4));
}

/// How much longer a choice by counts alone takes than the best for such keys.
[[nodiscard]] double loss_unseen(const detail::key_request& request, const key_sample& sample) {
  const device_profile& profile = shipped_profile(request.cuda);
  const auto unseen = detail::choose_unseen_key_method(request, profile);
  detail::key_request seen = request;
  seen.sample = sample;
  double least = 1e300, taken = 0;
  for (const candidate& one : detail::explain_key_method(seen, profile).candidates) {
    least = std::min(least, one.milliseconds);
    if (one.method == unseen.method) taken = one.milliseconds;
  }
  return taken / least;
}

TEST_F(key_choice_cuda, by_counts_alone_is_seldom_far_off) {
  for (const double elements : {3e4, 3e5, 3e6, 8e6}) {  // as many as constants were measured with
    for (const double keys : {10.0, 1e4, 1e6}) {
      const detail::key_request request{true, 1, determinism::none, ~std::size_t{0}, false, elements, keys, 4, 1, {}};
      for (const auto& [weight, sample] : detail::supposed_keys(elements, keys)) {
        // One that takes an atomic operation an element loses a hundred times on a single key.
        EXPECT_LT(loss_unseen(request, sample), 6) << elements << " " << keys << " " << weight;
      }
    }
  }
}

TEST(key_choice, what_is_supposed_of_keys_is_what_samples_of_such_keys_show) {
  constexpr std::size_t count = 100000;
  for (const std::uint32_t keys : {10u, 3000u, 1000000u}) {
    auto all = even_random_keys(count, keys);
    std::ranges::sort(all);
    const detail::key_source source{all.data(), count, keys, false, {}};
    const detail::key_sample_layout layout(count);
    const cpu_context context;
    workspace<cpu_context> scratch;
    const key_sample seen = summarize(layout, detail::read_key_sample(context, source, layout, scratch));
    const key_sample supposed = detail::supposed_keys(count, keys)[1].sample;
    EXPECT_NEAR(supposed.same, seen.same, 0.05);
    EXPECT_EQ(supposed.descending, seen.descending);
    EXPECT_NEAR(supposed.warp_keys, seen.warp_keys, 0.1 * seen.warp_keys);
    // Keys of a block that are between those of a sample are estimated, of sorted ones too many.
    EXPECT_NEAR(std::log2(supposed.block_keys / seen.block_keys), 0, 1.1);
    EXPECT_NEAR(supposed.block_span, seen.block_span, 0.2 * seen.block_span + 1);
  }
  EXPECT_EQ(detail::supposed_keys(count, 50)[2].sample.commonest, 1);
}

TEST(key_choice, starts_no_threads_for_small_reductions_on_cpus) {
  const key_sample even = detail::even_keys(300, 200);
  const auto alone = choice_of(on_cpu(1), {200}, 300, even);
  const auto team = choice_of(on_cpu(16), {200}, 300, even);
  // Nothing is divided, and atomic operations are not needed by one thread.
  EXPECT_GE(team.milliseconds, alone.milliseconds);
  EXPECT_LT(team.milliseconds, 0.01);
  for (const detail::named_cost& one : detail::key_costs(team.request)) {
    for (const detail::cost_term& term : one.cost.terms()) {
      EXPECT_FALSE(term.name == "team" && term.amount > 0) << one.method;
    }
  }
}

}  // namespace

}  // namespace quadrat::test
