// SPDX-License-Identifier: BSD-3-Clause
#include "models/late_times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <vector>

// Ways whose times arrive late, over a made-up device: a queue that the host fills and does not wait for.

namespace quadrat::test {

namespace {

struct made_up_device {
  double* host_ms;   ///< the host's clock
  double* queue_ms;  ///< when all that is enqueued will have ended
};

}  // namespace

}  // namespace quadrat::test

namespace quadrat::detail {

template <>
class work_marks<test::made_up_device> {
 public:
  using mark = double;
  [[nodiscard]] mark set(const test::made_up_device& device) { return std::max(*device.queue_ms, *device.host_ms); }
  void forget(mark) {}
  [[nodiscard]] bool passed(const test::made_up_device& device, mark one) const { return one <= *device.host_ms; }
  [[nodiscard]] double milliseconds(mark begin, mark end) const { return end - begin; }
};

}  // namespace quadrat::detail

namespace quadrat::test {

namespace {

using detail::online_choice;

/// A model of two ways or more.
struct made_up_run {
  std::function<double(std::size_t way, std::uint64_t at)> step_ms;
  std::function<std::vector<double>()> expected = [] { return std::vector<double>{1, 1, 1}; };
  double change_ms = 0.1, making_ms = 0.5;
  std::size_t no_memory_for = ~std::size_t{0};  ///< way
  bool at_first_step = false;                   ///< that is where it lacks memory

  double host_ms = 0, queue_ms = 0, ideal_ms = 0, idle_ms = 0;
  std::size_t way = 0, looks = 0;
  std::uint64_t step = 0, enqueued = 0;
  std::vector<std::uint64_t> steps_by_way, trials;
  const online_choice* choice = nullptr;
  std::vector<bool> made;
  bool asked = false;
  double sampled_ms = 0;

  [[nodiscard]] made_up_device device() { return {&host_ms, &queue_ms}; }
  void work(double ms) { queue_ms = std::max(queue_ms, host_ms) + ms; }
  void change_way(std::size_t to) {
    if (to == way) return;
    if (to == no_memory_for && !at_first_step) throw std::bad_alloc();
    if (!made[to]) host_ms += making_ms;
    made[to] = true;
    if (to != choice->kept()) trials.push_back(enqueued);
    way = to;
    work(change_ms);
  }
  void leave_trial(std::size_t to) { way = to; }
  void enqueue(std::size_t steps) {
    if (way == no_memory_for) throw std::bad_alloc();
    host_ms += 0.005;
    for (std::size_t k = 0; k < steps; ++k) {
      work(step_ms(way, enqueued + k));
      ideal_ms += step_ms(0, enqueued + k);
    }
    steps_by_way[way] += steps;
    enqueued += steps;
  }
  void look() {
    ++looks;
    asked = true;
    work(0.02);
    sampled_ms = queue_ms;
  }
  [[nodiscard]] bool looking() const { return asked; }
  [[nodiscard]] std::vector<double> looked() {
    if (!asked || sampled_ms > host_ms) return {};
    asked = false;
    host_ms += 0.1;
    return expected();
  }

