// SPDX-License-Identifier: BSD-3-Clause
#include "core/method_choice.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/method_list.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

struct method_request {
  double count;
  bool sorted;
};

struct steady_method {
  static constexpr std::string_view name = "steady", summary = "as long for any count";
  static constexpr bool on_cpu = true, on_cuda = true;
  static constexpr determinism reproducible = determinism::run_to_run;
  static double cost(const method_request&) { return 10; }
};
struct linear_method {
  static constexpr std::string_view name = "linear", summary = "a millisecond each";
  static constexpr bool on_cpu = true, on_cuda = false;
  static constexpr determinism reproducible = determinism::none;
  static double cost(const method_request& request) { return request.count; }
};
struct sorted_method {
  static constexpr std::string_view name = "sorted", summary = "only for what is sorted";
  static constexpr bool on_cpu = true, on_cuda = true;
  static constexpr determinism reproducible = determinism::canonical;
  static bool serves(const method_request& request) { return request.sorted; }
  static double cost(const method_request&) { return 1; }
};
struct racing_method {
  static constexpr std::string_view name = "racing", summary = "wrong and quick";
  static constexpr bool on_cpu = true, on_cuda = true, wrong_results = true;
  static constexpr determinism reproducible = determinism::canonical;
  static double cost(const method_request&) { return 0; }
};
struct absent_method {
  static constexpr std::string_view name = "absent", summary = "needs what the machine lacks";
  static constexpr bool on_cpu = false, on_cuda = true;
  static constexpr determinism reproducible = determinism::canonical;
  static bool present() { return false; }
  static double cost(const method_request&) { return 0; }
};
struct avoided_method {
  static constexpr std::string_view name = "avoided", summary = "takes too much memory";
  static constexpr bool on_cpu = true, on_cuda = false;
  static constexpr determinism reproducible = determinism::canonical;
  static double cost(const method_request&) { return std::numeric_limits<double>::infinity(); }
};
struct plain_method {
  static constexpr std::string_view name = "plain", summary = "never chosen";
  static constexpr bool on_cpu = true, on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
};
using test_methods = method_list<steady_method, linear_method, sorted_method, racing_method, absent_method,
                                 avoided_method, plain_method>;
static_assert(test_methods::index_of<linear_method> == 1 && test_methods::index_of<plain_method> == 6);
static_assert(test_methods::index_of<int> == test_methods::size);

[[nodiscard]] std::vector<std::string_view> names_in_order(const detail::method_demand& demand,
                                                           const method_request& request) {
  std::vector<std::string_view> names;
  for (const detail::expected_time& time : detail::expected_times<test_methods>(demand, request))
    names.push_back(time.method);
  return names;
}

[[nodiscard]] std::string refusal(const detail::method_demand& demand, std::string_view name) {
  return error_of<argument_error>([&] { detail::require_method<test_methods>(demand, name); });
}

using names = std::vector<std::string_view>;

TEST(method_choice, the_quickest_that_serves_comes_first) {
  EXPECT_EQ(names_in_order({"method", false}, {3, false}), (names{"linear", "steady", "avoided"}));
  EXPECT_EQ(names_in_order({"method", false}, {30, false}), (names{"steady", "linear", "avoided"}));
  EXPECT_EQ(names_in_order({"method", false}, {30, true}), (names{"sorted", "steady", "linear", "avoided"}));
}

TEST(method_choice, what_had_better_not_be_chosen_comes_last) {
  EXPECT_EQ(names_in_order({"method", false, determinism::canonical}, {3, false}), (names{"avoided"}));
}

TEST(method_choice, the_comparison_names_the_best_two_without_times) {
  EXPECT_EQ(detail::comparison({{"a", 2}, {"b", 24.9}, {"c", 30}}, 5),
            "for 5 uses a is expected to take least, b 12 times as long");
  EXPECT_EQ(detail::comparison({{"a", 2}}, 1), "for 1 use a is expected to take least");
  EXPECT_EQ(detail::comparison({{"a", 2}, {"b", std::numeric_limits<double>::infinity()}}, 1),
            "for 1 use a is expected to take least");
}

TEST(method_choice, methods_that_are_alike_keep_the_order_of_the_list) {
  EXPECT_EQ(names_in_order({"method", false}, {10, false}), (names{"steady", "linear", "avoided"}));
}

TEST(method_choice, backend_and_level_of_determinism_are_met) {
  EXPECT_EQ(names_in_order({"method", true}, {3, false}), (names{"steady"}));
  EXPECT_EQ(names_in_order({"method", false, determinism::run_to_run}, {3, false}), (names{"steady", "avoided"}));
  EXPECT_EQ(names_in_order({"method", false, determinism::canonical}, {3, true}), (names{"sorted", "avoided"}));
  EXPECT_EQ(names_in_order({"method", true, determinism::canonical}, {3, false}), names{});
}

TEST(method_choice, a_record_that_does_not_say_what_it_serves_serves_everything) {
  EXPECT_TRUE(detail::does_serve<plain_method>(method_request{3, false}));
  EXPECT_TRUE(detail::does_serve<sorted_method>(method_request{3, true}));
  EXPECT_FALSE(detail::does_serve<sorted_method>(method_request{3, false}));
}

TEST(require_method, takes_what_meets_the_demand) {
  EXPECT_NO_THROW(detail::require_method<test_methods>({"method", false}, "linear"));
  EXPECT_NO_THROW(detail::require_method<test_methods>({"method", true, determinism::canonical}, "sorted"));
  EXPECT_NO_THROW(detail::require_method<test_methods>({"method", false}, "racing"));
}

TEST(require_method, says_what_is_there_where_the_name_is_unknown) {
  const std::string text = refusal({"method", true, determinism::none, true}, "steddy");
  expect_words(text, {"unknown method \"steddy\"", "nearest first: steady", "sorted", "plain", "auto"});
  EXPECT_EQ(text.find("linear"), std::string::npos);  // runs on the CPU only
  EXPECT_EQ(text.find("racing"), std::string::npos);
  EXPECT_EQ(text.find("absent"), std::string::npos);
}

TEST(require_method, says_which_methods_run_on_the_backend) {
  expect_words(refusal({"method", true}, "linear"),
               {"the method linear does not run on CUDA", "these do: steady, sorted, plain"});
  expect_words(refusal({"method", true}, "absent"), {"the method absent does not run on CUDA"});
}

TEST(require_method, says_which_methods_reach_the_level) {
  expect_words(refusal({"method", false, determinism::run_to_run}, "linear"),
               {"not reproducible at the level run_to_run", "these are: steady, sorted, avoided"});
  expect_words(refusal({"method", true, determinism::canonical}, "steady"),
               {"the level canonical", "these are: sorted"});
}

}  // namespace

}  // namespace quadrat::test
