// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/key_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

using detail::key_sample;

constexpr std::array choosable_methods{
    key_method{"atomic", "", true, true, determinism::none, true, false},
    key_method{"private_tables", "", true, false, determinism::run_to_run, true, true},
    key_method{"runs", "", false, true, determinism::none, true, false},
    key_method{"warp_peers", "", false, true, determinism::none, true, false},
    key_method{"shared_bins", "", false, true, determinism::none, true, false},
    key_method{"cas_loop", "", true, true, determinism::none, true, false},
    key_method{"linked_lists", "", true, true, determinism::none, true, false},
    key_method{"sort_reduce", "", true, true, determinism::canonical, true, true},
    key_method{"ordered", "", true, true, determinism::canonical, false, true},
};

constexpr std::size_t ten_million = 10'000'000;

[[nodiscard]] detail::key_setup setup_of(std::uint32_t key_count, double uses = 1, bool compensated = false) {
  detail::key_setup setup{key_count, {}};
  setup.options.uses = uses;
  setup.options.compensated = compensated;
  return setup;
}

[[nodiscard]] detail::key_circumstances on_cuda(determinism level = determinism::none) {
  return {true, 1, level, ~std::size_t{0}, choosable_methods};
}
[[nodiscard]] detail::key_circumstances on_cpu(int threads, determinism level = determinism::none) {
  return {false, threads, level, ~std::size_t{0}, choosable_methods};
}

/// Ten elements a key, in order.
[[nodiscard]] key_sample in_order() { return {4096, 0.9, 0, 4.1, 1.4, 525, 411, 1e6, 0}; }
/// A million keys, at random.
[[nodiscard]] key_sample at_random() { return {4096, 0, 0.5, 32, 32, 4088, 1e6, 1e6, 0.0003}; }
/// Moved to a neighbor cell in three dimensions.
[[nodiscard]] key_sample shifted() { return {4096, 0.12, 0.44, 14.6, 5.4, 351, 74751, 1e6, 0}; }
[[nodiscard]] key_sample of_one_key() { return {4096, 1, 0, 1, 1, 1, 1, 1, 1}; }
/// A hundred keys, at random.
[[nodiscard]] key_sample few_keys() { return {4096, 0.01, 0.49, 27, 10, 100, 100, 100, 0.012}; }

[[nodiscard]] std::string_view cuda_choice(const key_sample& sample, double uses = 1, std::uint32_t keys = 1'000'000) {
  return choose_key_method(on_cuda(), setup_of(keys, uses), ten_million, sample).method;
}

TEST(key_choice, goes_by_the_order_of_keys) {
  EXPECT_EQ(cuda_choice(in_order()), "runs");
  EXPECT_EQ(cuda_choice(shifted()), "shared_bins");
  EXPECT_TRUE(cuda_choice(at_random()) == "atomic" || cuda_choice(at_random()) == "runs");
}

TEST(key_choice, joins_before_memory_where_keys_are_few) {
  EXPECT_EQ(cuda_choice(few_keys(), 1, 100), "shared_bins");
  EXPECT_NE(cuda_choice(of_one_key(), 1, 1), "atomic");
}

TEST(key_choice, never_needs_ordered_keys_nor_takes_a_baseline) {
  for (const key_sample& sample : {in_order(), at_random(), shifted(), of_one_key(), few_keys(), key_sample{}}) {
    for (const double uses : {1.0, 100.0}) {
      for (const auto& here : {on_cuda(), on_cuda(determinism::canonical), on_cpu(1), on_cpu(64)}) {
        const auto name = choose_key_method(here, setup_of(1'000'000, uses), ten_million, sample).method;
        EXPECT_TRUE(name != "ordered" && name != "cas_loop" && name != "linked_lists") << name;
      }
    }
  }
}