  /// Takes so many steps in calls of `a_call`; waits after each `calls_a_wait`.
  void go(online_choice& chosen, std::uint64_t steps, std::size_t a_call, int calls_a_wait) {
    choice = &chosen;
    steps_by_way.resize(8);
    made.resize(8);
    made[chosen.current()] = true;
    way = chosen.current();
    detail::late_times<made_up_device> times;
    int calls = 0;
    for (std::uint64_t done = 0; done < steps; done += a_call) {
      detail::advance_by_late_times(device(), chosen, times, *this, step, a_call);
      EXPECT_EQ(step, enqueued);
      if (++calls % calls_a_wait == 0) host_ms = std::max(host_ms, queue_ms);
    }
    host_ms = std::max(host_ms, queue_ms);
  }
};

[[nodiscard]] online_choice late_choice(const std::vector<double>& expected, double step_ms = 0.02) {
  const std::vector<std::string_view> names{"a", "b", "c"};
  return {{names.begin(), names.begin() + static_cast<std::ptrdiff_t>(expected.size())},
          expected,
          true,
          detail::late_limits(step_ms)};
}

TEST(late_times, find_a_faster_way_whether_calls_are_short_or_long_and_are_waited_for_or_not) {
  for (const std::size_t a_call : {1u, 10u, 16u, 50u, 100u, 333u, 5000u}) {
    for (const int calls_a_wait : {1, 7}) {
      online_choice choice = late_choice({1, 1.1}, calls_a_wait == 1 ? 0.02 : 0.2);
      made_up_run run;
      run.step_ms = [](std::size_t k, std::uint64_t) { return k == 0 ? 0.3 : 0.2; };
      run.go(choice, 200000, a_call, calls_a_wait);
      EXPECT_EQ(choice.name_to_keep(), "b") << a_call << ", " << calls_a_wait;
      // Times are known after the next wait, and there are six to wait for until the first trial has ended.
      EXPECT_GT(run.steps_by_way[1] + 7 * a_call * static_cast<std::size_t>(calls_a_wait), 194000u) << a_call;
    }
  }
}

TEST(late_times, lose_less_than_3_percent_where_the_first_way_stays_the_best) {
  for (const double step_ms : {0.02, 0.3}) {
    for (const double slower : {1.0, 1.1, 1.45}) {
      for (const std::size_t a_call : {1u, 50u, 100u, 1000u}) {
        online_choice choice = late_choice({1, slower, slower}, step_ms);
        made_up_run run;
        run.step_ms = [&](std::size_t k, std::uint64_t) { return step_ms * (k == 0 ? 1 : slower); };
        run.expected = [&] { return std::vector<double>{1, slower, slower}; };
        run.go(choice, 20000, a_call, 1);
        EXPECT_EQ(choice.name_to_keep(), "a");
        EXPECT_GT(run.steps_by_way[1] + run.steps_by_way[2], 0u) << step_ms << ", " << slower << ", " << a_call;
        // The host's calls are the same without trials.
        const double calls_ms = a_call == 1 ? 0.005 * 20000 : 0;
        EXPECT_LT(run.host_ms, 1.03 * run.ideal_ms + calls_ms + 2) << step_ms << ", " << slower << ", " << a_call;
      }
    }
  }
}

TEST(late_times, gain_where_the_best_way_changes) {
  // Grains on a GPU, thin and then at rest.
  const auto step_ms = [](std::size_t k, std::uint64_t at) {
    return at < 900 ? (k == 0 ? 0.10 : 0.16) : (k == 0 ? 0.25 : 0.20);
  };
  double fixed_ms[2] = {0, 0};
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::uint64_t at = 0; at < 2500; ++at) fixed_ms[k] += step_ms(k, at);
  }
  online_choice choice = late_choice({0.1, 0.16}, 0.1);
  made_up_run run;
  run.step_ms = step_ms;
  run.expected = [&] { return std::vector<double>{step_ms(0, run.enqueued), step_ms(1, run.enqueued)}; };
  run.go(choice, 2500, 100, 1);
  EXPECT_EQ(choice.name_to_keep(), "b");
  EXPECT_LT(run.host_ms, 0.95 * std::min(fixed_ms[0], fixed_ms[1]));
}

TEST(late_times, trials_begin_a_hundred_steps_apart_or_more) {
  for (const std::size_t a_call : {1u, 10u, 50u, 100u}) {
    online_choice choice = late_choice({1, 1, 1});
    made_up_run run;
    // So that a trial is due whenever it may be.
    run.step_ms = [](std::size_t, std::uint64_t at) { return at / 150 % 2 == 0 ? 1.0 : 1.5; };
    run.go(choice, 20000, a_call, 1);
    ASSERT_GT(run.trials.size(), 4u) << a_call;
    for (std::size_t k = 1; k < run.trials.size(); ++k) {
      EXPECT_GE(run.trials[k] - run.trials[k - 1], online_choice::rest) << a_call;
    }
  }
}

TEST(late_times, try_what_is_expected_for_the_load_that_there_is_then) {
  online_choice choice = late_choice({1, 1.1, 1.2});
  made_up_run run;
  run.expected = [] { return std::vector<double>{1, 9, 1.2}; };
  run.step_ms = [](std::size_t k, std::uint64_t) { return k == 1 ? 9.0 : (k == 0 ? 1 : 0.9); };
  run.go(choice, 5000, 100, 1);
  EXPECT_GT(run.looks, 0u);
  EXPECT_EQ(run.steps_by_way[1], 0u) << "it has become far slower than it was expected to be";
  EXPECT_EQ(choice.name_to_keep(), "c");
}

TEST(late_times, go_on_by_the_way_before_where_another_has_no_memory) {
  for (const bool at_first_step : {false, true}) {
    online_choice choice = late_choice({1, 1.1});
    made_up_run run;
    run.no_memory_for = 1;
    run.at_first_step = at_first_step;
    run.step_ms = [](std::size_t, std::uint64_t) { return 0.3; };
    run.go(choice, 5000, 100, 1);
    EXPECT_EQ(run.steps_by_way[0], 5000u);
    EXPECT_EQ(run.trials.size(), at_first_step ? 1u : 0u) << "it was tried again";
    EXPECT_NE(choice.explain("x", "p").text().find("memory"), std::string::npos);
  }
}

}  // namespace

}  // namespace quadrat::test
