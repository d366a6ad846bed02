// SPDX-License-Identifier: BSD-3-Clause
#include "tune/online_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

// The choice that is looked at again in the course of a run, over runs whose times are made up.

namespace quadrat::test {

namespace {

using detail::online_choice;

constexpr double no_way = std::numeric_limits<double>::infinity();

/// Milliseconds of a step by way k at a step.
using made_up_times = std::function<double(std::size_t k, std::uint64_t at)>;

struct run_of_choice {
  double total_ms = 0;
  std::uint64_t switches = 0;         ///< there and back
  std::vector<std::uint64_t> trials;  ///< at which steps another way was taken up
  std::vector<std::uint64_t> steps_by_way;
};

/// `a_change` is what going over to another way takes, in steps.
[[nodiscard]] run_of_choice run_made_up(online_choice& choice, std::size_t ways, std::uint64_t steps,
                                        const made_up_times& times, double a_change = 1, std::uint64_t begin = 0) {
  run_of_choice result;
  result.steps_by_way.resize(ways);
  double change_ms = 0;
  for (std::uint64_t at = begin; at < begin + steps;) {
    const std::uint64_t count = std::min(choice.piece(at), begin + steps - at);
    EXPECT_GE(count, 1u);
    double ms = change_ms;
    for (std::uint64_t k = 0; k < count; ++k) ms += times(choice.current(), at + k);
    result.steps_by_way[choice.current()] += count;
    at += count;
    result.total_ms += ms;
    const std::size_t before = choice.current();
    const bool other = choice.took(at, count, ms, [] { return std::vector<double>(); });
    EXPECT_EQ(other, before != choice.current());
    change_ms = other ? a_change * times(choice.current(), at) : 0;
    if (!other) continue;
    ++result.switches;
    if (choice.name() != choice.name_to_keep()) result.trials.push_back(at);
  }
  return result;
}

TEST(online_choice, begins_with_what_is_expected_to_take_least) {
  const online_choice choice({"a", "b", "c"}, {2, 1, 3}, true);
  EXPECT_EQ(choice.name(), "b");
}

TEST(online_choice, finds_a_faster_way_and_keeps_it) {
  online_choice choice({"a", "b"}, {1, 1.1}, true);
  const auto result = run_made_up(choice, 2, 4000, [](std::size_t k, std::uint64_t) { return k == 0 ? 1.0 : 0.8; });
  EXPECT_EQ(choice.name_to_keep(), "b");
  EXPECT_GT(result.steps_by_way[1], 3500u);
}

TEST(online_choice, total_is_within_3_percent_of_the_best_fixed_way) {
  // Others are slower, by a little or by half, and going over takes a step or two.
  for (const double slower : {1.0, 1.02, 1.1, 1.45}) {
    for (const double change : {0.5, 1.0, 2.0}) {
      online_choice choice({"a", "b", "c"}, {1, slower, slower}, true);
      const auto times = [&](std::size_t k, std::uint64_t) { return k == 0 ? 1.0 : slower; };
      const auto result = run_made_up(choice, 3, 3000, times, change);
      EXPECT_EQ(choice.name_to_keep(), "a");
      EXPECT_LT(result.total_ms, 1.03 * 3000) << slower << ", " << change;
      EXPECT_GT(result.steps_by_way[1], 0u) << "every way that may be good is tried";
      EXPECT_GT(result.steps_by_way[2], 0u);
    }
  }
}

TEST(online_choice, one_trial_in_a_hundred_steps_at_most) {
  online_choice choice({"a", "b"}, {1, 1}, true);
  // Each is the faster one for the length of a trial, and slower as soon as it is kept.
  std::uint64_t state = 1;
  const auto result = run_made_up(choice, 2, 20000, [&](std::size_t, std::uint64_t) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 1 + static_cast<double>(state >> 40) / 0x1p24;
  });
  ASSERT_GT(result.trials.size(), 2u);
  for (std::size_t k = 1; k < result.trials.size(); ++k) {
    EXPECT_GE(result.trials[k] - result.trials[k - 1], online_choice::rest);
  }
}

TEST(online_choice, follows_a_run_in_which_another_way_becomes_the_best) {
  online_choice choice({"a", "b"}, {1, 1.2}, true);
  const auto times = [](std::size_t k, std::uint64_t at) {
    const double late = std::min(1.0, static_cast<double>(at) / 3000);
    return k == 0 ? 1 + 0.8 * late : 1.4 - 0.4 * late;
  };
  const auto result = run_made_up(choice, 2, 6000, times);
  double fixed[2] = {0, 0}, best = 0;
  for (std::uint64_t at = 0; at < 6000; ++at) {
    for (std::size_t k = 0; k < 2; ++k) fixed[k] += times(k, at);
    best += std::min(times(0, at), times(1, at));
  }
  EXPECT_EQ(choice.name_to_keep(), "b");
  EXPECT_LT(result.total_ms, std::min(fixed[0], fixed[1]));
  EXPECT_LT(result.total_ms, 1.05 * best);
}

TEST(online_choice, a_way_kept_by_an_interrupted_measurement_is_left_again) {
  online_choice choice({"a", "b"}, {1, 1}, true);
  bool interrupted = false;
  const auto times = [&](std::size_t k, std::uint64_t at) {
    if (k == 0 && at < 260) interrupted = true;
    return k == 0 ? (at < 260 ? 2.0 : 1.0) : 1.3;
  };
  const auto result = run_made_up(choice, 2, 5000, times);
  EXPECT_TRUE(interrupted);
  EXPECT_EQ(choice.name_to_keep(), "a");
  EXPECT_LT(result.total_ms, 1.15 * 5000);
}

TEST(online_choice, ways_expected_to_take_far_longer_or_impossible_are_not_tried) {
  online_choice choice({"a", "b", "c"}, {1, 1.6, no_way}, true);
  const auto result = run_made_up(choice, 3, 5000, [](std::size_t k, std::uint64_t) { return k == 0 ? 1.0 : 0.1; });
  EXPECT_EQ(result.switches, 0u);
  EXPECT_EQ(choice.explain("x", "p").candidates.back().method, "c");
}

TEST(online_choice, a_way_that_takes_far_longer_than_expected_is_left_for_one_that_was_not_worth_trying) {
  online_choice choice({"a", "b"}, {1, 4}, true);
  const auto result = run_made_up(choice, 2, 5000, [](std::size_t k, std::uint64_t) { return k == 0 ? 30.0 : 4.0; });
  // Not before a trial that took four times as long would lose little of the run.
  EXPECT_EQ(choice.name_to_keep(), "b");
  EXPECT_LT(result.total_ms, 0.5 * 30 * 5000);
}

TEST(online_choice, a_way_without_memory_is_refused_for_good) {
  online_choice choice({"a", "b"}, {1, 1}, true);
  std::uint64_t at = 0;
  while (choice.name() == "a" && at < 10000) {
    const std::uint64_t count = choice.piece(at);
    at += count;
    static_cast<void>(choice.took(at, count, static_cast<double>(count), nullptr));
  }
  ASSERT_EQ(choice.name(), "b");
  choice.refuse();
  EXPECT_EQ(choice.name(), "a");
  const auto result = run_made_up(
      choice, 2, 10000, [](std::size_t, std::uint64_t) { return 1.0; }, 1, at);
  EXPECT_EQ(result.steps_by_way[1], 0u);
}

TEST(online_choice, without_times_only_the_profile_counts_at_fixed_steps) {
  const auto of = [](std::uint64_t at) { return std::vector<double>{1.0, at < 1000 ? 0.95 : 0.8}; };
  for (const std::uint64_t most : {std::uint64_t{7}, std::uint64_t{100}, std::uint64_t{100000}}) {
    online_choice choice({"a", "b"}, {1, 2}, false);
    std::uint64_t changed = 0;
    for (std::uint64_t at = 0; at < 3000;) {
      const std::uint64_t count = std::min(choice.piece(at), most);
      at += count;
      // Times that would speak for another choice.
      const bool other = choice.took(at, count, choice.current() == 0 ? 1e-9 : 1e9, [&] { return of(at); });
      if (other) changed = at;
    }
    EXPECT_EQ(changed, 1024u) << most;
    EXPECT_EQ(choice.name_to_keep(), "b");
    ASSERT_EQ(choice.explain("x", "p").changes.size(), 1u);
    EXPECT_NE(choice.explain("x", "p").changes[0].find("step 1024: a -> b"), std::string::npos);
  }
}

TEST(online_choice, takes_a_way_by_name) {
  online_choice choice({"a", "b"}, {1, 2}, true);
  EXPECT_FALSE(choice.take("c"));
  EXPECT_EQ(choice.name(), "a");
  EXPECT_TRUE(choice.take("b"));
  EXPECT_EQ(choice.name_to_keep(), "b");
}

}  // namespace

}  // namespace quadrat::test
