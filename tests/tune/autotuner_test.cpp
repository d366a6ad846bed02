// SPDX-License-Identifier: BSD-3-Clause
#include "tune/autotuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <vector>

// The autotuner on a device whose time is made up.

namespace quadrat::test {

namespace {

struct made_up_device {
  double* now_ms;
  bool* capturing;

  void synchronize() const {}
};
[[nodiscard]] bool is_capturing(const made_up_device& device) { return *device.capturing; }

}  // namespace

}  // namespace quadrat::test

namespace quadrat::detail {

template <>
class step_clock<test::made_up_device> {
 public:
  step_clock(const test::made_up_device& /*device*/, std::size_t /*pieces*/) {}
  void start(const test::made_up_device& device) { begin_ = *device.now_ms; }
  void stop(const test::made_up_device& device) { ms_ = *device.now_ms - begin_; }
  [[nodiscard]] double milliseconds(std::size_t /*k*/) const { return ms_; }

 private:
  double begin_ = 0, ms_ = 0;
};

}  // namespace quadrat::detail

namespace quadrat::test {

namespace {

using detail::autotuner;
using times = std::map<std::string_view, double>;

/// Turns of one load, whose time is that of the method times the load.
struct object {
  autotuner tuner;
  double now_ms = 0;
  bool capturing = false;
  std::vector<std::string_view> used = {};

