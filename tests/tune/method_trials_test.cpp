// SPDX-License-Identifier: BSD-3-Clause
#include "tune/method_trials.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

// Trials of methods by the times of rounds that are made up, and may arrive late.

namespace quadrat::test {

namespace {

using detail::expected_time;
using detail::method_trials;
using detail::online_limits;

struct rounds_by_method {
  std::map<std::string_view, std::size_t> rounds;
  double total = 0;
  std::string_view last;
};

/// Takes rounds whose times arrive `late` rounds after them.
[[nodiscard]] rounds_by_method take_rounds(method_trials& trials, std::size_t count, std::size_t late,
                                           std::map<std::string_view, double> ms) {
  rounds_by_method result;
  std::deque<std::pair<std::size_t, std::string_view>> flying;
  for (std::size_t k = 0; k < count; ++k) {
    while (!flying.empty() && flying.front().first + late <= k) {
      trials.took(flying.front().second, ms.at(flying.front().second));
      flying.pop_front();
    }
    const auto [method, timed] = trials.next();
    if (timed) flying.emplace_back(k, method);
    ++result.rounds[method];
    result.total += ms.at(method);
    result.last = method;
  }
  // So that none is in flight for the next.
  for (const auto& [begun, method] : flying) trials.took(method, ms.at(method));
  return result;
}

const std::vector<expected_time> three{{"a", 1}, {"b", 1.5}, {"c", 2.5}};

TEST(method_trials, finds_the_fastest_of_those_that_may_be) {
  for (const std::size_t late : {0u, 1u, 7u, 40u, 300u}) {
    method_trials trials;
    trials.begin(three, "a");
    const auto result = take_rounds(trials, 6000, late, {{"a", 1}, {"b", 1.2}, {"c", 0.5}});
    EXPECT_EQ(trials.kept(), "c") << late;
    EXPECT_EQ(result.last, "c") << late;
    EXPECT_EQ(trials.changes().size(), 1u);
    EXPECT_NE(trials.changes()[0].find("a -> c"), std::string::npos);
    EXPECT_NE(trials.changes()[0].find("round"), std::string::npos);
  }
}

TEST(method_trials, lose_little_where_the_first_is_the_fastest) {
  for (const std::size_t late : {0u, 7u, 300u}) {
    method_trials trials;
    trials.begin(three, "a");
    const auto result = take_rounds(trials, 5000, late, {{"a", 1}, {"b", 1.5}, {"c", 2.5}});
    EXPECT_EQ(trials.kept(), "a");
    EXPECT_GT(result.rounds.at("b"), 0u);
    EXPECT_GT(result.rounds.at("c"), 0u);
    EXPECT_LT(result.total, 1.025 * 5000) << late;
  }
}

TEST(method_trials, a_trial_has_ten_rounds_however_late_times_are) {
  method_trials trials;
  trials.begin({{"a", 1}, {"b", 1}}, "a");
  const auto result = take_rounds(trials, 2000, 500, {{"a", 1}, {"b", 100}});
  EXPECT_EQ(result.rounds.at("b"), online_limits().steps_of_trial());
}

TEST(method_trials, what_is_far_slower_than_expected_costs_ten_rounds_once_in_long) {
  method_trials trials;
  trials.begin({{"a", 1}, {"b", 1}}, "a");
  const auto result = take_rounds(trials, 20000, 0, {{"a", 1}, {"b", 20}});
  EXPECT_LE(result.rounds.at("b"), 3 * online_limits().steps_of_trial());
}

TEST(method_trials, what_is_expected_to_take_three_times_as_long_is_never_tried_unless_the_present_one_takes_longer) {
  method_trials trials;
  trials.begin({{"a", 1}, {"b", 3.1}}, "a");
  const auto result = take_rounds(trials, 20000, 0, {{"a", 1}, {"b", 0.1}});
  EXPECT_EQ(result.rounds.count("b"), 0u);
  trials.begin({{"a", 1}, {"b", 3.1}}, "a");
  EXPECT_GT(take_rounds(trials, 20000, 0, {{"a", 4}, {"b", 0.1}}).rounds.at("b"), 10000u);
}

TEST(method_trials, do_not_run_where_there_is_one_method_or_the_chosen_one_is_not_among_them) {
  method_trials trials;
  trials.begin({{"a", 1}}, "a");
  EXPECT_FALSE(trials.running());
  trials.begin(three, "d");
  EXPECT_FALSE(trials.running());
}

TEST(method_trials, what_cannot_be_had_is_not_tried_again) {
  method_trials trials;
  trials.begin({{"a", 1}, {"b", 1}}, "a");
  std::size_t refused = 0;
  for (std::size_t k = 0; k < 5000; ++k) {
    auto round = trials.next();
    if (round.method == "b") {
      ++refused;
      if (round.timed) trials.dropped("b");
      trials.refuse("b");
      round = trials.next();
    }
    EXPECT_EQ(round.method, "a");
    if (round.timed) trials.took("a", 1);
  }
  EXPECT_EQ(refused, 1u);
}

TEST(method_trials, rounds_without_a_time_delay_a_trial_and_do_not_end_it) {
  method_trials trials;
  trials.begin({{"a", 1}, {"b", 1}}, "a");
  for (std::size_t k = 0; k < 3000; ++k) {
    const auto round = trials.next();
    if (!round.timed) continue;
    if (k % 3 == 0) {
      trials.dropped(round.method);
    } else {
      trials.took(round.method, round.method == "a" ? 1 : 0.7);
    }
  }
  EXPECT_EQ(trials.kept(), "b");
}

TEST(method_trials, begin_anew_for_another_load) {
  method_trials trials;
  trials.begin({{"a", 1}, {"b", 1}}, "a");
  static_cast<void>(take_rounds(trials, 1000, 0, {{"a", 1}, {"b", 0.5}}));
  EXPECT_EQ(trials.kept(), "b");
  trials.begin({{"a", 1}, {"b", 1}}, "a");
  EXPECT_EQ(trials.kept(), "a");
  EXPECT_TRUE(trials.changes().empty());
}

}  // namespace

}  // namespace quadrat::test