TEST(key_choice, has_the_level_of_determinism_that_is_asked_for) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    EXPECT_EQ(choose_key_method(on_cuda(level), setup_of(1000), 1000, in_order()).method, "sort_reduce");
  }
  EXPECT_EQ(choose_key_method(on_cpu(4, determinism::canonical), setup_of(10), 1000, in_order()).method, "sort_reduce");
  EXPECT_EQ(choose_key_method(on_cpu(4, determinism::run_to_run), setup_of(10), ten_million, in_order()).method,
            "private_tables");
}

TEST(key_choice, takes_methods_with_compensated_sums_where_they_are_asked_for) {
  EXPECT_EQ(choose_key_method(on_cuda(), setup_of(1000, 1, true), 1000, at_random()).method, "sort_reduce");
}

TEST(key_choice, refuses_what_no_method_has) {
  auto here = on_cuda();
  here.methods = here.methods.first(6);
  EXPECT_EQ(error_of<argument_error>([&] { (void)choose_key_method(here, setup_of(9, 1, true), 9, at_random()); }),
            "no method of reduction by key for keys in any order has compensated sums of the level none here");
  here.level = determinism::canonical;
  EXPECT_EQ(
      error_of<argument_error>([&] { (void)choose_key_method(here, setup_of(9), 9, at_random()); }),
      "no method of reduction by key for keys in any order has sums of the level canonical here; ask for run_to_run");
}

TEST(key_choice, leaves_out_what_memory_has_no_room_for) {
  auto here = on_cpu(8);
  EXPECT_EQ(choose_key_method(here, setup_of(1000), ten_million, at_random()).method, "private_tables");
  here.free_bytes = 60'000;
  EXPECT_EQ(choose_key_method(here, setup_of(1000), ten_million, at_random()).method, "atomic");
  here.level = determinism::canonical;
  EXPECT_EQ(choose_key_method(here, setup_of(1000), ten_million, at_random()).method, "sort_reduce");
}

TEST(key_choice, cpus_with_many_keys_and_threads_do_without_private_tables) {
  EXPECT_NE(choose_key_method(on_cpu(64), setup_of(2'000'000'000), 100'000, at_random()).method, "private_tables");
  EXPECT_EQ(choose_key_method(on_cpu(64), setup_of(100), ten_million, few_keys()).method, "private_tables");
}

TEST(key_choice, preparation_is_shared_out_among_uses) {
  auto here = on_cpu(8, determinism::run_to_run);
  const auto once = choose_key_method(here, setup_of(100'000'000), ten_million, at_random());
  EXPECT_EQ(once.method, "private_tables");
  EXPECT_EQ(choose_key_method(here, setup_of(100'000'000, 1000), ten_million, at_random()).method, "sort_reduce");
}

/// No times: those of another machine would be wrong by any factor.
TEST(key_choice, says_what_was_seen_and_how_the_best_two_compare) {
  const auto choice = choose_key_method(on_cuda(), setup_of(1'000'000, 3), ten_million, in_order());
  for (const char* part : {"of 4096 elements sampled 90 %", "4.1 keys in 32", "530 in 4096",
                           "for 3 uses runs is expected to take least", " times as long"}) {
    EXPECT_NE(choice.reason.find(part), std::string::npos) << choice.reason;
  }
  EXPECT_EQ(choice.reason.find('\n'), std::string::npos);
  EXPECT_EQ(choice.reason.find(" ms"), std::string::npos) << choice.reason;
  EXPECT_EQ(choice.reason.find("commonest"), std::string::npos);
  const auto crowded = choose_key_method(on_cuda(), setup_of(1'000'000), ten_million, of_one_key());
  EXPECT_NE(crowded.reason.find("100 % have the commonest key"), std::string::npos) << crowded.reason;
  const auto nothing = choose_key_method(on_cuda(), setup_of(1'000'000), 0, key_sample{});
  EXPECT_NE(nothing.reason.find("no elements"), std::string::npos) << nothing.reason;
}

}  // namespace

}  // namespace quadrat::test