  void turn(const times& of_methods, double load = 1, int uses = 0, const times& of_uses = {}) {
    const made_up_device device{&now_ms, &capturing};
    tuner.turn(device, load, [&](std::string_view method) {
      used.push_back(method);
      now_ms += load * of_methods.at(method);
    });
    for (int k = 0; k < uses; ++k) tuner.use(device, [&] { now_ms += load * of_uses.at(tuner.method()); });
  }
  void turns(int count, const times& of_methods, double load = 1, int uses = 0, const times& of_uses = {}) {
    for (int k = 0; k < count; ++k) turn(of_methods, load, uses, of_uses);
  }
  [[nodiscard]] std::size_t times_used(std::string_view method) const {
    return static_cast<std::size_t>(std::ranges::count(used, method));
  }
};

constexpr int enough = 4 * autotuner::repetitions + 1;

TEST(autotuner, settles_on_the_fastest_after_a_few_turns_of_each) {
  for (const std::string_view fastest : {"a", "b", "c"}) {
    object one;
    one.tuner.begin(std::vector<detail::expected_time>{{"a", 1}, {"b", 1.1}, {"c", 1.9}}, 1);
    times took{{"a", 1}, {"b", 1}, {"c", 1}};
    took[fastest] = 0.9;
    one.turns(3 * autotuner::repetitions, took);
    EXPECT_TRUE(one.tuner.tuning());
    one.turns(100, took);
    EXPECT_FALSE(one.tuner.tuning());
    EXPECT_EQ(one.tuner.method(), fastest);
    EXPECT_EQ(one.used.back(), fastest);
    EXPECT_EQ(one.times_used(fastest), 100 + autotuner::repetitions);
    ASSERT_EQ(one.tuner.changes().size(), 1u);
    EXPECT_NE(one.tuner.changes()[0].find(std::string(fastest) + " of"), std::string::npos) << one.tuner.changes()[0];
  }
}

TEST(autotuner, the_first_turn_of_a_candidate_may_allocate) {
  object one;
  one.tuner.begin(std::vector<detail::expected_time>{{"a", 1}, {"b", 1}}, 1);
  for (const std::string_view method : {"a", "b"}) {
    one.turn({{method, 50}});
    one.turns(autotuner::repetitions - 1, {{method, method == "a" ? 1 : 0.5}});
  }
  one.turn({{"b", 0.5}});
  EXPECT_EQ(one.tuner.method(), "b");
}

TEST(autotuner, ties_go_to_what_is_expected_to_be_faster) {
  object one;
  one.tuner.begin(std::vector<detail::expected_time>{{"b", 1}, {"a", 1}}, 1);
  one.turns(enough, {{"a", 1}, {"b", 1}});
  EXPECT_EQ(one.tuner.method(), "b");
}

TEST(autotuner, tries_only_what_may_be_faster) {
  object one;
  one.tuner.begin(std::vector<detail::expected_time>{{"a", 1}, {"b", 1.5}, {"c", 2.1}, {"d", INFINITY}}, 1);
  one.turns(enough, {{"a", 1}, {"b", 9}});
  EXPECT_EQ(one.tuner.method(), "a");
  EXPECT_EQ(one.times_used("b"), 2u) << "a far slower one is left early";
  std::vector<detail::expected_time> many;
  for (const std::string_view name : {"a", "b", "c", "d", "e", "f"}) many.push_back({name, 1});
  one.tuner.begin(many, 1);
  one.turns(enough, {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}});
  EXPECT_FALSE(one.tuner.tuning());
}

TEST(autotuner, one_candidate_or_none_that_is_finite_is_used_without_being_timed) {
  for (const double expected : {1.0, double{INFINITY}}) {
    object one;
    one.tuner.begin(std::vector<detail::expected_time>{{"a", expected}, {"b", INFINITY}}, 1);
    EXPECT_TRUE(one.tuner.active());
    EXPECT_FALSE(one.tuner.tuning());
    one.turns(20, {{"a", 1}});
    EXPECT_TRUE(one.tuner.changes().empty());
  }
}

TEST(autotuner, is_inactive_until_it_begins_and_passes_uses_on) {
  object one;
  EXPECT_FALSE(one.tuner.active());
  EXPECT_FALSE(one.tuner.covers(0));
  int calls = 0;
  one.tuner.use(made_up_device{&one.now_ms, &one.capturing}, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(autotuner, counts_a_turn_with_as_many_uses_as_are_expected) {
  // b takes longer to set and less to use; with two uses it pays off, whatever their number in a turn.
  const times set{{"a", 1}, {"b", 2}}, use{{"a", 2}, {"b", 1}};
  for (const double uses : {0.5, 2.0}) {
    object one;
    one.tuner.begin(std::vector<detail::expected_time>{{"a", 1}, {"b", 1}}, 1, uses);
    for (int k = 0; k < 40; ++k) one.turn(set, 1, k % 4, use);
    EXPECT_FALSE(one.tuner.tuning());
    EXPECT_EQ(one.tuner.method(), uses > 1 ? "b" : "a");
  }
}

TEST(autotuner, compares_turns_of_different_loads) {
  object one;
  one.tuner.begin(std::vector<detail::expected_time>{{"a", 1}, {"b", 1}}, 10);
  for (int k = 0; k < 40; ++k) one.turn({{"a", 1}, {"b", 0.9}}, k % 2 == 0 ? 15 : 8);
  EXPECT_EQ(one.tuner.method(), "b");
}

TEST(autotuner, does_not_cover_another_load_and_begins_anew_for_it) {
  object one;
  const std::vector<detail::expected_time> expected{{"a", 1}, {"b", 1}};
  one.tuner.begin(expected, 100);
  one.turns(enough, {{"a", 1}, {"b", 2}}, 100);
  for (const double load : {0.0, 50.0, 100.0, 200.0}) EXPECT_TRUE(one.tuner.covers(load)) << load;
  for (const double load : {49.0, 201.0}) EXPECT_FALSE(one.tuner.covers(load)) << load;
  one.tuner.begin(expected, 300);
  EXPECT_TRUE(one.tuner.tuning());
  one.turns(enough, {{"a", 2}, {"b", 1}}, 300);
  EXPECT_EQ(one.tuner.method(), "b");
  EXPECT_EQ(one.tuner.changes().size(), 2u);
}

TEST(autotuner, empty_turns_are_not_timed) {
  object one;
  one.tuner.begin(std::vector<detail::expected_time>{{"a", 1}, {"b", 1}}, 10);
  one.turns(2, {{"a", 1}}, 0);
  one.turns(autotuner::repetitions, {{"a", 1}}, 10);
  one.turns(autotuner::repetitions + 1, {{"a", 1}, {"b", 0.5}}, 10);
  EXPECT_EQ(one.tuner.method(), "b");
}

TEST(autotuner, a_capture_ends_it_with_the_method_in_use) {
  const std::vector<detail::expected_time> expected{{"a", 1}, {"b", 1}};
  for (const bool in_a_use : {false, true}) {
    object one;
    one.tuner.begin(expected, 1);
    one.turns(autotuner::repetitions + 1, {{"a", 1}, {"b", 1}});
    ASSERT_EQ(one.tuner.method(), "b");
    one.capturing = true;
    if (in_a_use) one.tuner.use(made_up_device{&one.now_ms, &one.capturing}, [] {});
    if (!in_a_use) one.turn({{"b", 1}});
    EXPECT_FALSE(one.tuner.active());
    EXPECT_EQ(one.used.back(), "b");
  }
}

TEST(autotuner, goes_on_with_another_candidate_where_one_cannot_be_had) {
  object one;
  const made_up_device device{&one.now_ms, &one.capturing};
  one.tuner.begin(std::vector<detail::expected_time>{{"a", 1}, {"b", 1}, {"c", 1}}, 1);
  int done = 0;
  for (int k = 0; k < enough; ++k) {
    one.tuner.turn(device, 1, [&](std::string_view method) {
      one.now_ms += 1;
      if (method == "b") throw std::bad_alloc();
      if (method == "c") throw argument_error("too much");
      ++done;
    });
  }
  EXPECT_EQ(done, enough);
  EXPECT_EQ(one.tuner.method(), "a");
  EXPECT_FALSE(one.tuner.tuning());
}

TEST(autotuner, what_the_first_method_throws_is_an_error_and_so_is_bad_data) {
  object one;
  const made_up_device device{&one.now_ms, &one.capturing};
  one.tuner.begin(std::vector<detail::expected_time>{{"a", 1}, {"b", 1}}, 1);
  EXPECT_THROW(one.tuner.turn(device, 1, [](std::string_view) { throw std::bad_alloc(); }), std::bad_alloc);
  for (int k = 0; k < 3 * autotuner::repetitions; ++k) {
    EXPECT_THROW(one.tuner.turn(device, 1, [](std::string_view) { throw data_error("bad", 0); }), data_error);
  }
  // Turns that fail are not counted, and do not keep a candidate for ever.
  one.turn({{"b", 1}});
  EXPECT_EQ(one.tuner.method(), "b");
}

TEST(autotuner, is_refused_where_runs_must_be_repeatable) {
  EXPECT_NO_THROW(detail::require_autotune(true, determinism::none));
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    EXPECT_NO_THROW(detail::require_autotune(false, level));
    try {
      detail::require_autotune(true, level);
      FAIL() << "accepted";
    } catch (const argument_error& problem) {
      const std::string text = problem.what();
      EXPECT_NE(text.find("set autotune to false, or the determinism to none"), std::string::npos) << text;
    }
  }
}

}  // namespace

}  // namespace quadrat::test
